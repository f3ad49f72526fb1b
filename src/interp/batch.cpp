#include "interp/batch.hpp"

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::interp {

namespace {
Type without_batch(Type type) {
  type.shape.erase(0);
  return type;
}

struct BatchTracer final : core::Tracer {
  BatchTracer(core::Trace* owner, std::shared_ptr<detail::TraceLife> life, Location made, Array v)
      : Tracer(owner, std::move(life), without_batch(core::type_of(v)), made), value(std::move(v)) {}
  const Array value;  // the batch dimension is axis 0
};

class BatchTrace final : public core::Trace {
 public:
  explicit BatchTrace(const BatchInfo& info) : Trace("vmap", &core::current_trace()), info_(info) {}

  Array wrap(const Array& value) {
    return core::make_array<BatchTracer>(this, life(), core::current_location(), value);
  }
  std::pair<Array, bool> unwrap(const Array& a) const {
    if (!owns(a)) return {a, false};
    return {static_cast<const BatchTracer&>(*a.node()).value, true};
  }

  Arrays process(const Op& op, std::span<const Array> in, const Params& params) override {
    Arrays values;
    core::BatchArgs args;
    bool any = mentions_axis(params);
    for (const Array& a : in) {
      auto [v, b] = unwrap(a);
      any = any || b;
      values.push_back(std::move(v));
      args.batched.push_back(b);
    }
    const core::WithTrace with(*parent());
    if (!any) return core::bind(op, values, params);
    args.in = values;
    args.size = info_.size;
    args.axis_name = info_.axis_name;
    const core::Batch result = apply(op, args, params);
    Arrays out;
    for (std::size_t i = 0; i < result.out.size(); ++i)
      out.push_back(result.batched[i] ? wrap(result.out[i]) : result.out[i]);
    return out;
  }

 private:
  // An operation that refers to this axis by name, itself or in a program that it holds.
  bool mentions_axis(const Params& params) const {
    if (info_.axis_name.empty()) return false;
    return mentions(params, info_.axis_name);
  }
  static bool mentions(const Params& params, const std::string& name) {
    if (ir::contains(params.axes(), name)) return true;
    for (const ProgramPtr& p : params.programs())
      for (const ir::Eqn& e : p->eqns)
        if (mentions(e.params, name)) return true;
    return false;
  }

  static core::Batch apply(const Op& op, const core::BatchArgs& args, const Params& params) {
    if (const core::HigherOrder* h = core::as_higher_order(op)) return h->batch(args, params);
    const core::Primitive& p = *core::as_primitive(op);
    if (!p.batch.fn)
      throw TraceError(base::cat(op.name, ": cannot be vmapped: ", p.batch.why, base::at(core::current_location())));
    return p.batch.fn(args, params);
  }

  const BatchInfo info_;
};
}  // namespace

Type with_batch_dimension(Type type, i64 size) {
  type.shape.insert(0, size);
  return type;
}

Batched batch(Fn f, std::span<const Array> in, const std::vector<bool>& batched, const BatchInfo& info) {
  BatchTrace trace(info);
  Arrays args;
  for (std::size_t i = 0; i < in.size(); ++i) args.push_back(batched[i] ? trace.wrap(in[i]) : in[i]);
  Arrays results;
  {
    std::vector<core::Axis> axes;
    if (!info.axis_name.empty()) axes.push_back({info.axis_name, info.size, core::Axis::Kind::vmap});
    const core::WithAxes names(std::move(axes));
    const core::WithTrace with(trace);
    results = f(args);
  }
  Batched out;
  for (const Array& r : results) {
    auto [v, b] = trace.unwrap(r);
    out.out.push_back(std::move(v));
    out.batched.push_back(b);
  }
  return out;
}

BatchedProgram batch_program(const Program& program, const std::vector<bool>& batched, const BatchInfo& info) {
  BatchedProgram result;
  Types types = program.input_types();
  for (std::size_t i = 0; i < types.size(); ++i)
    if (batched[i]) types[i] = with_batch_dimension(std::move(types[i]), info.size);
  const auto body = [&](std::span<const Array> args) {
    Batched r = batch([&](std::span<const Array> in) { return interpret(program, in); }, args, batched, info);
    result.batched = r.batched;
    return r.out;
  };
  Staged staged = stage(body, types, "vmap");
  if (!staged.captured.empty()) throw InternalError("vmap of a program captured a value");
  result.program = staged.program;
  return result;
}

}  // namespace uni::interp
