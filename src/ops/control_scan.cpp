#include <algorithm>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/control.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
i64 count(const Flags& f) { return static_cast<i64>(std::count(f.begin(), f.end(), true)); }

Type stacked(Type t, i64 length) {
  t.shape.insert(0, length);
  return t;
}
Type element(Type t) {
  t.shape.erase(0);
  return t;
}
i64 xs_count(const ScanParams& p) { return p.body->inputs - p.consts - p.carry; }

Types scan_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<ScanParams>();
  if (!p.body || p.length < 0 || static_cast<i64>(in.size()) < p.consts + p.carry)
    throw InternalError("scan: parameters do not fit");
  Types of_body(in.begin(), in.begin() + p.consts + p.carry);
  for (const Type& t : in.subspan(of_body.size())) {
    if (t.shape.rank() == 0 || t.shape[0] != p.length)
      throw InternalError(cat("scan: ", ir::to_string(t), " has no axis 0 of size ", p.length));
    of_body.push_back(element(t));
  }
  check_body("scan", p.body, of_body);
  check_carry("scan", *p.body, p.consts, p.carry);
  Types out = p.body->output_types();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i >= at(p.carry)) {
      out[i] = stacked(out[i], p.length);
      continue;
    }
    const bool weak = out[i].weak;
    out[i] = p.body->types[at(p.consts) + i];
    out[i].weak = out[i].weak && weak;
  }
  return out;
}

// Carries that get a tangent in some step. `active` is by input of the body.
void grow_active(const ScanParams& p, Flags& active) {
  for (bool changed = true; changed;) {
    changed = false;
    const Flags out = interp::jvp_program(*p.body, active).active;
    for (std::size_t i = 0; i < at(p.carry); ++i) {
      const std::size_t c = at(p.consts) + i;
      changed = changed || (out[i] && !active[c]);
      active[c] = active[c] || out[i];
    }
  }
}

// The body split for reverse mode. Residuals that no step changes are computed once, in front of the loop; those that
// are a slice of xs are read from there; the others are stacked.
struct SplitBody {
  interp::SplitProgram split;
  enum class Kind : std::uint8_t { invariant, input, saved };
  std::vector<Kind> kinds;                // by residual
  std::vector<i64> inputs;                // by residual: which of xs
  std::vector<ir::Var> invariant, saved;  // variables of the primal program
};
SplitBody split_body(const ScanParams& p, const Flags& active) {
  SplitBody s{interp::linearize_program(*p.body, active), {}, {}, {}, {}};
  const Program& primal = *s.split.primal;
  Flags varies(primal.types.size(), false);
  for (i64 v = p.consts; v < primal.inputs; ++v) varies[at(v)] = true;
  for (const ir::Eqn& e : primal.eqns) {
    bool any_in = e.op->traits.effect != ir::Effect::none;
    for (ir::Var v : e.in) any_in = any_in || varies[at(v)];
    for (ir::Var v : e.out) varies[at(v)] = any_in;
  }
  for (std::size_t i = primal.outputs.size() - s.split.residuals; i < primal.outputs.size(); ++i) {
    const ir::Var v = primal.outputs[i];
    const i64 x = v - p.consts - p.carry;
    s.inputs.push_back(x);
    if (!varies[at(v)]) {
      s.kinds.push_back(SplitBody::Kind::invariant);
      s.invariant.push_back(v);
    } else if (x >= 0 && v < primal.inputs) {
      s.kinds.push_back(SplitBody::Kind::input);
    } else {
      s.kinds.push_back(SplitBody::Kind::saved);
      s.saved.push_back(v);
    }
  }
  return s;
}
// The values of `vars`, which depend on the constants only.
Arrays hoisted(const Program& primal, std::span<const Array> consts, const std::vector<ir::Var>& vars) {
  Program p = primal;
  p.outputs = vars;
  p = ir::remove_dead_code(p);
  Flags keep(at(p.inputs), false);
  std::fill(keep.begin(), keep.begin() + static_cast<std::ptrdiff_t>(consts.size()), true);
  return interp::interpret(keep_inputs(p, keep), consts);
}

class Scan final : public core::HigherOrder {
 public:
  constexpr Scan()
      : HigherOrder("scan", scan_type, ir::read_params<ScanParams>, {.own_varying = true, .own_weak = true}) {}

  bool inlinable() const override { return false; }
  Arrays inline_body(std::span<const Array>, const Params&) const override {
    throw InternalError("scan: has no inline form");
  }

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    const auto& p = params.as<ScanParams>();
    const i64 xs = xs_count(p), first_x = p.consts + p.carry;
    Flags active = nonzero(tangents);
    grow_active(p, active);
    const Flags c = part(active, 0, p.consts), k = part(active, p.consts, p.carry), x = part(active, first_x, xs);
    Arrays carry_tangents;
    for (i64 i = p.consts; i < first_x; ++i)
      if (active[at(i)]) carry_tangents.push_back(instantiate(tangents[at(i)], core::type_of(in[at(i)])));
    const Arrays args =
        joined({part(in, 0, p.consts), pick(part(tangents, 0, p.consts), c), part(in, p.consts, p.carry),
                carry_tangents, part(in, first_x, xs), pick(part(tangents, first_x, xs), x)});
    ScanParams both = p;
    both.consts += count(c);
    both.carry += count(k);
    Flags y;
    const auto body = [&](std::span<const Array> v) {
      i64 next = 0;
      const auto take = [&](i64 n) { return part(v, std::exchange(next, next + n), n); };
      const auto cp = take(p.consts), ct = take(count(c)), kp = take(p.carry), kt = take(count(k)), xp = take(xs),
                 xt = take(count(x));
      Jvp r = interp::jvp([&](std::span<const Array> b) { return interp::interpret(*p.body, b); }, joined({cp, kp, xp}),
                          joined({spread(ct, c), spread(kt, k), spread(xt, x)}));
      y = nonzero(std::span(r.tangent).subspan(at(p.carry)));
      Arrays out(r.out.begin(), r.out.begin() + p.carry);
      for (i64 i = 0; i < p.carry; ++i)
        if (k[at(i)]) out.push_back(instantiate(r.tangent[at(i)], p.body->types[at(p.consts + i)]));
      return joined({out, std::span(r.out).subspan(at(p.carry)), pick(std::span(r.tangent).subspan(at(p.carry)), y)});
    };
    both.body = staged(body, body_types(args, both));
    const Arrays r = bind_scan(both, args);
    const i64 ys = static_cast<i64>(y.size());
    return {joined({part(r, 0, p.carry), part(r, both.carry, ys)}),
            joined({spread(part(r, p.carry, count(k)), k), spread(part(r, both.carry + ys, count(y)), y)})};
  }

  core::Linearized linearize(std::span<const Array> in, const Flags& active_in, const Params& params) const override {
    const auto& p = params.as<ScanParams>();
    Flags active = active_in;
    grow_active(p, active);
    const SplitBody s = split_body(p, active);
    const Program& primal = *s.split.primal;
    const std::size_t outputs = s.split.active.size();

    ScanParams forward = p;
    Program body = primal;
    body.outputs.resize(outputs);
    body.outputs.insert(body.outputs.end(), s.saved.begin(), s.saved.end());
    forward.body = std::make_shared<const Program>(ir::remove_dead_code(body));
    const Arrays results = bind_scan(forward, Arrays(in.begin(), in.end()));

    core::Linearized lin;
    lin.out.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs));
    lin.active = s.split.active;
    for (i64 i = 0; i < p.carry; ++i) lin.active[at(i)] = active[at(p.consts + i)];
    if (!any(lin.active)) return lin;
    // Residuals of the linear side: constant ones, then those with an axis of steps.
    lin.residuals = hoisted(primal, in.first(at(p.consts)), s.invariant);
    std::size_t next = outputs;
    for (std::size_t i = 0; i < s.kinds.size(); ++i) {
      if (s.kinds[i] == SplitBody::Kind::input) lin.residuals.push_back(in[at(p.consts + p.carry + s.inputs[i])]);
      if (s.kinds[i] == SplitBody::Kind::saved) lin.residuals.push_back(results[next++]);
    }
    lin.op = &call;
    lin.params = CallParams{
        linear_call(p, s, active_in, active, core::types_of(in), core::types_of(lin.residuals), lin.active), "scan"};
    return lin;
  }

  Arrays transpose(std::span<const Array> cts, std::span<const Operand> operands, const Params& params) const override {
    const auto& p = params.as<ScanParams>();
    const i64 xs = xs_count(p), first_x = p.consts + p.carry;
    // A carry that starts at a known value is linear in the loop all the same: its cotangent goes nowhere.
    Flags linear;
    for (const Operand& o : operands) linear.push_back(o.linear());
    std::fill(linear.begin() + p.consts, linear.begin() + first_x, true);
    const Flags c = part(linear, 0, p.consts), x = part(linear, first_x, xs);
    const Flags y = nonzero(cts.subspan(at(p.carry)));
    Arrays known_consts, known_xs, carry, sums;
    for (i64 i = 0; i < p.carry; ++i) carry.push_back(instantiate(cts[at(i)], operands[at(p.consts + i)].type));
    for (i64 i = 0; i < static_cast<i64>(operands.size()); ++i) {
      if (!linear[at(i)]) (i < p.consts ? known_consts : known_xs).push_back(operands[at(i)].value);
      if (linear[at(i)] && i < p.consts) sums.push_back(zeros_of(operands[at(i)].type));
    }
    const Arrays args = joined({known_consts, carry, sums, pick(cts.subspan(at(p.carry)), y), known_xs});
    ScanParams back = p;
    back.reverse = !p.reverse;
    back.consts = static_cast<i64>(known_consts.size());
    back.carry = p.carry + count(c);
    const auto body = [&](std::span<const Array> v) {
      i64 next = 0;
      const auto take = [&](i64 n) { return part(v, std::exchange(next, next + n), n); };
      const auto kc = take(back.consts), ct = take(p.carry), acc = take(count(c)), ty = take(count(y)),
                 kx = take(static_cast<i64>(known_xs.size()));
      std::vector<Operand> in;
      std::size_t next_const = 0, next_x = 0;
      for (i64 i = 0; i < p.body->inputs; ++i) {
        const Type& t = p.body->types[at(i)];
        if (linear[at(i)])
          in.push_back({Array(), t});
        else
          in.push_back({i < p.consts ? kc[next_const++] : kx[next_x++], t});
      }
      const Arrays r = interp::transpose(*p.body, in, joined({ct, spread(ty, y)}));
      Arrays out;
      for (i64 i = p.consts; i < first_x; ++i) out.push_back(instantiate(r[at(i)], p.body->types[at(i)]));
      std::size_t sum = 0;
      for (i64 i = 0; i < p.consts; ++i)
        if (c[at(i)]) out.push_back(core::add_tangents(acc[sum++], r[at(i)]));
      for (i64 i = 0; i < xs; ++i)
        if (x[at(i)]) out.push_back(instantiate(r[at(first_x + i)], p.body->types[at(first_x + i)]));
      return out;
    };
    back.body = staged(body, body_types(args, back));
    const Arrays r = bind_scan(back, args);
    return joined(
        {spread(part(r, p.carry, count(c)), c), part(r, 0, p.carry), spread(part(r, back.carry, count(x)), x)});
  }

  Batch batch(const BatchArgs& args, const Params& params) const override {
    ScanParams p = params.as<ScanParams>();
    const i64 xs = xs_count(p), first_x = p.consts + p.carry;
    Flags batched = args.batched, out;
    for (;;) {
      const Flags before = batched;
      out = interp::batch_program(*p.body, batched, {args.size, args.axis_name}).batched;
      for (i64 i = 0; i < p.carry; ++i) batched[at(p.consts + i)] = batched[at(p.consts + i)] || out[at(i)];
      if (batched == before) break;
    }
    for (i64 i = 0; i < p.carry; ++i) out[at(i)] = batched[at(p.consts + i)];
    Arrays in(args.in.begin(), args.in.end());
    for (i64 i = p.consts; i < first_x; ++i)
      if (batched[at(i)]) in[at(i)] = force_batched(in[at(i)], args.batched[at(i)], args.size);
    for (i64 i = first_x; i < first_x + xs; ++i)
      if (batched[at(i)]) in[at(i)] = lax::move_axis(in[at(i)], 0, 1);
    const Program& body = *params.as<ScanParams>().body;
    p.body = staged([&](std::span<const Array> v) { return batched_results(body, v, batched, args, out); },
                    body_types(in, p));
    Arrays results = bind_scan(p, in);
    for (std::size_t i = at(p.carry); i < results.size(); ++i)
      if (out[i]) results[i] = lax::move_axis(results[i], 1, 0);
    return {results, out};
  }

  Pruned prune(const Params& params, const Flags& used, std::size_t) const override {
    ScanParams p = params.as<ScanParams>();
    Flags outputs = used, inputs;
    Program body;
    for (;;) {
      const Flags before = outputs;
      body = keep_outputs(*p.body, outputs);
      inputs = used_inputs(body);
      for (i64 i = 0; i < p.carry; ++i) {
        outputs[at(i)] = outputs[at(i)] || inputs[at(p.consts + i)];
        inputs[at(p.consts + i)] = outputs[at(i)];
      }
      if (outputs == before) break;
    }
    p.body = std::make_shared<const Program>(keep_inputs(body, inputs));
    const i64 consts = count(part(inputs, 0, p.consts)), carry = count(part(inputs, p.consts, p.carry));
    p.consts = consts;
    p.carry = carry;
    return {p, inputs, outputs};
  }

 private:
  // Types of the body's inputs for these operands.
  static Types body_types(const Arrays& args, const ScanParams& p) {
    Types types = core::types_of(args);
    for (std::size_t i = at(p.consts + p.carry); i < types.size(); ++i) types[i] = element(types[i]);
    return types;
  }

  // (tangents that are not zero, residuals) -> tangents of the active results, as a scan.
  static ProgramPtr linear_call(const ScanParams& p, const SplitBody& s, const Flags& active_in, const Flags& active,
                                const Types& in, const Types& residuals, const Flags& results) {
    const i64 xs = xs_count(p), first_x = p.consts + p.carry;
    const Flags c = part(active, 0, p.consts), k = part(active, p.consts, p.carry), x = part(active, first_x, xs);
    const i64 invariant = static_cast<i64>(s.invariant.size());
    ScanParams linear = p;
    linear.consts = count(c) + invariant;
    linear.carry = count(k);
    const auto body = [&](std::span<const Array> v) {
      i64 next = 0;
      const auto take = [&](i64 n) { return part(v, std::exchange(next, next + n), n); };
      const auto ct = take(count(c)), once = take(invariant), kt = take(count(k)), xt = take(count(x)),
                 each = take(static_cast<i64>(residuals.size()) - invariant);
      Arrays args = joined({ct, kt, xt});
      std::size_t next_once = 0, next_each = 0;
      for (const SplitBody::Kind kind : s.kinds)
        args.push_back(kind == SplitBody::Kind::invariant ? once[next_once++] : each[next_each++]);
      const Arrays r = spread(interp::interpret(*s.split.linear, args), s.split.active);
      Arrays out;
      for (std::size_t i = 0; i < r.size(); ++i) {
        if (!results[i]) continue;
        out.push_back(i < at(p.carry) ? instantiate(r[i], p.body->types[at(p.consts) + i]) : r[i]);
      }
      return out;
    };
    Types types;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (active_in[i]) types.push_back(in[i]);
    types.insert(types.end(), residuals.begin(), residuals.end());
    const auto whole = [&](std::span<const Array> v) {
      Arrays ct, kt, xt;
      std::size_t next = 0;
      for (i64 i = 0; i < first_x + xs; ++i) {
        if (!active[at(i)]) continue;
        Arrays& to = i < p.consts ? ct : i < first_x ? kt : xt;
        to.push_back(active_in[at(i)] ? v[next++] : zeros_of(in[at(i)]));
      }
      const std::span<const Array> rest = v.subspan(next);
      const Arrays args = joined({ct, part(rest, 0, invariant), kt, xt, rest.subspan(at(invariant))});
      ScanParams bound = linear;
      bound.body = staged(body, body_types(args, linear));
      return bind_scan(bound, args);
    };
    return staged(whole, types);
  }
};
constinit const Scan scan_op;
}  // namespace

constinit const core::HigherOrder& scan = scan_op;

Arrays bind_scan(ScanParams p, Arrays in) {
  for (;;) {
    Types types = core::types_of(in);
    const Types results = p.body->output_types();
    std::vector<AxisNames> carries;
    for (std::size_t i = 0; i < in.size(); ++i) {
      AxisNames varying = ir::unite(types[i].varying, p.body->types[i].varying);
      if (i >= at(p.consts) && i < at(p.consts + p.carry)) {
        varying = ir::unite(varying, results[i - at(p.consts)].varying);
        carries.push_back(varying);
      }
      in[i] = core::make_varying(in[i], varying);
      types[i].varying = std::move(varying);
      if (i >= at(p.consts + p.carry)) types[i] = element(types[i]);
    }
    const ProgramPtr body = vary_as(p.body, types, carries);
    if (body == p.body) break;
    p.body = body;
  }
  return core::bind(scan_op, in, std::move(p));
}

}  // namespace uni::ops
