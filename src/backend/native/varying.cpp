#include "backend/native/varying.hpp"

#include <algorithm>

#include "ops/collectives.hpp"
#include "ops/control.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 v) { return static_cast<std::size_t>(v); }

Flags outputs_of(const ir::Program& p, const Flags& inputs, const Mesh& mesh) {
  const Flags values = varying_values(p, inputs, mesh);
  Flags out;
  for (ir::Var v : p.outputs) out.push_back(values[at(v)]);
  return out;
}

// (constants, carry, rest) of the body until the carry stays; `also` makes the whole carry differ.
template <class Also>
Flags settle(const ir::Program& body, Flags in, i64 consts, i64 carry, const Mesh& mesh, const Also& also) {
  for (;;) {
    const Flags before = in, out = outputs_of(body, in, mesh);
    const bool all = also(in);
    for (i64 i = 0; i < carry; ++i) in[at(consts + i)] = in[at(consts + i)] || out[at(i)] || all;
    if (in == before) return in;
  }
}

Flags condition_inputs(const ops::WhileParams& p, const Flags& operands, const Flags& body_in) {
  return ops::joined({ops::part(operands, 0, p.cond_consts),
                      ops::part(body_in, p.body_consts, static_cast<i64>(body_in.size()) - p.body_consts)});
}
}  // namespace

bool covers_all(const ir::Params& params, const Mesh& mesh) {
  for (const MeshAxis& a : mesh.axes())
    if (!ir::contains(params.axes(), a.name)) return false;
  return true;
}

std::vector<Flags> nested_inputs(const ir::Eqn& e, const Flags& operands, const Mesh& mesh) {
  if (e.op == &ops::cond)
    return std::vector<Flags>(e.params.programs().size(), Flags(operands.begin() + 1, operands.end()));
  if (e.op == &ops::while_loop) {
    const auto& p = e.params.as<ops::WhileParams>();
    const auto condition = [&](const Flags& in) -> bool {  // not a reference into a temporary of bits
      return outputs_of(*p.cond, condition_inputs(p, operands, in), mesh)[0];
    };
    const Flags body = settle(*p.body, Flags(operands.begin() + p.cond_consts, operands.end()), p.body_consts,
                              p.body->inputs - p.body_consts, mesh, condition);
    return {condition_inputs(p, operands, body), body};
  }
  const auto& p = e.params.as<ops::ScanParams>();
  return {settle(*p.body, operands, p.consts, p.carry, mesh, [](const Flags&) { return false; })};
}

Flags varying_results(const ir::Eqn& e, const Flags& operands, const Mesh& mesh) {
  bool any = std::find(operands.begin(), operands.end(), true) != operands.end();
  if (e.op == &ops::cond) {
    Flags out(e.out.size(), operands[0]);
    for (const ir::ProgramPtr& p : e.params.programs()) {
      const Flags branch = outputs_of(*p, Flags(operands.begin() + 1, operands.end()), mesh);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] || branch[i];
    }
    return out;
  }
  if (e.op == &ops::while_loop) {
    const Flags body = nested_inputs(e, operands, mesh)[1];
    return Flags(body.end() - static_cast<std::ptrdiff_t>(e.out.size()), body.end());
  }
  if (e.op == &ops::scan) {
    const auto& p = e.params.as<ops::ScanParams>();
    const Flags body = nested_inputs(e, operands, mesh)[0];
    Flags out = outputs_of(*p.body, body, mesh);
    for (i64 i = 0; i < p.carry; ++i) out[at(i)] = body[at(p.consts + i)];
    return out;
  }
  if (ops::is_collective(*e.op) && e.op != &ops::pvary) {
    const bool unifies = e.op == &ops::psum || e.op == &ops::pmax || e.op == &ops::pmin || e.op == &ops::all_gather;
    any = unifies ? any && !covers_all(e.params, mesh) : mesh.device_count() > 1 && (any || !e.params.axes().empty());
  }
  return Flags(e.out.size(), any);
}

Flags varying_values(const ir::Program& program, const Flags& inputs, const Mesh& mesh) {
  Flags values = inputs;
  values.resize(program.types.size(), false);
  for (const ir::Eqn& e : program.eqns) {
    Flags operands;
    for (ir::Var v : e.in) operands.push_back(values[at(v)]);
    const Flags results = varying_results(e, operands, mesh);
    for (std::size_t i = 0; i < e.out.size(); ++i) values[at(e.out[i])] = results[i];
  }
  return values;
}

}  // namespace uni::native
