#include "interp/jvp.hpp"

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::interp {

using core::is_zero;

namespace {
struct JvpTracer final : core::Tracer {
  JvpTracer(core::Trace* owner, std::shared_ptr<detail::TraceLife> life, Location made, Array p, Array t)
      : Tracer(owner, std::move(life), core::type_of(p), made), primal(std::move(p)), tangent(std::move(t)) {}
  Array primal_value() const override { return primal; }
  const Array primal, tangent;
};

class JvpTrace final : public core::Trace {
 public:
  JvpTrace() : Trace("jvp", &core::current_trace()) {}

  Array wrap(const Array& primal, const Array& tangent) {
    if (is_zero(tangent)) return primal;
    return core::make_array<JvpTracer>(this, life(), core::current_location(), primal, tangent);
  }
  std::pair<Array, Array> unwrap(const Array& a) const {
    if (!owns(a)) return {a, Array()};
    const auto& t = static_cast<const JvpTracer&>(*a.node());
    return {t.primal, t.tangent};
  }

  Arrays process(const Op& op, std::span<const Array> in, const Params& params) override {
    Arrays primals, tangents;
    bool any = false;
    for (const Array& a : in) {
      auto [p, t] = unwrap(a);
      any = any || !is_zero(t);
      primals.push_back(std::move(p));
      tangents.push_back(std::move(t));
    }
    const core::WithTrace with(*parent());
    if (!any) return core::bind(op, primals, params);
    const core::Jvp result = apply(op, primals, tangents, params);
    Arrays out;
    for (std::size_t i = 0; i < result.out.size(); ++i) out.push_back(wrap(result.out[i], result.tangent[i]));
    return out;
  }

 private:
  static core::Jvp apply(const Op& op, const Arrays& primals, const Arrays& tangents, const Params& params) {
    if (const core::HigherOrder* h = core::as_higher_order(op)) return h->jvp(primals, tangents, params);
    const core::Primitive& p = *core::as_primitive(op);
    if (!p.jvp.fn)
      throw TraceError(base::cat(op.name, ": not differentiable: ", p.jvp.why, base::at(core::current_location())));
    return p.jvp.fn(primals, tangents, params);
  }
};
}  // namespace

core::Jvp jvp(Fn f, std::span<const Array> primals, std::span<const Array> tangents) {
  JvpTrace trace;
  Arrays in;
  for (std::size_t i = 0; i < primals.size(); ++i) in.push_back(trace.wrap(primals[i], tangents[i]));
  Arrays results;
  {
    const core::WithTrace with(trace);
    results = f(in);
  }
  core::Jvp out;
  for (const Array& r : results) {
    auto [p, t] = trace.unwrap(r);
    out.out.push_back(std::move(p));
    out.tangent.push_back(std::move(t));
  }
  return out;
}

JvpProgram jvp_program(const Program& program, const std::vector<bool>& active_inputs) {
  JvpProgram result;
  Types types = program.input_types();
  const std::size_t n = types.size();
  for (std::size_t i = 0; i < n; ++i)
    if (active_inputs[i]) types.push_back(types[i]);
  const auto body = [&](std::span<const Array> args) {
    Arrays tangents;
    std::size_t next = n;
    for (std::size_t i = 0; i < n; ++i) tangents.push_back(active_inputs[i] ? args[next++] : Array());
    core::Jvp r = jvp([&](std::span<const Array> in) { return interpret(program, in); }, args.first(n), tangents);
    result.active.clear();
    for (const Array& t : r.tangent) {
      result.active.push_back(!is_zero(t));
      if (!is_zero(t)) r.out.push_back(t);
    }
    return r.out;
  };
  Staged staged = stage(body, types, "jvp");
  if (!staged.captured.empty()) throw InternalError("jvp of a program captured a value");
  result.program = staged.program;
  return result;
}

}  // namespace uni::interp
