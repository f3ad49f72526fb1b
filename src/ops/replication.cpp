#include "ops/replication.hpp"

#include "ops/collectives.hpp"
#include "ops/custom.hpp"
#include "ops/shard_map.hpp"

namespace uni::ops {

namespace {
// A reduction or gather over all of `axes` gives every device the same.
bool covers(const ir::AxisNames& names, const ir::AxisNames& axes) { return ir::subtract(axes, names).empty(); }

std::vector<bool> results(const ir::Eqn& e, const std::vector<bool>& in, const ir::AxisNames& axes) {
  bool any = false;
  for (const bool v : in) any = any || v;
  if (is_collective(*e.op)) {
    if (e.op == &psum || e.op == &pmax || e.op == &pmin || e.op == &all_gather)
      return {any && !covers(e.params.axes(), axes)};
    if (e.op == &pvary) return {any};
    bool over = any;  // these give different devices different things, even of equal operands
    for (const std::string& n : e.params.axes()) over = over || ir::contains(axes, n);
    return {over};
  }
  const std::vector<ir::ProgramPtr> bodies = e.params.programs();
  if (bodies.empty()) return std::vector<bool>(e.out.size(), any);
  // The body is the first program; operands beyond its inputs belong to derivative rules.
  std::vector<bool> body_in(in.begin(), in.begin() + bodies[0]->inputs);
  ir::AxisNames visible = axes;
  if (e.op == &shard_map)
    for (const MeshAxis& a : e.params.as<ShardMapParams>().mesh.axes()) visible = ir::subtract(visible, {a.name});
  if (visible.size() != axes.size()) return std::vector<bool>(e.out.size(), any);
  return varying_outputs(*bodies[0], body_in, axes);
}
}  // namespace

std::vector<bool> varying_outputs(const ir::Program& program, const std::vector<bool>& varying,
                                  const ir::AxisNames& axes) {
  std::vector<bool> value(program.types.size(), false);
  std::copy(varying.begin(), varying.end(), value.begin());
  for (const ir::Eqn& e : program.eqns) {
    std::vector<bool> in;
    for (ir::Var v : e.in) in.push_back(value[static_cast<std::size_t>(v)]);
    const std::vector<bool> out = results(e, in, axes);
    for (std::size_t i = 0; i < out.size(); ++i) value[static_cast<std::size_t>(e.out[i])] = out[i];
  }
  std::vector<bool> out;
  for (ir::Var v : program.outputs) out.push_back(value[static_cast<std::size_t>(v)]);
  return out;
}

}  // namespace uni::ops
