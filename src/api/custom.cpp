// The flat functions behind custom_jvp and custom_vjp: everything is traced here, rules too.
#include "ops/custom.hpp"

#include "base/text.hpp"
#include "interp/stage.hpp"
#include <unisono/error.hpp>
#include <unisono/transform.hpp>

namespace uni::detail {

using base::cat;
using ir::Types;

namespace {
struct Leaves {
  Arrays values;
  Types types;
  std::size_t slots = 0;
};
Leaves leaves_of(const TreeRef& tree) {
  std::vector<Array*> slots;
  collect_leaves(tree, slots);
  Leaves out;
  out.slots = slots.size();
  for (const Array* a : slots) {
    out.values.push_back(*a);
    out.types.push_back(core::type_of(*a));
  }
  return out;
}
bool inexact(const ir::Type& t) { return is_inexact(t.dtype); }

// Throws TreeError unless `got` fits `want` one by one.
void check_results(const std::string& name, const char* rule, const char* what, const Arrays& got, const Types& want) {
  if (got.size() != want.size())
    throw TreeError(cat(name, ": the ", rule, " returned ", base::counted(got.size(), "array"), " for the ", what,
                        ", expected ", want.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!got[i].defined()) throw TreeError(cat(name, ": the ", rule, " returned nothing for ", what, " ", i));
    const ir::Type& t = core::type_of(got[i]);
    if (!(t.shape == want[i].shape) || t.dtype != want[i].dtype)
      throw TreeError(cat(name, ": the ", rule, " returned ", ir::to_string(t), " for ", what, " ", i, ", expected ",
                          ir::to_string(want[i])));
  }
}
}  // namespace

Arrays flat_custom_jvp(const TreeRef& args, FlatFunction f, FlatFunction rule, std::string_view pretty) {
  const Leaves in = leaves_of(args);
  const std::string name = "custom_jvp `" + base::callable_name(pretty) + "`";
  const interp::Staged body = interp::stage(f, in.types, "custom_jvp");
  const Types outputs = body.program->output_types();
  Types rule_types = in.types;
  for (const ir::Type& t : in.types)
    if (inexact(t)) rule_types.push_back(t);
  const auto flat_rule = [&](std::span<const Array> x) {
    Arrays both(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(in.slots));
    std::size_t next = in.slots;
    for (const ir::Type& t : in.types) both.push_back(inexact(t) ? x[next++] : core::zeros_of(t));
    const Arrays r = rule(both);
    if (r.size() != 2 * outputs.size())
      throw TreeError(cat(name, ": the rule returned ", base::counted(r.size(), "array"),
                          " for result and tangent, expected ", 2 * outputs.size()));
    const auto half = r.begin() + static_cast<std::ptrdiff_t>(outputs.size());
    Arrays out(r.begin(), half), tangents(half, r.end());
    check_results(name, "rule", "result", out, outputs);
    check_results(name, "rule", "tangent", tangents, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (inexact(outputs[i])) out.push_back(tangents[i]);
    return out;
  };
  const interp::Staged staged_rule = interp::stage(flat_rule, rule_types, "custom_jvp");
  Arrays operands = in.values;
  operands.insert(operands.end(), body.captured.begin(), body.captured.end());
  operands.insert(operands.end(), staged_rule.captured.begin(), staged_rule.captured.end());
  return core::bind(ops::custom_jvp, operands,
                    ops::CustomJvpParams{body.program, staged_rule.program, static_cast<i64>(in.slots),
                                         static_cast<i64>(body.captured.size()),
                                         static_cast<i64>(staged_rule.captured.size()), base::callable_name(pretty)});
}

Arrays flat_custom_vjp(const TreeRef& args, FlatFunction f, FlatFunction forward, FlatFunction backward,
                       std::string_view pretty) {
  const Leaves in = leaves_of(args);
  const std::string name = "custom_vjp `" + base::callable_name(pretty) + "`";
  const interp::Staged body = interp::stage(f, in.types, "custom_vjp");
  const interp::Staged fwd = interp::stage(forward, in.types, "custom_vjp");
  const Types outputs = body.program->output_types();
  const Types all = fwd.program->output_types();
  if (all.size() < outputs.size())
    throw TreeError(cat(name, ": the forward rule returned ", base::counted(all.size(), "array"), ", the result has ",
                        outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!(all[i].shape == outputs[i].shape) || all[i].dtype != outputs[i].dtype)
      throw TreeError(cat(name, ": the forward rule returned ", ir::to_string(all[i]), " for result ", i,
                          ", the function returns ", ir::to_string(outputs[i])));
  Types back_types(all.begin() + static_cast<std::ptrdiff_t>(outputs.size()), all.end());
  const std::size_t residuals = back_types.size();
  for (const ir::Type& t : outputs)
    if (inexact(t)) back_types.push_back(t);
  const auto flat_backward = [&](std::span<const Array> x) {
    Arrays leaves(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(residuals));
    std::size_t next = residuals;
    for (const ir::Type& t : outputs) leaves.push_back(inexact(t) ? x[next++] : core::zeros_of(t));
    const Arrays r = backward(leaves);
    Arrays cts;
    Types want;
    if (r.size() != in.slots)
      throw TreeError(cat(name, ": the backward rule returned ", base::counted(r.size(), "cotangent"), " for ",
                          base::counted(in.slots, "argument")));
    for (std::size_t i = 0; i < r.size(); ++i)
      if (inexact(in.types[i])) {
        cts.push_back(r[i]);
        want.push_back(in.types[i]);
      }
    check_results(name, "backward rule", "argument", cts, want);
    return cts;
  };
  const interp::Staged back = interp::stage(flat_backward, back_types, "custom_vjp");
  Arrays operands = in.values;
  for (const Arrays* captured : {&body.captured, &fwd.captured, &back.captured})
    operands.insert(operands.end(), captured->begin(), captured->end());
  return core::bind(ops::custom_vjp, operands,
                    ops::CustomVjpParams{body.program, fwd.program, back.program, static_cast<i64>(in.slots),
                                         static_cast<i64>(body.captured.size()), static_cast<i64>(fwd.captured.size()),
                                         static_cast<i64>(back.captured.size()), base::callable_name(pretty)});
}

}  // namespace uni::detail
