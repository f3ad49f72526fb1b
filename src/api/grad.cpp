// The flat functions behind grad, vjp, jvp and linearize.
#include "base/text.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>
#include <unisono/transform.hpp>

namespace uni::detail {

using base::cat;
using core::is_zero;

namespace {
Arrays leaves_of(const TreeRef& tree) {
  std::vector<Array*> slots;
  collect_leaves(tree, slots);
  Arrays out;
  for (const Array* a : slots) out.push_back(*a);
  return out;
}

bool differentiable(const Array& a) { return a.defined() && is_inexact(a.dtype()); }

// The cotangent as the leaf's own dtype and weakness.
Array finished(const Array& ct, const Array& leaf) {
  const ir::Type& type = core::type_of(leaf);
  if (is_zero(ct)) return core::zeros_of(type);
  return lax::convert(ct, type.dtype, type.weak);
}

// A flat function of some leaves; the others stay as they are.
template <class F>
auto with_fixed(const Arrays& all, const std::vector<bool>& chosen, F f) {
  return [&all, &chosen, f](std::span<const Array> some) {
    Arrays full = all;
    std::size_t next = 0;
    for (std::size_t i = 0; i < full.size(); ++i)
      if (chosen[i]) full[i] = some[next++];
    return f(full);
  };
}

Arrays chosen_of(const Arrays& all, const std::vector<bool>& chosen) {
  Arrays out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (chosen[i]) out.push_back(all[i]);
  return out;
}

void check_loss(std::string_view who, const Arrays& values) {
  if (values.empty() || !values[0].defined()) throw Error(cat(who, ": the function returned no array"));
  const ir::Type& t = core::type_of(values[0]);
  if (t.shape.rank() != 0)
    throw ShapeError(cat(who, ": the function must return a scalar, it returned ", ir::to_string(t),
                         base::at(core::current_location()), "\nfix: sum it or take its mean, or use vjp"));
  if (!is_float(t.dtype))
    throw DtypeError(cat(who, ": the function must return a real floating scalar, it returned ", ir::to_string(t),
                         base::at(core::current_location())));
}

// Residual values and the transposed map applied to cotangents of all outputs.
Arrays transpose_map(const interp::LinearMap& map, std::size_t inputs, std::span<const Array> cotangents) {
  std::vector<core::Operand> operands;
  for (std::size_t i = 0; i < inputs; ++i) operands.push_back({Array(), map.program->types[i]});
  for (std::size_t i = 0; i < map.residuals.size(); ++i)
    operands.push_back({map.residuals[i], map.program->types[inputs + i]});
  Arrays active;
  for (std::size_t i = 0; i < map.active.size(); ++i)
    if (map.active[i]) active.push_back(cotangents[i]);
  Arrays cts = interp::transpose(*map.program, operands, active);
  cts.resize(inputs);
  return cts;
}
}  // namespace

FlatGrad flat_value_and_grad(const GradCall& call, FlatFunction f) {
  Arrays all;
  std::vector<bool> chosen;
  for (std::size_t i = 0; i < call.active.size(); ++i) {
    std::vector<std::string> paths = leaf_paths(call.active[i], call.names[i]);
    const Arrays leaves = leaves_of(call.active[i]);
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      if (leaves[k].defined() && !differentiable(leaves[k]) && !call.allow_int)
        throw DtypeError(cat(call.who, ": ", paths[k], " is ", ir::to_string(core::type_of(leaves[k])),
                             "; only floating arrays can be differentiated",
                             "\nfix: move it out of the differentiated argument, or ask for {.allow_int = true}"));
      all.push_back(leaves[k]);
      chosen.push_back(differentiable(leaves[k]));
    }
  }
  if (all.empty())
    throw TreeError(cat(call.who, ": ", call.names[0], " holds no Array: there is nothing to differentiate",
                        "\nfix: make its numbers Arrays"));
  const Arrays primals = chosen_of(all, chosen);
  const auto g = with_fixed(all, chosen, f);
  interp::LinearMap map = interp::linearize(g, primals, std::vector<bool>(primals.size(), true));
  check_loss(call.who, map.out);
  Arrays cts(map.out.size());
  cts[0] = lax::full_like(map.out[0], 1.0);
  const Arrays gradients = transpose_map(map, primals.size(), cts);
  FlatGrad result{map.out, Arrays(all.size())};
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!chosen[i]) continue;
    result.gradients[i] = finished(gradients[next], all[i]);
    ++next;
  }
  return result;
}

class FlatPullback {
 public:
  interp::LinearMap map;
  Arrays args;               // leaves, for their types
  std::vector<bool> chosen;  // differentiable ones
};

FlatVjp flat_vjp(const TreeRef& args, FlatFunction f) {
  auto p = std::make_shared<FlatPullback>();
  p->args = leaves_of(args);
  for (const Array& a : p->args) p->chosen.push_back(differentiable(a));
  const Arrays primals = chosen_of(p->args, p->chosen);
  p->map = interp::linearize(with_fixed(p->args, p->chosen, f), primals, std::vector<bool>(primals.size(), true));
  return {p->map.out, p};
}

namespace {
// `given` at `path` must be like `wanted`, which is a result or an argument.
void check_like(const char* who, const std::string& path, const Array& given, const char* what, const Array& wanted) {
  const ir::Type& g = core::type_of(given);
  const ir::Type& w = core::type_of(wanted);
  if (g.shape == w.shape && g.dtype == w.dtype) return;
  const std::string text = cat(who, ": ", path, " is ", ir::to_string(g), ", the ", what, " is ", ir::to_string(w),
                               base::at(core::current_location()));
  if (!(g.shape == w.shape)) throw ShapeError(text);
  throw DtypeError(text);
}
void check_count(const char* who, std::size_t arguments, std::size_t tangents) {
  if (arguments != tangents)
    throw TreeError(
        cat(who, ": the tangents have ", base::counted(tangents, "array"), ", the arguments have ", arguments));
}
}  // namespace

Arrays pull_back(const FlatPullback& p, const TreeRef& cotangents) {
  Arrays cts = leaves_of(cotangents);
  const std::vector<std::string> paths = leaf_paths(cotangents, "cotangent");
  if (cts.size() != p.map.out.size())
    throw TreeError(
        cat("vjp: the cotangent has ", base::counted(cts.size(), "array"), ", the result has ", p.map.out.size()));
  for (std::size_t i = 0; i < cts.size(); ++i)
    if (cts[i].defined() && p.map.out[i].defined() && p.map.active[i])
      check_like("vjp", paths[i], cts[i], "result", p.map.out[i]);
  const Arrays primals = chosen_of(p.args, p.chosen);
  const Arrays results = transpose_map(p.map, primals.size(), cts);
  Arrays out(p.args.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (p.chosen[i]) {
      out[i] = finished(results[next], p.args[i]);
      ++next;
    }
  return out;
}

Arrays push_forward(const FlatPullback& p, const TreeRef& tangents) {
  const Arrays all = leaves_of(tangents);
  const std::vector<std::string> paths = leaf_paths(tangents, "tangents");
  check_count("linearize", p.args.size(), all.size());
  Arrays in;
  for (std::size_t i = 0; i < p.args.size(); ++i) {
    if (!p.chosen[i]) continue;
    if (all[i].defined()) check_like("linearize", paths[i], all[i], "argument", p.args[i]);
    in.push_back(all[i].defined() ? all[i] : core::zeros_of(core::type_of(p.args[i])));
  }
  in.insert(in.end(), p.map.residuals.begin(), p.map.residuals.end());
  const Arrays results = interp::interpret(*p.map.program, in);
  Arrays out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < p.map.out.size(); ++i)
    out.push_back(p.map.active[i] ? results[next++] : core::zeros_of(core::type_of(p.map.out[i])));
  return out;
}

FlatJvp flat_jvp(const TreeRef& primals, const TreeRef& tangents, FlatFunction f) {
  const Arrays all = leaves_of(primals);
  Arrays directions = leaves_of(tangents);
  const std::vector<std::string> paths = leaf_paths(tangents, "tangents");
  check_count("jvp", all.size(), directions.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!differentiable(all[i])) {
      directions[i] = Array();
      continue;
    }
    if (directions[i].defined()) check_like("jvp", paths[i], directions[i], "argument", all[i]);
  }
  const core::Jvp r = interp::jvp(f, all, directions);
  FlatJvp out{r.out, {}};
  for (std::size_t i = 0; i < r.out.size(); ++i) {
    const bool integer = r.out[i].defined() && !differentiable(r.out[i]);
    out.tangents.push_back(integer                 ? Array()
                           : is_zero(r.tangent[i]) ? core::zeros_of(core::type_of(r.out[i]))
                                                   : r.tangent[i]);
  }
  return out;
}

}  // namespace uni::detail
