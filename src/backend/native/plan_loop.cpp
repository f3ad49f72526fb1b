// Loops whose steps are small: one compiled function runs all of them.
#include "backend/codegen/jit.hpp"
#include "backend/codegen/register_loop.hpp"
#include "backend/native/planner.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 v) { return static_cast<std::size_t>(v); }

codegen::FindCall calls_into(Calls& calls) {
  return [&calls](const ir::Eqn& e, const ir::Program& p) -> codegen::Call {
    ir::Types in;
    for (ir::Var v : e.in) in.push_back(p.types[at(v)]);
    const FlatFn run = pointwise_kernel(*e.op, e.params, in, p.types[at(e.out[0])]);
    return run ? calls.add(run, e.params) : codegen::Call{};
  };
}

i64 elements_made(const ir::Eqn& loop) {
  i64 sum = 0;
  for (const ir::ProgramPtr& p : loop.params.programs())
    for (const ir::Type& t : p->types) sum += t.count();
  return sum;
}

codegen::KernelText text_of(const Plan& plan, const Step& s) {
  if (s.kind == Step::Kind::compiled) return codegen::emit(s.cluster->loop(s.stored));
  std::vector<bool> once;
  for (int v : s.out) once.push_back(s.each_device && !plan.values[at(v)].varying);
  return codegen::emit_registers(s.eqn, once, calls_into(*s.calls));
}
bool is_compiled(const Step& s) { return s.kind == Step::Kind::compiled || s.kind == Step::Kind::loop; }
}  // namespace

bool Planner::take_loop(const ir::Eqn& e, i64 repeats) {
  // How often a while_loop runs is not known: often enough.
  if (e.op == &ops::cond || (e.op == &ops::scan && elements_made(e) * repeats < from_)) return false;
  Step s;
  s.kind = Step::Kind::loop;
  s.calls = std::make_unique<Calls>();
  if (!codegen::fits_registers(e, program_, calls_into(*s.calls))) return false;
  s.eqn = e;
  s.length = e.op == &ops::scan ? e.params.as<ops::ScanParams>().length : 0;
  for (ir::Var v : e.in) s.in.push_back(value(v).root);
  s.out = e.out;
  for (ir::Var v : e.out) s.each_device = s.each_device || value(v).varying;
  steps_.push_back(std::move(s));
  return true;
}

void compile_steps(Plan& plan) {
  std::vector<codegen::KernelText> texts;
  for (const Step& s : plan.steps)
    if (is_compiled(s)) texts.push_back(text_of(plan, s));
  if (texts.empty()) return;
  const std::vector<codegen::KernelFn> kernels = codegen::compile(texts);
  std::size_t next = 0;
  for (Step& s : plan.steps)
    if (is_compiled(s)) s.compiled = kernels[next++];
}

}  // namespace uni::native
