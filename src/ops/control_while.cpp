#include <algorithm>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/jvp.hpp"
#include "ops/contract.hpp"
#include "ops/control.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

namespace {
i64 carry_count(const WhileParams& p) { return p.body->inputs - p.body_consts; }

Types while_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<WhileParams>();
  if (!p.cond || !p.body) throw InternalError("while_loop: a program is missing");
  const auto consts = static_cast<std::size_t>(p.cond_consts), all = consts + static_cast<std::size_t>(p.body_consts);
  if (in.size() < all) throw InternalError("while_loop: fewer operands than constants");
  Types of_cond(in.begin(), in.begin() + p.cond_consts);
  of_cond.insert(of_cond.end(), in.begin() + static_cast<std::ptrdiff_t>(all), in.end());
  check_body("while_loop", p.cond, of_cond);
  check_body("while_loop", p.body, in.subspan(consts));
  check_carry("while_loop", *p.body, p.body_consts, carry_count(p));
  const Types predicate = p.cond->output_types();
  if (predicate.size() != 1 || !is_bool(predicate[0].dtype) || predicate[0].shape.rank() != 0)
    throw InternalError("while_loop: the condition gives no bool[]");
  const Types results = p.body->output_types();
  Types out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out.push_back(p.body->types[static_cast<std::size_t>(p.body_consts) + i]);
    out.back().weak = out.back().weak && results[i].weak;
    if (!ir::subtract(predicate[0].varying, out.back().varying).empty())
      throw InternalError("while_loop: the condition varies over more axes than the carry");
  }
  return out;
}

class While final : public core::HigherOrder {
 public:
  constexpr While()
      : HigherOrder("while_loop", while_type, ir::read_params<WhileParams>, {.own_varying = true, .own_weak = true}) {}

  bool inlinable() const override { return false; }
  Arrays inline_body(std::span<const Array>, const Params&) const override {
    throw InternalError("while_loop: has no inline form");
  }

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    const auto& p = params.as<WhileParams>();
    const i64 carry = carry_count(p), first = p.cond_consts + p.body_consts;
    Flags active = nonzero(tangents);
    grow_active(p, active);
    const Flags consts = part(active, p.cond_consts, p.body_consts), carries = part(active, first, carry);
    const Arrays const_tangents = pick(part(tangents, p.cond_consts, p.body_consts), consts);
    Arrays carry_tangents;
    for (i64 i = first; i < first + carry; ++i)
      if (active[static_cast<std::size_t>(i)])
        carry_tangents.push_back(
            instantiate(tangents[static_cast<std::size_t>(i)], core::type_of(in[static_cast<std::size_t>(i)])));
    const auto more = static_cast<i64>(const_tangents.size());
    const WhileParams both{
        with_unused(*p.cond, core::types_of(carry_tangents)),
        body_with_tangents(p, consts, carries, core::types_of(const_tangents), core::types_of(carry_tangents)),
        p.cond_consts, p.body_consts + more};
    const Arrays results =
        bind_while(both, joined({part(in, 0, first), const_tangents, part(in, first, carry), carry_tangents}));
    return {Arrays(results.begin(), results.begin() + carry),
            spread(std::span(results).subspan(static_cast<std::size_t>(carry)), carries)};
  }

  // The tangents come from the loop run once more with them: forward mode only, see transpose.
  core::Linearized linearize(std::span<const Array> in, const Flags& active_in, const Params& params) const override {
    const auto& p = params.as<WhileParams>();
    Flags active = active_in;
    grow_active(p, active);
    core::Linearized lin;
    lin.out = bind_while(p, Arrays(in.begin(), in.end()));
    lin.active = part(active, p.cond_consts + p.body_consts, carry_count(p));
    if (!any(lin.active)) return lin;
    lin.residuals.assign(in.begin(), in.end());
    Types types = core::types_of(pick(in, active_in));
    const std::size_t tangents = types.size();
    for (const Array& a : in) types.push_back(core::type_of(a));
    const auto body = [&](std::span<const Array> x) {
      return pick(jvp(x.subspan(tangents), spread(x.first(tangents), active_in), params).tangent, lin.active);
    };
    lin.op = &call;
    lin.params = CallParams{staged(body, types), "while_loop"};
    return lin;
  }

  Arrays transpose(std::span<const Array>, std::span<const Operand>, const Params&) const override {
    throw TraceError(cat("while_loop: reverse mode needs to know the number of steps when tracing",
                         base::at(core::current_location()),
                         "\nfix: use scan, or fori_loop with bounds that are numbers"));
  }

  Batch batch(const BatchArgs& args, const Params& params) const override {
    const auto& p = params.as<WhileParams>();
    const i64 carry = carry_count(p), first = p.cond_consts + p.body_consts;
    const Flags cond_consts = part(args.batched, 0, p.cond_consts);
    const Flags body_consts = part(args.batched, p.cond_consts, p.body_consts);
    Flags carries = part(args.batched, first, carry);
    const interp::BatchInfo info{args.size, args.axis_name};
    bool lanes_differ = false;
    for (;;) {
      const Flags before = carries;
      lanes_differ = interp::batch_program(*p.cond, joined({cond_consts, carries}), info).batched[0];
      const Flags after = interp::batch_program(*p.body, joined({body_consts, carries}), info).batched;
      for (std::size_t i = 0; i < carries.size(); ++i) carries[i] = carries[i] || after[i] || lanes_differ;
      if (carries == before) break;
    }
    Arrays in(args.in.begin(), args.in.end());
    for (i64 i = 0; i < carry; ++i) {
      const auto at = static_cast<std::size_t>(i), operand = static_cast<std::size_t>(first + i);
      if (carries[at]) in[operand] = force_batched(in[operand], args.batched[operand], args.size);
    }
    WhileParams out = p;
    const Types types = core::types_of(in);
    if (lanes_differ) out.body_consts += out.cond_consts;
    out.cond = batched_cond(p, args, types, joined({cond_consts, carries}));
    out.body = batched_body(p, args, types, cond_consts, body_consts, carries, lanes_differ);
    if (lanes_differ) {
      const Arrays again(in.begin(), in.begin() + p.cond_consts);
      in.insert(in.begin(), again.begin(), again.end());
    }
    return {bind_while(out, in), carries};
  }

  // What the condition or a kept result depends on, step after step.
  Pruned prune(const Params& params, const Flags& used, std::size_t inputs) const override {
    const auto& p = params.as<WhileParams>();
    const i64 carry = carry_count(p), first = p.cond_consts + p.body_consts;
    const Flags of_cond = used_inputs(*p.cond);
    Flags carries = used, of_body;
    for (std::size_t i = 0; i < carries.size(); ++i)
      carries[i] = carries[i] || of_cond[static_cast<std::size_t>(p.cond_consts) + i];
    Program body;
    for (;;) {
      const Flags before = carries;
      body = keep_outputs(*p.body, carries);
      of_body = used_inputs(body);
      for (std::size_t i = 0; i < carries.size(); ++i)
        carries[i] = carries[i] || of_body[static_cast<std::size_t>(p.body_consts) + i];
      if (carries == before) break;
    }
    const Flags cond_consts = part(of_cond, 0, p.cond_consts), body_consts = part(of_body, 0, p.body_consts);
    const auto count = [](const Flags& f) { return static_cast<i64>(std::count(f.begin(), f.end(), true)); };
    if (static_cast<i64>(inputs) != first + carry) throw InternalError("while_loop: operands do not fit");
    return {WhileParams{std::make_shared<const Program>(keep_inputs(*p.cond, joined({cond_consts, carries}))),
                        std::make_shared<const Program>(keep_inputs(body, joined({body_consts, carries}))),
                        count(cond_consts), count(body_consts)},
            joined({cond_consts, body_consts, carries}), carries};
  }

 private:
  // Carries that get a tangent in some step.
  static void grow_active(const WhileParams& p, Flags& active) {
    const i64 first = p.cond_consts + p.body_consts;
    for (bool changed = true; changed;) {
      changed = false;
      const Flags of_body = part(active, p.cond_consts, p.body->inputs);
      const Flags out = interp::jvp_program(*p.body, of_body).active;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t c = static_cast<std::size_t>(first) + i;
        changed = changed || (out[i] && !active[c]);
        active[c] = active[c] || out[i];
      }
    }
  }
  static ProgramPtr with_unused(const Program& program, const Types& more) {
    Types types = program.input_types();
    types.insert(types.end(), more.begin(), more.end());
    const auto n = static_cast<std::size_t>(program.inputs);
    return staged([&](std::span<const Array> x) { return interp::interpret(program, x.first(n)); }, types);
  }
  // (constants, their tangents, carry, its tangents) -> (carry, tangents)
  static ProgramPtr body_with_tangents(const WhileParams& p, const Flags& consts, const Flags& carries,
                                       const Types& const_tangents, const Types& carry_tangents) {
    const Types in = p.body->input_types();
    const auto n = static_cast<std::size_t>(p.body_consts), m = in.size() - n, k = const_tangents.size();
    Types types(in.begin(), in.begin() + p.body_consts);
    types.insert(types.end(), const_tangents.begin(), const_tangents.end());
    types.insert(types.end(), in.begin() + p.body_consts, in.end());
    types.insert(types.end(), carry_tangents.begin(), carry_tangents.end());
    const auto body = [&](std::span<const Array> x) {
      const Arrays primals = joined({x.first(n), x.subspan(n + k, m)});
      const Arrays tangents = joined({spread(x.subspan(n, k), consts), spread(x.subspan(n + k + m), carries)});
      Jvp r = interp::jvp([&](std::span<const Array> v) { return interp::interpret(*p.body, v); }, primals, tangents);
      for (std::size_t i = 0; i < carries.size(); ++i)
        if (carries[i]) r.out.push_back(instantiate(r.tangent[i], in[n + i]));
      return r.out;
    };
    return staged(body, types);
  }

  static ProgramPtr batched_cond(const WhileParams& p, const BatchArgs& args, const Types& in, const Flags& batched) {
    Types types(in.begin(), in.begin() + p.cond_consts);
    types.insert(types.end(), in.begin() + p.cond_consts + p.body_consts, in.end());
    return staged([&](std::span<const Array> x) -> Arrays { return {any_lane(*p.cond, x, batched, args)}; }, types);
  }
  static Array any_lane(const Program& cond, std::span<const Array> x, const Flags& batched, const BatchArgs& args) {
    Flags found;
    const Array predicate = batched_results(cond, x, batched, args, {}, &found)[0];
    return found[0] ? lax::reduce_or(predicate, {0}) : predicate;
  }
  // Where lanes differ (the condition's constants then stand in front), lanes that are done keep their carry.
  static ProgramPtr batched_body(const WhileParams& p, const BatchArgs& args, const Types& in, const Flags& cond_consts,
                                 const Flags& body_consts, const Flags& carries, bool lanes_differ) {
    const Types types(in.begin() + (lanes_differ ? 0 : p.cond_consts), in.end());
    const auto body = [&](std::span<const Array> x) {
      const i64 skip = lanes_differ ? p.cond_consts : 0, count = carry_count(p);
      const std::span<const Array> of_body = x.subspan(static_cast<std::size_t>(skip));
      Arrays next = batched_results(*p.body, of_body, joined({body_consts, carries}), args, carries);
      if (!lanes_differ) return next;
      const std::span<const Array> old = part(x, p.cond_consts + p.body_consts, count);
      const Array running =
          batched_results(*p.cond, joined({part(x, 0, skip), old}), joined({cond_consts, carries}), args, {true})[0];
      for (std::size_t i = 0; i < next.size(); ++i)
        next[i] = lax::select(lax::broadcast_in_dim(running, core::type_of(old[i]).shape, {0}), next[i], old[i]);
      return next;
    };
    return staged(body, types);
  }
};
constinit const While while_op;
}  // namespace

constinit const core::HigherOrder& while_loop = while_op;

Arrays bind_while(WhileParams p, Arrays in) {
  const i64 first = p.cond_consts + p.body_consts;
  for (;;) {
    Types types = core::types_of(in);
    const i64 carry = static_cast<i64>(in.size()) - first;
    const Types results = p.body->output_types();
    const AxisNames of_predicate = p.cond->output_types()[0].varying;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto at = static_cast<i64>(i);
      if (at < p.cond_consts || at >= first) {
        const i64 input = at < p.cond_consts ? at : at - p.body_consts;
        types[i].varying = ir::unite(types[i].varying, p.cond->types[static_cast<std::size_t>(input)].varying);
      }
      if (at >= p.cond_consts)
        types[i].varying =
            ir::unite(types[i].varying, p.body->types[static_cast<std::size_t>(at - p.cond_consts)].varying);
      if (at >= first)
        types[i].varying =
            ir::unite(ir::unite(types[i].varying, of_predicate), results[static_cast<std::size_t>(at - first)].varying);
      in[i] = core::make_varying(in[i], types[i].varying);
    }
    std::vector<AxisNames> carries;
    for (i64 i = 0; i < carry; ++i) carries.push_back(types[static_cast<std::size_t>(first + i)].varying);
    Types of_cond(types.begin(), types.begin() + p.cond_consts);
    of_cond.insert(of_cond.end(), types.begin() + first, types.end());
    const ProgramPtr cond = vary_as(p.cond, of_cond, {});
    const ProgramPtr body = vary_as(p.body, Types(types.begin() + p.cond_consts, types.end()), carries);
    if (cond == p.cond && body == p.body) break;
    p.cond = cond;
    p.body = body;
  }
  const ProgramPtr both[] = {p.cond, p.body};
  refuse_varying_way("while_loop", p.cond->output_types()[0].varying, both);
  return core::bind(while_op, in, std::move(p));
}

}  // namespace uni::ops
