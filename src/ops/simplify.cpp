#include "ops/simplify.hpp"

#include "interp/stage.hpp"
#include "ops/rules.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using ir::Program;
using ir::ProgramPtr;

namespace {
// Spells out what can be inlined and hands the rest to the staging trace.
class InlineTrace final : public core::Trace {
 public:
  explicit InlineTrace(interp::StageTrace& stage) : Trace("inline", &stage), stage_(stage) {}
  Arrays process(const ir::Op& op, std::span<const Array> in, const Params& params) override {
    const core::HigherOrder* h = core::as_higher_order(op);
    if (!h) return stage_.process(op, in, params);
    if (h->inlinable()) return h->inline_body(in, params);
    const auto simpler = [](const ProgramPtr& p) { return std::make_shared<const Program>(simplify(*p)); };
    return stage_.process(op, in, params.with_programs(simpler));
  }

 private:
  interp::StageTrace& stage_;
};
}  // namespace

Program inline_calls(const Program& program) {
  interp::StageTrace stage("inline");
  Arrays in;
  for (const Type& t : program.input_types()) in.push_back(stage.input(t));
  std::vector<ir::Var> outputs;
  InlineTrace trace(stage);
  const core::WithTrace with(trace);
  for (const Array& a : interp::interpret(program, in)) outputs.push_back(stage.var(a));
  if (!stage.captured().empty()) throw InternalError("inlining a program captured a value");
  return stage.finish(outputs);
}

Program prune_nested(const Program& program) {
  std::vector<char> used(program.types.size(), 0);
  for (ir::Var v : program.outputs) used[static_cast<std::size_t>(v)] = 1;
  Program out = program;
  for (std::size_t i = out.eqns.size(); i-- > 0;) {
    ir::Eqn& e = out.eqns[i];
    if (const core::HigherOrder* h = core::as_higher_order(*e.op)) {
      std::vector<bool> used_outputs;
      for (ir::Var v : e.out) used_outputs.push_back(used[static_cast<std::size_t>(v)] != 0);
      const core::HigherOrder::Pruned pruned = h->prune(e.params, used_outputs, e.in.size());
      const auto keep = [](std::vector<ir::Var>& vars, const std::vector<bool>& which) {
        std::vector<ir::Var> kept;
        for (std::size_t k = 0; k < vars.size(); ++k)
          if (which[k]) kept.push_back(vars[k]);
        vars = std::move(kept);
      };
      e.params = pruned.params;
      keep(e.in, pruned.inputs);
      keep(e.out, pruned.outputs);
    }
    for (ir::Var v : e.in) used[static_cast<std::size_t>(v)] = 1;
  }
  return ir::compact(out);
}

Program simplify(const Program& program) {
  Program p = ir::run_pass("inline_calls", inline_calls, program);
  p = ir::run_pass("remove_dead_code", ir::remove_dead_code, p);
  p = ir::run_pass("prune_nested", prune_nested, p);
  p = ir::run_pass("merge_common_subexpressions", ir::merge_common_subexpressions, p);
  return ir::run_pass("remove_dead_code", ir::remove_dead_code, p);
}

}  // namespace uni::ops
