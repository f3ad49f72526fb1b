// Makes a failing program smaller, step by step, as long as it fails.
#include <algorithm>
#include <cctype>
#include <set>

#include "check.hpp"
#include "noise.hpp"
#include "ops/collectives.hpp"
#include "ops/list.hpp"
#include <unisono/error.hpp>

namespace uni::random_programs {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

class Shrinker {
 public:
  explicit Shrinker(const Case& c) : case_(c) {}

  Case run() {
    without_calls();
    one_device();
    for (bool smaller = true; smaller && left_ > 0;) {
      smaller = fewer_outputs();
      smaller = fewer_equations() || smaller;
      smaller = smaller_sizes() || smaller;
    }
    return case_;
  }

 private:
  bool accept(Case c) {
    if (left_ == 0) return false;
    --left_;
    if (!finding(c)) return false;
    case_ = std::move(c);
    return true;
  }

  void without_calls() {
    Case c = case_;
    c.calls.clear();
    std::fill(c.donate.begin(), c.donate.end(), std::uint8_t{0});
    accept(std::move(c));
  }
  void one_device() {
    for (const ir::Eqn& e : case_.body.eqns)
      if (ops::is_collective(*e.op)) return;
    Case c = case_;
    c.mesh = Mesh({}, {0});
    for (Value& v : c.args) v.resize(1);
    std::fill(c.split.begin(), c.split.end(), false);
    accept(std::move(c));
  }
  bool fewer_outputs() {
    bool any = false;
    if (!case_.calls.empty()) return false;
    for (i64 k = static_cast<i64>(case_.body.outputs.size()) - 1; k >= 0 && case_.body.outputs.size() > 1; --k) {
      Case c = case_;
      c.body.outputs.erase(c.body.outputs.begin() + k);
      any = accept(cleaned(c)) || any;
    }
    return any;
  }
  // An equation's results become arguments.
  bool fewer_equations() {
    bool any = false;
    if (!case_.calls.empty()) return false;
    for (i64 k = static_cast<i64>(case_.body.eqns.size()) - 1; k >= 0; --k) {
      if (at(k) >= case_.body.eqns.size()) continue;
      const std::vector<Value> values = all_values(case_.body, case_.mesh, case_.args);
      if (const std::optional<Case> c = cut(at(k), values)) any = accept(cleaned(*c)) || any;
    }
    return any;
  }
  std::optional<Case> cut(std::size_t k, const std::vector<Value>& values) const {
    const ir::Eqn e = case_.body.eqns[k];
    Case c = case_;
    c.body.eqns.erase(c.body.eqns.begin() + static_cast<i64>(k));
    for (ir::Var v : e.out) {
      const Value& value = values[at(v)];
      const bool same = std::all_of(value.begin(), value.end(), [&](const Block& b) { return b == value[0]; });
      if (!same && value[0].shape.empty()) return {};
      // The result's number becomes that of the last input.
      const ir::Var input = c.body.inputs++;
      const auto moved = [&](ir::Var u) { return u == v ? input : u >= input && u < v ? u + 1 : u; };
      std::rotate(c.body.types.begin() + input, c.body.types.begin() + v, c.body.types.begin() + v + 1);
      for (ir::Eqn& other : c.body.eqns)
        for (std::vector<ir::Var>* vars : {&other.in, &other.out})
          for (ir::Var& u : *vars) u = moved(u);
      for (ir::Var& u : c.body.outputs) u = moved(u);
      c.args.push_back(value);
      c.split.push_back(!same);
      c.donate.push_back(0);
    }
    return c;
  }

  // Every number that is a size somewhere is replaced, wherever it stands in the text; what then is no program, or does
  // not fail, is dropped.
  bool smaller_sizes() {
    bool any = false;
    std::set<i64> sizes;
    for (const ir::Type& t : case_.body.types) sizes.insert(t.shape.begin(), t.shape.end());
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
      for (const i64 to : {i64{1}, *size / 2, *size - 1})
        if (to > 0 && to < *size)
          if (std::optional<Case> c = with_size(*size, to); c && accept(std::move(*c))) {
            any = true;
            break;
          }
    return any;
  }
  std::optional<Case> with_size(i64 from, i64 to) const {
    const std::string text = ir::print(case_.body), number = std::to_string(from);
    std::string changed;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.')) ++end;
      end = std::max(end, i + 1);
      const std::string token = text.substr(i, end - i);
      changed += token == number && (i == 0 || text[i - 1] != '%') ? std::to_string(to) : token;
      i = end;
    }
    Case c = case_;
    c.calls.clear();
    try {
      c.body = ir::parse(changed, ops::find_op);
      ir::verify(c.body);
    } catch (const std::exception&) {
      return {};
    }
    if (c.body.inputs != case_.body.inputs) return {};
    for (std::size_t i = 0; i < c.args.size(); ++i)
      for (Block& b : c.args[i]) b = cropped(b, c.body.types[i].shape);
    return c;
  }
  static Block cropped(const Block& from, const Dims& shape) {
    Block out(from.dtype, shape);
    for (i64 i = 0; i < out.count() && from.count() > 0; ++i) out.set(i, from.get(i % from.count()));
    return out;
  }

  Case case_;
  int left_ = 400;  // tries
};
}  // namespace

Case shrunk(const Case& c) { return Shrinker(c).run(); }

}  // namespace uni::random_programs
