#include "ops/call.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

void check_body(std::string_view name, const ProgramPtr& body, std::span<const Type> in) {
  if (!body) throw InternalError(cat(name, ": no body"));
  if (static_cast<int>(in.size()) != body->inputs)
    throw InternalError(cat(name, ": ", in.size(), " operands for a body of ", body->inputs));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Type& want = body->types[i];
    if (in[i].dtype == want.dtype && in[i].shape == want.shape && ir::subtract(in[i].varying, want.varying).empty())
      continue;
    throw InternalError(
        cat(name, ": operand ", i, " is ", ir::to_string(in[i]), ", the body takes ", ir::to_string(want)));
  }
}

void check_rule(std::string_view name, const ProgramPtr& rule, std::size_t inputs, std::size_t outputs) {
  if (!rule) throw InternalError(cat(name, ": no rule"));
  if (static_cast<std::size_t>(rule->inputs) != inputs || rule->outputs.size() != outputs)
    throw InternalError(cat(name, ": a rule of ", rule->inputs, " inputs and ", rule->outputs.size(), " results where ",
                            inputs, " and ", outputs, " are needed"));
}

Arrays bind_body(const ir::Op& op, const Program& body, Arrays in, Params params) {
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = core::make_varying(in[i], body.types[i].varying);
  return core::bind(op, in, std::move(params));
}

bool any(const Flags& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); }
Flags part(const Flags& all, i64 begin, i64 count) { return {all.begin() + begin, all.begin() + begin + count}; }
std::span<const Array> part(std::span<const Array> all, i64 begin, i64 count) {
  return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}
Flags joined(std::initializer_list<Flags> parts) {
  Flags out;
  for (const Flags& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}
Arrays joined(std::initializer_list<std::span<const Array>> parts) {
  Arrays out;
  for (std::span<const Array> p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}

Arrays pick(std::span<const Array> all, const std::vector<bool>& which) {
  Arrays out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (which[i]) out.push_back(all[i]);
  return out;
}

std::vector<bool> nonzero(std::span<const Array> tangents) {
  std::vector<bool> out;
  for (const Array& t : tangents) out.push_back(!is_zero(t));
  return out;
}

Arrays spread(std::span<const Array> values, const std::vector<bool>& active) {
  Arrays out;
  std::size_t next = 0;
  for (const bool a : active) out.push_back(a ? values[next++] : Array());
  return out;
}

Array force_batched(const Array& value, bool batched, i64 size) {
  if (batched) return value;
  Dims shape = value.shape();
  shape.insert(0, size);
  return lax::broadcast_to(value, shape);
}

Program keep_outputs(const Program& program, const Flags& keep) {
  Program p = program;
  p.outputs.clear();
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    if (keep[i]) p.outputs.push_back(program.outputs[i]);
  return ir::remove_dead_code(p);
}

Flags used_inputs(const Program& p) {
  Flags used(p.types.size(), false);
  for (const ir::Eqn& e : p.eqns)
    for (ir::Var v : e.in) used[static_cast<std::size_t>(v)] = true;
  for (ir::Var v : p.outputs) used[static_cast<std::size_t>(v)] = true;
  used.resize(static_cast<std::size_t>(p.inputs));
  return used;
}

Program keep_inputs(const Program& p, const Flags& keep) {
  Program q;
  std::vector<ir::Var> renamed(p.types.size(), -1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.inputs); ++i)
    if (keep[i]) renamed[i] = q.add(p.types[i]);
  q.inputs = static_cast<int>(q.types.size());
  for (ir::Eqn e : p.eqns) {
    for (ir::Var& v : e.in) v = renamed[static_cast<std::size_t>(v)];
    for (ir::Var& v : e.out) {
      renamed[static_cast<std::size_t>(v)] = q.add(p.types[static_cast<std::size_t>(v)]);
      v = renamed[static_cast<std::size_t>(v)];
    }
    q.eqns.push_back(std::move(e));
  }
  for (ir::Var v : p.outputs) q.outputs.push_back(renamed[static_cast<std::size_t>(v)]);
  return q;
}

PrunedBody prune_body(const Program& body, const Flags& used_outputs) {
  const Program p = keep_outputs(body, used_outputs);
  const Flags inputs = used_inputs(p);
  return {std::make_shared<const Program>(keep_inputs(p, inputs)), inputs};
}

namespace {
Types call_type(std::span<const Type> in, const Params& params) {
  const CallParams& p = params.as<CallParams>();
  check_body("call", p.body, in);
  return p.body->output_types();
}

class Call final : public core::HigherOrder {
 public:
  constexpr Call()
      : HigherOrder("call", call_type, ir::read_params<CallParams>, {.own_varying = true, .own_weak = true}) {}

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    const CallParams& p = params.as<CallParams>();
    const interp::JvpProgram j = interp::jvp_program(*p.body, nonzero(tangents));
    Arrays args(in.begin(), in.end());
    for (const Array& t : pick(tangents, nonzero(tangents))) args.push_back(t);
    const Arrays results = bind_body(*this, *j.program, args, CallParams{j.program, p.name});
    const std::size_t n = j.active.size();
    return {Arrays(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n)),
            spread(std::span(results).subspan(n), j.active)};
  }

  core::Linearized linearize(std::span<const Array> in, const std::vector<bool>& active,
                             const Params& params) const override {
    const CallParams& p = params.as<CallParams>();
    const interp::SplitProgram split = interp::linearize_program(*p.body, active);
    const Arrays results =
        bind_body(*this, *split.primal, Arrays(in.begin(), in.end()), CallParams{split.primal, p.name});
    const auto n = static_cast<std::ptrdiff_t>(split.active.size());
    core::Linearized lin;
    lin.out.assign(results.begin(), results.begin() + n);
    lin.active = split.active;
    if (split.linear->outputs.empty()) return lin;
    lin.op = this;
    lin.params = CallParams{split.linear, p.name};
    lin.residuals.assign(results.begin() + n, results.end());
    return lin;
  }

  Arrays transpose(std::span<const Array> cts, std::span<const Operand> operands, const Params& params) const override {
    const CallParams& p = params.as<CallParams>();
    std::vector<bool> linear;
    Arrays args = pick(cts, nonzero(cts));
    for (const Operand& o : operands) {
      linear.push_back(o.linear());
      if (!o.linear()) args.push_back(o.value);
    }
    const interp::TransposedProgram t = interp::transpose_program(*p.body, linear, nonzero(cts));
    return spread(bind_body(*this, *t.program, args, CallParams{t.program, p.name}), t.nonzero);
  }

  Batch batch(const BatchArgs& args, const Params& params) const override {
    const CallParams& p = params.as<CallParams>();
    const interp::BatchedProgram b = interp::batch_program(*p.body, args.batched, {args.size, args.axis_name});
    return {bind_body(*this, *b.program, Arrays(args.in.begin(), args.in.end()), CallParams{b.program, p.name}),
            b.batched};
  }

  Arrays inline_body(std::span<const Array> in, const Params& params) const override {
    return interp::interpret(*params.as<CallParams>().body, in);
  }

  Pruned prune(const Params& params, const std::vector<bool>& used, std::size_t) const override {
    const CallParams& p = params.as<CallParams>();
    PrunedBody b = prune_body(*p.body, used);
    return {CallParams{b.program, p.name}, b.inputs, used};
  }
};
constinit const Call call_op;
}  // namespace

constinit const core::HigherOrder& call = call_op;

}  // namespace uni::ops
