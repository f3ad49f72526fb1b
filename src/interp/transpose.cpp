#include "interp/transpose.hpp"

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::interp {

using core::is_zero;
using core::Operand;

namespace {
std::size_t index(ir::Var v) { return static_cast<std::size_t>(v); }

class Backward {
 public:
  explicit Backward(const Program& p)
      : p_(p), linear_(p.types.size(), false), value_(p.types.size()), ct_(p.types.size()) {}

  Arrays run(std::span<const Operand> inputs, std::span<const Array> cotangents) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      linear_[i] = inputs[i].linear();
      value_[i] = inputs[i].value;
    }
    for (const ir::Eqn& e : p_.eqns) forward(e);
    for (std::size_t i = 0; i < p_.outputs.size(); ++i) accumulate(p_.outputs[i], cotangents[i]);
    for (std::size_t i = p_.eqns.size(); i-- > 0;) backward(p_.eqns[i]);
    Arrays out;
    for (std::size_t i = 0; i < inputs.size(); ++i) out.push_back(inputs[i].linear() ? ct_[i] : Array());
    return out;
  }

 private:
  // Values that depend on no linear input are computed.
  void forward(const ir::Eqn& e) {
    bool linear = false;
    for (ir::Var v : e.in) linear = linear || linear_[index(v)];
    for (ir::Var v : e.out) linear_[index(v)] = linear;
    if (linear) return;
    const core::WithLocation at(e.where);
    Arrays in;
    for (ir::Var v : e.in) in.push_back(value_[index(v)]);
    const Arrays out = core::bind(*e.op, in, e.params);
    for (std::size_t i = 0; i < out.size(); ++i) value_[index(e.out[i])] = out[i];
  }

  void accumulate(ir::Var v, const Array& ct) {
    if (is_zero(ct) || !linear_[index(v)]) return;
    ct_[index(v)] = core::add_tangents(ct_[index(v)], ct);
  }

  void backward(const ir::Eqn& e) {
    if (e.out.empty() || !linear_[index(e.out[0])]) return;
    Arrays cts;
    bool any = false;
    for (ir::Var v : e.out) {
      cts.push_back(std::move(ct_[index(v)]));
      ct_[index(v)] = Array();
      any = any || !is_zero(cts.back());
    }
    if (!any) return;
    const core::WithLocation at(e.where);
    std::vector<Operand> operands;
    for (ir::Var v : e.in) operands.push_back({linear_[index(v)] ? Array() : value_[index(v)], p_.types[index(v)]});
    const Arrays results = apply(e, cts, operands);
    for (std::size_t i = 0; i < e.in.size(); ++i) accumulate(e.in[i], results[i]);
  }

  static Arrays apply(const ir::Eqn& e, const Arrays& cts, const std::vector<Operand>& operands) {
    if (const core::HigherOrder* h = core::as_higher_order(*e.op)) return h->transpose(cts, operands, e.params);
    const core::Primitive& p = *core::as_primitive(*e.op);
    if (!p.transpose.fn)
      throw TraceError(base::cat(e.op->name, ": not linear, cannot be transposed: ", p.transpose.why,
                                 base::at(core::current_location())));
    return p.transpose.fn(cts, operands, e.params);
  }

  const Program& p_;
  std::vector<bool> linear_;
  Arrays value_, ct_;
};
}  // namespace

Arrays transpose(const Program& program, std::span<const Operand> inputs, std::span<const Array> cotangents) {
  return Backward(program).run(inputs, cotangents);
}

TransposedProgram transpose_program(const Program& program, const std::vector<bool>& linear_inputs,
                                    const std::vector<bool>& active_outputs) {
  TransposedProgram result;
  Types types;
  const Types outputs = program.output_types();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (active_outputs[i]) types.push_back(outputs[i]);
  for (std::size_t i = 0; i < linear_inputs.size(); ++i)
    if (!linear_inputs[i]) types.push_back(program.types[i]);
  const auto body = [&](std::span<const Array> args) {
    std::size_t next = 0;
    Arrays cts;
    for (const bool active : active_outputs) cts.push_back(active ? args[next++] : Array());
    std::vector<Operand> inputs;
    for (std::size_t i = 0; i < linear_inputs.size(); ++i)
      inputs.push_back({linear_inputs[i] ? Array() : args[next++], program.types[i]});
    const Arrays all = transpose(program, inputs, cts);
    Arrays out;
    result.nonzero.clear();
    for (const Array& a : all) {
      result.nonzero.push_back(!is_zero(a));
      if (!is_zero(a)) out.push_back(a);
    }
    return out;
  };
  Staged staged = stage(body, types, "grad");
  if (!staged.captured.empty()) throw InternalError("transpose of a program captured a value");
  result.program = staged.program;
  return result;
}

}  // namespace uni::interp
