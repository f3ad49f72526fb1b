#include "interp/stage.hpp"

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::interp {

namespace {
struct StageTracer final : core::Tracer {
  StageTracer(core::Trace* owner, std::shared_ptr<detail::TraceLife> life, Type type, Location made, ir::Var v)
      : Tracer(owner, std::move(life), std::move(type), made), var(v) {}
  const ir::Var var;
};
}  // namespace

StageTrace::StageTrace(const char* name) : Trace(name, &core::current_trace()) {}

Array StageTrace::fresh(Type type, ir::Var v) {
  return core::make_array<StageTracer>(this, life(), std::move(type), core::current_location(), v);
}

Array StageTrace::input(Type type) {
  if (!program_.eqns.empty() || !captured_.empty()) throw InternalError("stage: input made after an operation");
  ++inputs_;
  const ir::Var v = program_.add(type);
  return fresh(std::move(type), v);
}

ir::Var StageTrace::var(const Array& a) {
  const Type& type = core::type_of(a);
  if (owns(a)) return static_cast<const StageTracer&>(*a.node()).var;
  if (const auto it = seen_.find(a.node()); it != seen_.end()) return it->second;
  const ir::Var v = program_.add(type);
  captured_.push_back(a);
  captured_vars_.push_back(v);
  seen_.emplace(a.node(), v);
  return v;
}

Arrays StageTrace::process(const Op& op, std::span<const Array> in, const Params& params) {
  Types types = core::infer_here(op, in, params);
  ir::Eqn e{&op, {}, {}, params, core::current_location()};
  e.in.reserve(in.size());
  for (const Array& a : in) e.in.push_back(var(a));
  Arrays out;
  for (Type& t : types) {
    const ir::Var v = program_.add(t);
    e.out.push_back(v);
    out.push_back(fresh(std::move(t), v));
  }
  program_.eqns.push_back(std::move(e));
  return out;
}

Program StageTrace::finish(std::span<const ir::Var> outputs) const {
  // Renumber so that inputs and captured values come first.
  Program out;
  std::vector<ir::Var> renamed(program_.types.size(), -1);
  const auto define = [&](ir::Var v) {
    const auto i = static_cast<std::size_t>(v);
    renamed[i] = out.add(program_.types[i]);
    return renamed[i];
  };
  for (ir::Var v = 0; v < inputs_; ++v) define(v);
  for (ir::Var v : captured_vars_) define(v);
  out.inputs = static_cast<int>(out.types.size());
  for (const ir::Eqn& e : program_.eqns) {
    ir::Eqn copy = e;
    for (ir::Var& v : copy.in) v = renamed[static_cast<std::size_t>(v)];
    for (ir::Var& v : copy.out) v = define(v);
    out.eqns.push_back(std::move(copy));
  }
  for (ir::Var v : outputs) out.outputs.push_back(renamed[static_cast<std::size_t>(v)]);
  return out;
}

Staged stage(Fn f, const Types& arguments, const char* name) {
  StageTrace trace(name);
  Arrays in;
  for (const Type& t : arguments) in.push_back(trace.input(t));
  Arrays results;
  {
    const core::WithTrace with(trace);
    results = f(in);
  }
  std::vector<ir::Var> outputs;
  for (const Array& r : results) outputs.push_back(trace.var(r));
  Program program = ir::remove_dead_code(trace.finish(outputs));
  return {std::make_shared<const Program>(std::move(program)), trace.captured()};
}

// Inputs may vary over more axes than when the program was made: what varies already stays as it is.
static Arrays replay(const ir::Eqn& e, const Arrays& operands) {
  if (e.op == &core::pvary_op() && ir::subtract(e.params.axes(), core::type_of(operands[0]).varying) != e.params.axes())
    return {core::make_varying(operands[0], e.params.axes())};
  return core::bind(*e.op, operands, e.params);
}

Arrays interpret(const Program& p, std::span<const Array> in) {
  if (static_cast<int>(in.size()) != p.inputs)
    throw InternalError(base::cat("a program of ", p.inputs, " inputs was given ", in.size()));
  Arrays env(p.types.size());
  std::copy(in.begin(), in.end(), env.begin());
  for (const ir::Eqn& e : p.eqns) {
    const core::WithLocation at(e.where.line() ? e.where : core::current_location());
    Arrays operands;
    operands.reserve(e.in.size());
    for (ir::Var v : e.in) operands.push_back(env[static_cast<std::size_t>(v)]);
    Arrays results = replay(e, operands);
    for (std::size_t i = 0; i < results.size(); ++i) env[static_cast<std::size_t>(e.out[i])] = std::move(results[i]);
  }
  Arrays out;
  for (ir::Var v : p.outputs) out.push_back(env[static_cast<std::size_t>(v)]);
  return out;
}

}  // namespace uni::interp
