#include "backend/codegen/register_loop.hpp"

#include <algorithm>

#include "backend/codegen/maps.hpp"
#include "backend/codegen/moves.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::codegen {

using base::cat;
using ir::Eqn;
using ir::Program;

namespace {
constexpr i64 most_bytes = 1024;    // of a value: 16 vectors
constexpr i64 most_vectors = 2000;  // made in a step

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

bool is_copy(const Eqn& e, const Program& p) {
  if (e.op == &ops::reshape || e.op == &ops::pvary) return true;
  return e.op == &ops::broadcast_in_dim && p.types[at(e.in[0])].count() == p.types[at(e.out[0])].count();
}
// One element for all of the result.
bool is_fill(const Eqn& e, const Program& p) {
  return e.op == &ops::broadcast_in_dim && p.types[at(e.in[0])].count() == 1;
}
bool is_reduction(const ir::Op* op) {
  return op == &ops::reduce_sum || op == &ops::reduce_prod || op == &ops::reduce_max || op == &ops::reduce_min ||
         op == &ops::reduce_and || op == &ops::reduce_or;
}

class Fit {
 public:
  explicit Fit(const FindCall& find) : find_(find) {}

  bool loop(const Eqn& e, const Program& around, bool outermost) {
    if (e.op == &ops::scan && !outermost) {
      const auto& p = e.params.as<ops::ScanParams>();
      if (p.body->inputs > p.consts + p.carry || static_cast<i64>(p.body->outputs.size()) > p.carry) return false;
    }
    if (!outermost && !operands_fit(e, around)) return false;
    for (const ir::ProgramPtr& p : e.params.programs())
      if (!program(*p)) return false;
    return true;
  }

 private:
  bool operands_fit(const Eqn& e, const Program& p) {
    for (ir::Var v : e.in)
      if (!fits(p.types[at(v)])) return false;
    return true;
  }
  static bool fits(const ir::Type& t) { return can_emit(t.dtype) && t.count() > 0 && t.bytes() <= most_bytes; }
  bool program(const Program& p) {
    for (const ir::Type& t : p.types)
      if (!fits(t)) return false;
    return std::all_of(p.eqns.begin(), p.eqns.end(), [&](const Eqn& e) { return equation(e, p); });
  }
  bool equation(const Eqn& e, const Program& p) {
    if (e.op == &ops::while_loop || e.op == &ops::scan || e.op == &ops::cond) return loop(e, p, false);
    if (e.out.size() != 1) return false;
    const ir::Type& out = p.types[at(e.out[0])];
    vectors_ += (out.bytes() + 63) / 64;
    if (vectors_ > most_vectors) return false;
    if (e.op == &ops::full || e.op == &ops::iota || is_copy(e, p)) return true;
    if (is_fill(e, p)) return true;
    if (is_move(e.op)) {
      vectors_ += 2 * out.count();
      return vectors_ <= most_vectors;
    }
    if (is_reduction(e.op)) return out.count() == 1;
    std::vector<Dtype> in;
    for (ir::Var v : e.in) {
      if (p.types[at(v)].shape != out.shape) return false;
      in.push_back(p.types[at(v)].dtype);
    }
    return !in.empty() && (can_emit(*e.op, e.params, in, out.dtype) || find_(e, p).run);
  }

  const FindCall& find_;
  i64 vectors_ = 0;
};

int choose_lanes(const Eqn& e, int lanes = 16) {
  for (const ir::ProgramPtr& p : e.params.programs()) {
    for (const ir::Type& t : p->types)
      if (itemsize(t.dtype) == 8) return 8;
    for (const Eqn& inner : p->eqns) lanes = std::min(lanes, choose_lanes(inner, lanes));
  }
  return lanes;
}

using Parts = std::vector<Val>;  // of one value: one scalar, or vectors of which the last may hold lanes beyond the end

class RegisterEmitter {
 public:
  RegisterEmitter(const Eqn& loop, const std::vector<bool>& once, const FindCall& find)
      : loop_(loop), once_(once), find_(find), lanes_(choose_lanes(loop)) {}

  KernelText run() {
    const std::size_t operands = loop_.in.size(), results = once_.size();
    std::string prologue;
    for (std::size_t a = 0; a < operands + results; ++a)
      prologue +=
          cat("  %q", a, " = getelementptr ptr, ptr %args, i64 ", a, "\n  %p", a, " = load ptr, ptr %q", a, "\n");
    const std::vector<Parts> carries = loop_.op == &ops::scan ? outer_scan() : outer_while();
    for (std::size_t i = 0; i < carries.size(); ++i)
      guarded(i, [&] { store(cat("%p", operands + i), carries[i], types_[i]); });
    KernelText out;
    out.text = cat("(ptr %args, i64 %r0, i64 %r1, i64 %c0, i64 %c1, i64 %chunk) #0 {\nentry:\n", w_.entry, prologue,
                   "  br label %start\nstart:\n", w_.body, "  ret void\n}\n");
    for (const std::string& d : w_.declarations) out.declarations += d + "\n";
    return out;
  }

 private:
  // ---- the loop itself: operands and results in memory
  std::vector<Parts> outer_while() {
    const auto& p = loop_.params.as<ops::WhileParams>();
    std::vector<Parts> in;
    for (i64 i = 0; i < static_cast<i64>(loop_.in.size()); ++i) {
      const bool of_cond = i < p.cond_consts;
      in.push_back(load(cat("%p", i), of_cond ? p.cond->types[at(i)] : p.body->types[at(i - p.cond_consts)]));
    }
    types_ = p.body->output_types();
    return while_loop(p, in);
  }
  std::vector<Parts> outer_scan() {
    const auto& p = loop_.params.as<ops::ScanParams>();
    const i64 known = p.consts + p.carry;
    std::vector<Parts> in;
    for (i64 i = 0; i < known; ++i) in.push_back(load(cat("%p", i), p.body->types[at(i)]));
    types_ = p.body->output_types();
    types_.resize(at(p.carry));
    return scan(p, in, "%r1", [&](const std::string& step, std::vector<Parts>& of_body) {
      const Val index = p.reverse ? number(p.length - 1) - named(step) : named(step);
      for (i64 x = known; x < p.body->inputs; ++x)
        of_body.push_back(load(slice(x, index, p.body->types[at(x)]), p.body->types[at(x)]));
      std::vector<Parts> out = program(*p.body, of_body);
      const ir::Types made = p.body->output_types();
      for (std::size_t y = at(p.carry); y < out.size(); ++y)
        guarded(y, [&] { store(slice(static_cast<i64>(loop_.in.size() + y), index, made[y]), out[y], made[y]); });
      out.resize(at(p.carry));
      return out;
    });
  }
  std::string slice(i64 argument, const Val& index, const ir::Type& t) {
    const Val offset = index * number(t.count());
    return w_
        .value(Kind::i64, 1, cat("getelementptr ", memory_type(t.dtype), ", ptr %p", argument, ", i64 ", offset.name))
        .name;
  }
  // Results that do not depend on the device are written by the first one.
  template <class Fn>
  void guarded(std::size_t result, const Fn& write_it) {
    if (!once_[result]) return write_it();
    const std::string yes = w_.label(), done = w_.label();
    w_.branch(compare("eq", named("%chunk"), number(0)), yes, done);
    w_.begin(yes);
    write_it();
    w_.jump(done);
    w_.begin(done);
  }

  // ---- control flow
  std::vector<Parts> while_loop(const ops::WhileParams& p, std::span<const Parts> in) {
    const std::span<const Parts> cond_consts = in.first(at(p.cond_consts));
    const std::span<const Parts> consts = in.subspan(at(p.cond_consts), at(p.body_consts));
    const std::vector<Slots> carries = keep_all(in.subspan(at(p.cond_consts + p.body_consts)));
    const std::string test = w_.label(), body = w_.label(), done = w_.label();
    w_.jump(test);
    w_.begin(test);
    const std::vector<Parts> now = kept(carries);
    w_.branch(program(*p.cond, joined(cond_consts, now))[0][0], body, done);
    w_.begin(body);
    keep(carries, program(*p.body, joined(consts, now)));
    w_.jump(test);
    w_.begin(done);
    return kept(carries);
  }
  // `step(index, inputs so far)` gives the next carries.
  template <class Step>
  std::vector<Parts> scan(const ops::ScanParams& p, std::span<const Parts> in, const std::string& end,
                          const Step& step) {
    const std::vector<Slots> carries = keep_all(in.subspan(at(p.consts), at(p.carry)));
    counted(w_, "0", end, 1, [&](const std::string& index) {
      std::vector<Parts> of_body = joined(in.first(at(p.consts)), kept(carries));
      keep(carries, step(index, of_body));
    });
    return kept(carries);
  }
  std::vector<Parts> cond(const ops::CondParams& p, std::span<const Parts> in) {
    std::vector<Slots> results;
    const std::string done = w_.label();
    for (std::size_t k = 0; k < p.branches.size(); ++k) {
      const std::string mine = w_.label(), next = w_.label();
      const bool last = k + 1 == p.branches.size();
      if (last)
        w_.jump(mine);
      else
        w_.branch(compare("sle", in[0][0], integer(static_cast<i64>(k), in[0][0], Kind::i32)), mine, next);
      w_.begin(mine);
      const std::vector<Parts> out = program(*p.branches[k], in.subspan(1));
      if (k == 0)
        results = keep_all(out);
      else
        keep(results, out);
      w_.jump(done);
      if (!last) w_.begin(next);
    }
    w_.begin(done);
    return kept(results);
  }

  // ---- operations
  std::vector<Parts> program(const Program& p, std::span<const Parts> in) {
    std::vector<Parts> values(in.begin(), in.end());
    values.resize(p.types.size());
    for (const Eqn& e : p.eqns) {
      std::vector<Parts> operands;
      for (ir::Var v : e.in) operands.push_back(values[at(v)]);
      std::vector<Parts> results = equation(e, p, operands);
      for (std::size_t i = 0; i < e.out.size(); ++i) values[at(e.out[i])] = std::move(results[i]);
    }
    std::vector<Parts> out;
    for (ir::Var v : p.outputs) out.push_back(values[at(v)]);
    return out;
  }
  std::vector<Parts> equation(const Eqn& e, const Program& p, std::span<const Parts> in) {
    if (e.op == &ops::while_loop) return while_loop(e.params.as<ops::WhileParams>(), in);
    if (e.op == &ops::cond) return cond(e.params.as<ops::CondParams>(), in);
    if (e.op == &ops::scan) {
      const auto& s = e.params.as<ops::ScanParams>();
      return scan(s, in, cat(s.length),
                  [&](const std::string&, const std::vector<Parts>& x) { return program(*s.body, x); });
    }
    const ir::Type& out = p.types[at(e.out[0])];
    if (is_copy(e, p)) return {in[0]};
    if (e.op == &ops::full)
      return {Parts(parts_of(out), literal(w_, e.params.as<ops::Full>().value, out.dtype, width(out)))};
    if (e.op == &ops::iota) return {positions(e.params.as<ops::Iota>(), out)};
    if (is_fill(e, p)) return {Parts(parts_of(out), w_.splat(in[0][0], width(out)))};
    if (is_move(e.op)) return {moved(moved_from(e, p), in, out)};
    if (is_reduction(e.op)) return {{reduced(e, in[0], p.types[at(e.in[0])])}};
    return {mapped(e, p, in)};
  }
  Parts moved(const std::vector<Origin>& origins, std::span<const Parts> in, const ir::Type& out) {
    if (out.count() == 1) return {element(in[origins[0].operand], origins[0].element)};
    Parts parts;
    const Kind kind = in[0][0].kind;
    const std::string type = Writer::type(kind, lanes_);
    for (std::size_t first = 0; first < origins.size(); first += at(lanes_)) {
      Val made{&w_, "zeroinitializer", kind, lanes_};
      const std::size_t end = std::min(origins.size(), first + at(lanes_));
      for (std::size_t k = first; k < end; ++k) {
        const Val x = element(in[origins[k].operand], origins[k].element);
        made = w_.value(
            kind, lanes_,
            cat("insertelement ", type, " ", made.name, ", ", Writer::type(kind, 1), " ", x.name, ", i64 ", k - first));
      }
      parts.push_back(made);
    }
    return parts;
  }
  Val element(const Parts& x, i64 k) {
    if (x[0].lanes == 1) return x[0];
    const Val& part = x[at(k / lanes_)];
    return w_.value(part.kind, 1,
                    cat("extractelement ", Writer::type(part.kind, lanes_), " ", part.name, ", i64 ", k % lanes_));
  }
  Parts mapped(const Eqn& e, const Program& p, std::span<const Parts> in) {
    std::vector<Dtype> dtypes;
    for (ir::Var v : e.in) dtypes.push_back(p.types[at(v)].dtype);
    const Dtype out = p.types[at(e.out[0])].dtype;
    const Call call = find_(e, p);
    Parts parts;
    for (std::size_t k = 0; k < in[0].size(); ++k) {
      std::vector<Val> operands;
      for (const Parts& x : in) operands.push_back(x[k]);
      parts.push_back(map({*e.op, e.params, dtypes, out, call}, operands));
    }
    return parts;
  }
  Val reduced(const Eqn& e, Parts x, const ir::Type& t) {
    if (t.count() == 1) return x[0];
    if (const std::string mask = tail_mask(t); !mask.empty())
      x.back() = select(named(mask, Kind::i1, lanes_), x.back(), neutral(*e.op, t.dtype, w_, lanes_));
    Val all = x[0];
    for (std::size_t k = 1; k < x.size(); ++k) all = combine(*e.op, t.dtype, all, x[k]);
    return rounded(across(all, *e.op, t.dtype), t.dtype);
  }
  Parts positions(const ops::Iota& iota, const ir::Type& t) {
    i64 inner = 1;
    for (int d = iota.axis + 1; d < t.shape.rank(); ++d) inner *= t.shape[d];
    const auto position = [&](i64 element) { return element / inner % t.shape[iota.axis]; };
    if (t.count() == 1) return {counter(number(0), t.dtype)};
    Parts parts;
    for (i64 first = 0; first < t.count(); first += lanes_) {
      std::string lanes;
      for (i64 k = 0; k < lanes_; ++k) lanes += cat(k ? ", " : "<", "i64 ", position(first + k));
      parts.push_back(counter(named(lanes + ">", Kind::i64, lanes_), t.dtype));
    }
    return parts;
  }

  // ---- values
  std::size_t parts_of(const ir::Type& t) const { return t.count() == 1 ? 1 : at((t.count() + lanes_ - 1) / lanes_); }
  int width(const ir::Type& t) const { return t.count() == 1 ? 1 : lanes_; }
  std::string tail_mask(const ir::Type& t) const {  // empty when the last vector is full
    const i64 rest = t.count() % lanes_;
    if (t.count() == 1 || rest == 0) return "";
    std::string mask;
    for (i64 k = 0; k < lanes_; ++k) mask += cat(k ? ", " : "<", "i1 ", k < rest ? "true" : "false");
    return mask + ">";
  }
  // fn(address, mask) for each part of a value in memory.
  template <class Fn>
  void each_part(const std::string& base, const ir::Type& t, const Fn& fn) {
    const std::size_t count = parts_of(t);
    for (std::size_t k = 0; k < count; ++k) {
      const Val p =
          w_.value(Kind::i64, 1, cat("getelementptr ", memory_type(t.dtype), ", ptr ", base, ", i64 ", at(lanes_) * k));
      fn(k, p.name, k + 1 == count ? tail_mask(t) : "");
    }
  }
  Parts load(const std::string& base, const ir::Type& t) {
    Parts parts;
    each_part(base, t, [&](std::size_t, const std::string& from, const std::string& mask) {
      parts.push_back(read(w_, from, t.dtype, width(t), mask));
    });
    return parts;
  }
  void store(const std::string& base, const Parts& parts, const ir::Type& t) {
    each_part(base, t, [&](std::size_t k, const std::string& to, const std::string& mask) {
      write(to, parts[k], t.dtype, mask);
    });
  }
  // Values that change from step to step, on the stack; LLVM keeps them in registers.
  struct Slot {
    std::string address;
    Kind kind;
    int lanes;
  };
  using Slots = std::vector<Slot>;
  std::vector<Slots> keep_all(std::span<const Parts> values) {
    std::vector<Slots> all;
    for (const Parts& parts : values) {
      Slots slots;
      for (const Val& v : parts) slots.push_back({w_.slot(v.kind, v.lanes), v.kind, v.lanes});
      all.push_back(std::move(slots));
    }
    keep(all, values);
    return all;
  }
  void keep(const std::vector<Slots>& slots, std::span<const Parts> values) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      for (std::size_t k = 0; k < slots[i].size(); ++k)
        w_.line(cat("store ", Writer::type(slots[i][k].kind, slots[i][k].lanes), " ", values[i][k].name, ", ptr ",
                    slots[i][k].address));
  }
  std::vector<Parts> kept(const std::vector<Slots>& slots) {
    std::vector<Parts> all;
    for (const Slots& value : slots) {
      Parts parts;
      for (const Slot& s : value)
        parts.push_back(w_.value(s.kind, s.lanes, cat("load ", Writer::type(s.kind, s.lanes), ", ptr ", s.address)));
      all.push_back(std::move(parts));
    }
    return all;
  }
  static std::vector<Parts> joined(std::span<const Parts> a, std::span<const Parts> b) {
    std::vector<Parts> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
  }
  Val number(i64 v) { return w_.literal_bits(static_cast<std::uint64_t>(v), Kind::i64, 1); }
  Val named(const std::string& name, Kind kind = Kind::i64, int lanes = 1) { return {&w_, name, kind, lanes}; }

  const Eqn& loop_;
  const std::vector<bool>& once_;
  const FindCall& find_;
  const int lanes_;
  Writer w_;
  ir::Types types_;  // of the carries
};
}  // namespace

bool fits_registers(const Eqn& loop, const Program& around, const FindCall& find) {
  if (loop.op != &ops::while_loop && loop.op != &ops::scan) return false;
  return loop.in.size() + loop.out.size() <= most_loop_arguments && Fit(find).loop(loop, around, true);
}

KernelText emit_registers(const Eqn& loop, const std::vector<bool>& once, const FindCall& find) {
  return RegisterEmitter(loop, once, find).run();
}

}  // namespace uni::codegen
