#include "interp/linearize.hpp"

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::interp {

using core::is_zero;

namespace {
struct LinearizeTracer final : core::Tracer {
  LinearizeTracer(core::Trace* owner, std::shared_ptr<detail::TraceLife> life, Location made, Array p, Array t)
      : Tracer(owner, std::move(life), core::type_of(p), made), primal(std::move(p)), tangent(std::move(t)) {}
  Array primal_value() const override { return primal; }
  const Array primal, tangent;  // the tangent belongs to the staged linear program
};

// Sends each operation of a derivative rule where it belongs: what touches a tangent is staged, the rest is computed.
class SplitTrace final : public core::Trace {
 public:
  SplitTrace(core::Trace& primal, StageTrace& tangent) : Trace("linearize", &primal), tangent_(tangent) {}
  Arrays process(const Op& op, std::span<const Array> in, const Params& params) override {
    bool linear = false;
    for (const Array& a : in) linear = linear || tangent_.owns(a);
    if (linear) return tangent_.process(op, in, params);
    const core::WithTrace with(*parent());
    return parent()->process(op, in, params);
  }

 private:
  StageTrace& tangent_;
};

class LinearizeTrace final : public core::Trace {
 public:
  explicit LinearizeTrace(StageTrace& tangent)
      : Trace("grad", &core::current_trace()), tangent_(tangent), split_(*parent(), tangent) {}

  Array wrap(const Array& primal, const Array& tangent) {
    if (is_zero(tangent)) return primal;
    return core::make_array<LinearizeTracer>(this, life(), core::current_location(), primal, tangent);
  }
  std::pair<Array, Array> unwrap(const Array& a) const {
    if (!owns(a)) return {a, Array()};
    const auto& t = static_cast<const LinearizeTracer&>(*a.node());
    return {t.primal, t.tangent};
  }

  Arrays process(const Op& op, std::span<const Array> in, const Params& params) override {
    Arrays primals, tangents;
    std::vector<bool> active;
    bool any = false;
    for (const Array& a : in) {
      auto [p, t] = unwrap(a);
      active.push_back(!is_zero(t));
      any = any || active.back();
      primals.push_back(std::move(p));
      tangents.push_back(std::move(t));
    }
    if (!any) {
      const core::WithTrace with(*parent());
      return core::bind(op, primals, params);
    }
    if (const core::HigherOrder* h = core::as_higher_order(op)) return nested(*h, primals, tangents, active, params);
    const core::Primitive& p = *core::as_primitive(op);
    if (!p.jvp.fn)
      throw TraceError(base::cat(op.name, ": not differentiable: ", p.jvp.why, base::at(core::current_location())));
    const core::WithTrace with(split_);
    const core::Jvp result = p.jvp.fn(primals, tangents, params);
    return wrap_all(result.out, result.tangent);
  }

 private:
  Arrays wrap_all(const Arrays& out, const Arrays& tangents) {
    Arrays wrapped;
    for (std::size_t i = 0; i < out.size(); ++i) wrapped.push_back(wrap(out[i], tangents[i]));
    return wrapped;
  }

  Arrays nested(const core::HigherOrder& op, const Arrays& primals, const Arrays& tangents,
                const std::vector<bool>& active, const Params& params) {
    if (op.linearize_by_jvp()) {
      const core::WithTrace with(split_);
      const core::Jvp result = op.jvp(primals, tangents, params);
      return wrap_all(result.out, result.tangent);
    }
    core::Linearized lin;
    {
      const core::WithTrace with(split_);
      lin = op.linearize(primals, active, params);
    }
    Arrays in;
    for (const Array& t : tangents)
      if (!is_zero(t)) in.push_back(t);
    in.insert(in.end(), lin.residuals.begin(), lin.residuals.end());
    const core::WithTrace with(tangent_);
    const Arrays results = lin.op ? core::bind(*lin.op, in, lin.params) : Arrays{};
    Arrays out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < lin.out.size(); ++i)
      out.push_back(lin.active[i] ? wrap(lin.out[i], results[next++]) : lin.out[i]);
    return out;
  }

  StageTrace& tangent_;
  SplitTrace split_;
};
}  // namespace

LinearMap linearize(Fn f, std::span<const Array> primals, const std::vector<bool>& active_inputs) {
  StageTrace tangent("grad");
  LinearizeTrace trace(tangent);
  Arrays in;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    if (!active_inputs[i])
      in.push_back(primals[i]);
    else
      in.push_back(trace.wrap(primals[i], tangent.input(core::type_of(primals[i]))));
  }
  Arrays results;
  {
    const core::WithTrace with(trace);
    results = f(in);
  }
  LinearMap map;
  std::vector<ir::Var> outputs;
  for (const Array& r : results) {
    auto [p, t] = trace.unwrap(r);
    map.out.push_back(std::move(p));
    map.active.push_back(!is_zero(t));
    if (!is_zero(t)) outputs.push_back(tangent.var(t));
  }
  map.program = std::make_shared<const Program>(ir::remove_dead_code(tangent.finish(outputs)));
  map.residuals = tangent.captured();
  return map;
}

SplitProgram linearize_program(const Program& program, const std::vector<bool>& active_inputs) {
  SplitProgram result;
  std::size_t outputs = 0;
  const auto body = [&](std::span<const Array> args) {
    LinearMap map = linearize([&](std::span<const Array> in) { return interpret(program, in); }, args, active_inputs);
    outputs = map.out.size();
    result.linear = map.program;
    result.active = map.active;
    result.residuals = map.residuals.size();
    map.out.insert(map.out.end(), map.residuals.begin(), map.residuals.end());
    return map.out;
  };
  Staged staged = stage(body, program.input_types(), "grad");
  if (!staged.captured.empty()) throw InternalError("linearize of a program captured a value");
  result.primal = staged.program;
  return result;
}

}  // namespace uni::interp
