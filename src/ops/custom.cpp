#include "ops/custom.hpp"

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "ops/call.hpp"
#include "ops/contract.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

namespace {
std::vector<bool> inexact(const Types& types) {
  std::vector<bool> out;
  for (const Type& t : types) out.push_back(is_inexact(t.dtype));
  return out;
}
Types kept(const Types& types, const std::vector<bool>& which) {
  Types out;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (which[i]) out.push_back(types[i]);
  return out;
}
core::HigherOrder::Pruned keep_all(const Params& params, const std::vector<bool>& used, std::size_t inputs) {
  return {params, std::vector<bool>(inputs, true), std::vector<bool>(used.size(), true)};
}

// All outputs of a program under vmap, batched. `batched` are the flags of its inputs.
ProgramPtr batched_program(const Program& p, const std::vector<bool>& batched, const BatchArgs& a) {
  Types types = p.input_types();
  for (std::size_t i = 0; i < types.size(); ++i)
    if (batched[i]) types[i] = interp::with_batch_dimension(std::move(types[i]), a.size);
  const auto body = [&](std::span<const Array> in) {
    interp::Batched r = interp::batch([&](std::span<const Array> x) { return interp::interpret(p, x); }, in, batched,
                                      {a.size, a.axis_name});
    for (std::size_t i = 0; i < r.out.size(); ++i) r.out[i] = force_batched(r.out[i], r.batched[i], a.size);
    return r.out;
  };
  return interp::stage(body, types, "vmap").program;
}

// The tangent that reaches the outputs through values that the body captured.
Arrays captured_tangents(const Program& body, std::span<const Array> in, std::span<const Array> tangents, i64 args) {
  Arrays only_captured(tangents.begin(), tangents.end());
  for (i64 i = 0; i < args; ++i) only_captured[static_cast<std::size_t>(i)] = Array();
  return interp::jvp([&](std::span<const Array> x) { return interp::interpret(body, x); }, in, only_captured).tangent;
}

std::size_t count_inexact(std::span<const Type> types) {
  std::size_t n = 0;
  for (const Type& t : types) n += is_inexact(t.dtype);
  return n;
}
// Splits the number of operands; throws InternalError when the parts do not add up.
void check_parts(std::string_view name, std::size_t operands, std::initializer_list<i64> parts) {
  i64 left = static_cast<i64>(operands);
  for (const i64 n : parts) {
    if (n < 0 || n > left) throw InternalError(cat(name, ": ", operands, " operands do not divide into its parts"));
    left -= n;
  }
  if (left != 0) throw InternalError(cat(name, ": ", operands, " operands are ", left, " more than its parts"));
}

// ---- custom_jvp
Types custom_jvp_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<CustomJvpParams>();
  check_parts("custom_jvp", in.size(), {p.args, p.body_captured, p.rule_captured});
  const auto args = static_cast<std::size_t>(p.args);
  check_body("custom_jvp", p.body, in.first(args + static_cast<std::size_t>(p.body_captured)));
  const Types out = p.body->output_types();
  check_rule("custom_jvp", p.rule, args + count_inexact(in.first(args)) + static_cast<std::size_t>(p.rule_captured),
             out.size() + count_inexact(out));
  return out;
}

class CustomJvp final : public core::HigherOrder {
 public:
  constexpr CustomJvp()
      : HigherOrder("custom_jvp", custom_jvp_type, ir::read_params<CustomJvpParams>,
                    {.own_varying = true, .own_weak = true}) {}

  bool linearize_by_jvp() const override { return true; }
  core::Linearized linearize(std::span<const Array>, const std::vector<bool>&, const Params&) const override {
    throw InternalError("custom_jvp is linearized through its jvp");
  }

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    const auto& p = params.as<CustomJvpParams>();
    const std::span<const Array> body_in = part(in, 0, p.args + p.body_captured);
    const std::span<const Array> body_t = part(tangents, 0, p.args + p.body_captured);
    const Types outputs = p.body->output_types();
    Jvp result;
    if (any(nonzero(part(tangents, 0, p.args)))) {
      Arrays args = joined({part(in, 0, p.args)});
      for (i64 i = 0; i < p.args; ++i) {
        const Type& t = core::type_of(in[static_cast<std::size_t>(i)]);
        if (is_inexact(t.dtype)) args.push_back(instantiate(tangents[static_cast<std::size_t>(i)], t));
      }
      for (const Array& c : part(in, p.args + p.body_captured, p.rule_captured)) args.push_back(c);
      const Arrays r = interp::interpret(*p.rule, args);
      result.out.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(outputs.size()));
      result.tangent = spread(std::span(r).subspan(outputs.size()), inexact(outputs));
    } else {
      result.out = interp::interpret(*p.body, body_in);
      result.tangent.resize(outputs.size());
    }
    if (!any(nonzero(part(tangents, p.args, p.body_captured)))) return result;
    const Arrays more = captured_tangents(*p.body, body_in, body_t, p.args);
    for (std::size_t i = 0; i < more.size(); ++i) result.tangent[i] = add_tangents(result.tangent[i], more[i]);
    return result;
  }

  Arrays transpose(std::span<const Array>, std::span<const Operand>, const Params& params) const override {
    throw TraceError(cat("custom_jvp `", params.as<CustomJvpParams>().name, "`: not linear, cannot be transposed",
                         base::at(core::current_location())));
  }

  Batch batch(const BatchArgs& a, const Params& params) const override {
    CustomJvpParams p = params.as<CustomJvpParams>();
    const auto args = part(a.batched, 0, p.args);
    const auto body_captured = part(a.batched, p.args, p.body_captured);
    const auto rule_captured = part(a.batched, p.args + p.body_captured, p.rule_captured);
    std::vector<bool> tangents;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (is_inexact(p.body->types[i].dtype)) tangents.push_back(args[i]);
    p.body = batched_program(*p.body, joined({args, body_captured}), a);
    p.rule = batched_program(*p.rule, joined({args, tangents, rule_captured}), a);
    const Arrays out = core::bind(*this, a.in, p);
    return {out, std::vector<bool>(out.size(), true)};
  }

  Arrays inline_body(std::span<const Array> in, const Params& params) const override {
    const auto& p = params.as<CustomJvpParams>();
    return interp::interpret(*p.body, part(in, 0, p.args + p.body_captured));
  }
  Pruned prune(const Params& params, const std::vector<bool>& used, std::size_t inputs) const override {
    return keep_all(params, used, inputs);
  }
};

// ---- custom_vjp
Types custom_vjp_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<CustomVjpParams>();
  check_parts("custom_vjp", in.size(), {p.args, p.body_captured, p.forward_captured, p.backward_captured});
  const auto args = static_cast<std::size_t>(p.args);
  check_body("custom_vjp", p.body, in.first(args + static_cast<std::size_t>(p.body_captured)));
  const Types out = p.body->output_types();
  if (!p.forward || p.forward->outputs.size() < out.size()) throw InternalError("custom_vjp: no forward rule");
  const std::size_t residuals = p.forward->outputs.size() - out.size();
  check_rule("custom_vjp", p.forward, args + static_cast<std::size_t>(p.forward_captured), out.size() + residuals);
  check_rule("custom_vjp", p.backward, residuals + count_inexact(out) + static_cast<std::size_t>(p.backward_captured),
             count_inexact(in.first(args)));
  return out;
}

class CustomVjp final : public core::HigherOrder {
 public:
  constexpr CustomVjp()
      : HigherOrder("custom_vjp", custom_vjp_type, ir::read_params<CustomVjpParams>,
                    {.own_varying = true, .own_weak = true}) {}

  Jvp jvp(std::span<const Array>, std::span<const Array>, const Params& params) const override {
    throw TraceError(cat("custom_vjp `", params.as<CustomVjpParams>().name,
                         "`: forward mode is not defined by a reverse rule", base::at(core::current_location()),
                         "\nfix: give a custom_jvp rule; it serves both modes"));
  }

  core::Linearized linearize(std::span<const Array> in, const std::vector<bool>& active,
                             const Params& params) const override {
    const auto& p = params.as<CustomVjpParams>();
    const std::span<const Array> args = part(in, 0, p.args);
    const i64 forward_at = p.args + p.body_captured, backward_at = forward_at + p.forward_captured;
    const Arrays r = interp::interpret(*p.forward, joined({args, part(in, forward_at, p.forward_captured)}));
    const Types outputs = p.body->output_types();
    const auto n = static_cast<std::ptrdiff_t>(outputs.size());
    core::Linearized lin;
    lin.out.assign(r.begin(), r.begin() + n);
    lin.active = inexact(outputs);
    const Arrays residuals = joined({std::span(r).subspan(outputs.size()), part(in, backward_at, p.backward_captured)});
    const Types arg_types = core::types_of(args);
    CustomLinearParams linear{p.backward,
                              kept(arg_types, inexact(arg_types)),
                              {},
                              kept(outputs, lin.active),
                              static_cast<i64>(r.size() - outputs.size()),
                              p.name};
    int position = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (!is_inexact(arg_types[i].dtype)) continue;
      if (active[i]) linear.active.push_back(position);
      ++position;
    }
    const std::vector<bool> captured_active(active.begin() + p.args, active.end());
    if (any(captured_active)) return with_captured(lin, linear, residuals, in, active, p);
    if (linear.active.empty()) {
      lin.active.assign(lin.active.size(), false);
      return lin;
    }
    lin.op = &custom_linear;
    lin.params = std::move(linear);
    lin.residuals = residuals;
    return lin;
  }

  Arrays transpose(std::span<const Array>, std::span<const Operand>, const Params& params) const override {
    throw TraceError(cat("custom_vjp `", params.as<CustomVjpParams>().name, "`: not linear, cannot be transposed",
                         base::at(core::current_location())));
  }

  Batch batch(const BatchArgs& a, const Params& params) const override {
    CustomVjpParams p = params.as<CustomVjpParams>();
    const i64 forward_at = p.args + p.body_captured, backward_at = forward_at + p.forward_captured;
    const auto args = part(a.batched, 0, p.args);
    const auto body_captured = part(a.batched, p.args, p.body_captured);
    const auto forward_captured = part(a.batched, forward_at, p.forward_captured);
    const auto backward_captured = part(a.batched, backward_at, p.backward_captured);
    p.backward = batched_backward(p, backward_captured, args, a);
    p.forward = batched_program(*p.forward, joined({args, forward_captured}), a);
    p.body = batched_program(*p.body, joined({args, body_captured}), a);
    const Arrays out = core::bind(*this, a.in, p);
    return {out, std::vector<bool>(out.size(), true)};
  }

  Arrays inline_body(std::span<const Array> in, const Params& params) const override {
    const auto& p = params.as<CustomVjpParams>();
    return interp::interpret(*p.body, part(in, 0, p.args + p.body_captured));
  }
  Pruned prune(const Params& params, const std::vector<bool>& used, std::size_t inputs) const override {
    return keep_all(params, used, inputs);
  }

 private:
  // The rule's map plus the ordinary linear map through captured values, as one call.
  static core::Linearized with_captured(core::Linearized lin, const CustomLinearParams& linear, const Arrays& residuals,
                                        std::span<const Array> in, const std::vector<bool>& active,
                                        const CustomVjpParams& p) {
    std::vector<bool> body_active(static_cast<std::size_t>(p.args + p.body_captured), false);
    for (i64 i = p.args; i < p.args + p.body_captured; ++i)
      body_active[static_cast<std::size_t>(i)] = active[static_cast<std::size_t>(i)];
    const interp::SplitProgram split = interp::linearize_program(*p.body, body_active);
    const Arrays all = interp::interpret(*split.primal, part(in, 0, p.args + p.body_captured));
    const std::span<const Array> more = std::span<const Array>(all).last(split.residuals);
    Types types;
    for (const int i : linear.active) types.push_back(linear.args[static_cast<std::size_t>(i)]);
    const std::size_t rule_tangents = types.size();
    // Tangents of what the rules captured arrive too and have no effect.
    std::size_t body_tangents = 0;
    for (std::size_t i = static_cast<std::size_t>(p.args); i < in.size(); ++i) {
      if (!active[i]) continue;
      types.push_back(core::type_of(in[i]));
      body_tangents += i < body_active.size();
    }
    const std::size_t tangents = types.size();
    for (const Array& r : residuals) types.push_back(core::type_of(r));
    for (const Array& r : more) types.push_back(core::type_of(r));
    const auto body = [&](std::span<const Array> x) {
      const Arrays rule_in = joined({x.first(rule_tangents), x.subspan(tangents, residuals.size())});
      const Arrays by_rule = rule_tangents ? core::bind(custom_linear, rule_in, linear) : Arrays{};
      const Arrays captured_in = joined({x.subspan(rule_tangents, body_tangents), x.last(more.size())});
      const Arrays by_captured = spread(interp::interpret(*split.linear, captured_in), split.active);
      const Arrays rule_all = rule_tangents ? spread(by_rule, lin.active) : Arrays(lin.active.size());
      Arrays out;
      for (std::size_t i = 0; i < lin.active.size(); ++i)
        if (lin.active[i])
          out.push_back(instantiate(add_tangents(rule_all[i], by_captured[i]), core::type_of(lin.out[i])));
      return out;
    };
    lin.params = CallParams{interp::stage(body, types, "custom_vjp").program, p.name};
    lin.op = &call;
    lin.residuals = joined({residuals, more});
    return lin;
  }

  // Residuals and cotangents are batched (forward's outputs all are); cotangents of args that are shared by the lanes
  // are summed over them.
  static ProgramPtr batched_backward(const CustomVjpParams& p, const std::vector<bool>& captured,
                                     const std::vector<bool>& args, const BatchArgs& a) {
    const std::size_t inputs = static_cast<std::size_t>(p.backward->inputs);
    std::vector<bool> flags(inputs - captured.size(), true);
    flags = joined({flags, captured});
    const ProgramPtr all = batched_program(*p.backward, flags, a);
    std::vector<bool> shared;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (is_inexact(p.body->types[i].dtype)) shared.push_back(!args[i]);
    if (!any(shared)) return all;
    const auto body = [&](std::span<const Array> in) {
      Arrays out = interp::interpret(*all, in);
      for (std::size_t i = 0; i < out.size(); ++i)
        if (shared[i]) out[i] = lax::reduce_sum(out[i], {0});
      return out;
    };
    return interp::stage(body, all->input_types(), "vmap").program;
  }
};

// ---- custom_linear
Types custom_linear_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<CustomLinearParams>();
  if (p.residuals < 0 || in.size() < p.active.size() + static_cast<std::size_t>(p.residuals))
    throw InternalError(cat("custom_linear: ", in.size(), " operands do not divide into its parts"));
  for (const int i : p.active)
    if (i < 0 || i >= static_cast<int>(p.args.size()))
      throw InternalError(cat("custom_linear: tangent of argument ", i, " of ", p.args.size()));
  check_rule("custom_linear", p.backward, in.size() - p.active.size() + p.outputs.size(), p.args.size());
  return p.outputs;
}

class CustomLinear final : public core::HigherOrder {
 public:
  constexpr CustomLinear()
      : HigherOrder("custom_linear", custom_linear_type, ir::read_params<CustomLinearParams>,
                    {.own_varying = true, .own_weak = true}) {}

  Jvp jvp(std::span<const Array>, std::span<const Array>, const Params& params) const override { forward(params); }
  core::Linearized linearize(std::span<const Array>, const std::vector<bool>&, const Params& params) const override {
    forward(params);
  }
  Batch batch(const BatchArgs&, const Params& params) const override { forward(params); }
  Arrays inline_body(std::span<const Array>, const Params& params) const override { forward(params); }
  Pruned prune(const Params& params, const std::vector<bool>& used, std::size_t inputs) const override {
    return keep_all(params, used, inputs);
  }

  Arrays transpose(std::span<const Array> cts, std::span<const Operand> operands, const Params& params) const override {
    const auto& p = params.as<CustomLinearParams>();
    Arrays known, all_cts;
    for (std::size_t i = p.active.size(); i < operands.size(); ++i) known.push_back(operands[i].value);
    for (std::size_t i = 0; i < cts.size(); ++i) all_cts.push_back(instantiate(cts[i], p.outputs[i]));
    // backward takes (residuals, cotangents, captured); operands hold residuals and captured behind one another.
    if (known.size() + all_cts.size() != static_cast<std::size_t>(p.backward->inputs))
      throw InternalError("custom_linear: operands do not fit the backward rule");
    const std::size_t residuals = static_cast<std::size_t>(p.residuals);
    const Arrays results = interp::interpret(
        *p.backward, joined({std::span(known).first(residuals), all_cts, std::span(known).subspan(residuals)}));
    Arrays out(operands.size());
    for (std::size_t i = 0; i < p.active.size(); ++i) out[i] = results[static_cast<std::size_t>(p.active[i])];
    return out;
  }

 private:
  [[noreturn]] static void forward(const Params& params) {
    throw TraceError(cat("custom_vjp `", params.as<CustomLinearParams>().name,
                         "`: its linear map is known in reverse only", base::at(core::current_location()),
                         "\nfix: give a custom_jvp rule; it serves both modes"));
  }
};

constinit const CustomJvp custom_jvp_op;
constinit const CustomVjp custom_vjp_op;
constinit const CustomLinear custom_linear_op;
}  // namespace

constinit const core::HigherOrder& custom_jvp = custom_jvp_op;
constinit const core::HigherOrder& custom_vjp = custom_vjp_op;
constinit const core::HigherOrder& custom_linear = custom_linear_op;

}  // namespace uni::ops
