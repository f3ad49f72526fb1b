#include "base/text.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/control.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

namespace {
Types cond_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<CondParams>();
  if (p.branches.empty() || in.empty()) throw InternalError("cond: no branches or no index");
  if (in[0].dtype != Dtype::i32 || in[0].shape.rank() != 0)
    throw InternalError(cat("cond: the index is ", ir::to_string(in[0])));
  for (const ProgramPtr& b : p.branches) check_body("cond", b, in.subspan(1));
  Types out = p.branches[0]->output_types();
  for (const ProgramPtr& b : p.branches) {
    const Types more = b->output_types();
    if (more.size() != out.size()) throw InternalError("cond: the branches give different numbers of results");
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (more[i].dtype != out[i].dtype || more[i].shape != out[i].shape)
        throw InternalError(cat("cond: result ", i, " is ", ir::to_string(out[i]), " and ", ir::to_string(more[i]),
                                " in another branch"));
      out[i].varying = ir::unite(ir::unite(out[i].varying, more[i].varying), in[0].varying);
      out[i].weak = out[i].weak && more[i].weak;
    }
  }
  return out;
}

// One program per branch, made by `make`.
template <class Make>
CondParams each_branch(const CondParams& p, const Make& make) {
  CondParams out;
  for (const ProgramPtr& b : p.branches) out.branches.push_back(make(*b));
  return out;
}
Types without_index(const Arrays& in) { return core::types_of(std::span(in).subspan(1)); }

// Residuals of all branches in common slots: a branch uses one slot of the right type for each of its own.
struct ResidualSlots {
  Types types;
  std::vector<std::vector<std::size_t>> of_branch;

  void add(std::span<const Type> residuals) {
    std::vector<std::size_t> mine;
    std::vector<char> taken(types.size(), 0);
    for (const Type& t : residuals) {
      std::size_t s = 0;
      while (s < types.size() && (taken[s] || types[s].dtype != t.dtype || types[s].shape != t.shape)) ++s;
      if (s == types.size()) {
        types.push_back(t);
        taken.push_back(0);
      }
      types[s].varying = ir::unite(types[s].varying, t.varying);
      taken[s] = 1;
      mine.push_back(s);
    }
    of_branch.push_back(std::move(mine));
  }
};

class Cond final : public core::HigherOrder {
 public:
  constexpr Cond()
      : HigherOrder("cond", cond_type, ir::read_params<CondParams>, {.own_varying = true, .own_weak = true}) {}

  bool inlinable() const override { return false; }
  Arrays inline_body(std::span<const Array>, const Params&) const override {
    throw InternalError("cond: has no inline form");
  }

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    const auto& p = params.as<CondParams>();
    const Flags active = nonzero(tangents.subspan(1));
    Flags out_active(p.branches[0]->outputs.size(), false);
    for (const ProgramPtr& b : p.branches) unite(out_active, interp::jvp_program(*b, active).active);
    Arrays args(in.begin(), in.end());
    for (const Array& t : pick(tangents.subspan(1), active)) args.push_back(t);
    const std::size_t n = in.size() - 1;
    const auto branch = [&](const Program& b) {
      const Types outputs = b.output_types();
      return staged(
          [&](std::span<const Array> x) {
            Jvp r = interp::jvp([&](std::span<const Array> v) { return interp::interpret(b, v); }, x.first(n),
                                spread(x.subspan(n), active));
            append_active(r.out, r.tangent, out_active, outputs);
            return r.out;
          },
          without_index(args));
    };
    const Arrays results = bind_cond(each_branch(p, branch), args);
    const std::size_t outputs = out_active.size();
    return {Arrays(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs)),
            spread(std::span(results).subspan(outputs), out_active)};
  }

  core::Linearized linearize(std::span<const Array> in, const Flags& active_in, const Params& params) const override {
    const auto& p = params.as<CondParams>();
    const Flags active(active_in.begin() + 1, active_in.end());
    std::vector<interp::SplitProgram> splits;
    const std::size_t outputs = p.branches[0]->outputs.size();
    core::Linearized lin;
    lin.active.assign(outputs, false);
    ResidualSlots slots;
    for (const ProgramPtr& b : p.branches) {
      splits.push_back(interp::linearize_program(*b, active));
      unite(lin.active, splits.back().active);
      slots.add(std::span<const Type>(splits.back().primal->output_types()).subspan(outputs));
    }
    CondParams primal;
    for (std::size_t k = 0; k < splits.size(); ++k)
      primal.branches.push_back(with_slots(*splits[k].primal, outputs, slots, k));
    const Arrays results = bind_cond(primal, Arrays(in.begin(), in.end()));
    lin.out.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs));
    if (!any(lin.active)) return lin;

    lin.residuals = joined({in.first(1), std::span(results).subspan(outputs)});
    const Types result_types = core::types_of(lin.out);
    Types tangent_types = core::types_of(pick(in.subspan(1), active));
    const std::size_t tangents = tangent_types.size();
    CondParams linear;
    Types slot_types = core::types_of(std::span(lin.residuals).subspan(1));
    for (std::size_t k = 0; k < splits.size(); ++k)
      linear.branches.push_back(
          linear_branch(splits[k], slots.of_branch[k], tangent_types, slot_types, lin.active, result_types));
    Types all = tangent_types;
    for (const Array& r : lin.residuals) all.push_back(core::type_of(r));
    lin.op = &call;
    lin.params = CallParams{
        staged(
            [&](std::span<const Array> x) {
              return bind_cond(linear, joined({x.subspan(tangents, 1), x.first(tangents), x.subspan(tangents + 1)}));
            },
            all),
        "cond"};
    return lin;
  }

  Arrays transpose(std::span<const Array> cts, std::span<const Operand> operands, const Params& params) const override {
    const auto& p = params.as<CondParams>();
    if (operands[0].linear()) throw InternalError("cond: a linear index");
    const Flags active = nonzero(cts);
    Flags linear;
    Arrays args = joined({std::span<const Array>(&operands[0].value, 1), pick(cts, active)});
    Types linear_types;
    for (const Operand& o : operands.subspan(1)) {
      linear.push_back(o.linear());
      linear_types.push_back(o.type);
      if (!o.linear()) args.push_back(o.value);
    }
    Flags found(linear.size(), false);
    for (const ProgramPtr& b : p.branches) unite(found, interp::transpose_program(*b, linear, active).nonzero);
    const std::size_t count = pick(cts, active).size();
    const auto branch = [&](const Program& b) {
      return staged(
          [&](std::span<const Array> x) {
            std::vector<Operand> in;
            std::size_t next = count;
            for (std::size_t i = 0; i < linear.size(); ++i)
              in.push_back({linear[i] ? Array() : x[next++], linear_types[i]});
            Arrays out;
            append_active(out, interp::transpose(b, in, spread(x.first(count), active)), found, linear_types);
            return out;
          },
          without_index(args));
    };
    Arrays out = spread(any(found) ? bind_cond(each_branch(p, branch), args) : Arrays{}, found);
    out.insert(out.begin(), Array());
    return out;
  }

  Batch batch(const BatchArgs& args, const Params& params) const override {
    const auto& p = params.as<CondParams>();
    if (args.batched[0]) return select_branches(args, p);
    const Flags batched(args.batched.begin() + 1, args.batched.end());
    Flags out_batched(p.branches[0]->outputs.size(), false);
    const Arrays in(args.in.begin(), args.in.end());
    for (const ProgramPtr& b : p.branches) {
      Flags found;
      staged([&](std::span<const Array> x) { return batched_results(*b, x, batched, args, {}, &found); },
             without_index(in));
      unite(out_batched, found);
    }
    const auto branch = [&](const Program& b) {
      return staged([&](std::span<const Array> x) { return batched_results(b, x, batched, args, out_batched); },
                    without_index(in));
    };
    return {bind_cond(each_branch(p, branch), in), out_batched};
  }

  Pruned prune(const Params& params, const Flags& used, std::size_t inputs) const override {
    std::vector<Program> kept;
    Flags needed(inputs, false);
    needed[0] = true;
    for (const ProgramPtr& b : params.as<CondParams>().branches) {
      kept.push_back(keep_outputs(*b, used));
      unite(needed, joined({{false}, used_inputs(kept.back())}));
    }
    CondParams p;
    const Flags operands(needed.begin() + 1, needed.end());
    for (const Program& b : kept) p.branches.push_back(std::make_shared<const Program>(keep_inputs(b, operands)));
    return {p, needed, used};
  }

 private:
  static void unite(Flags& all, const Flags& more) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || more[i];
  }
  static void append_active(Arrays& out, const Arrays& tangents, const Flags& active, const Types& types) {
    for (std::size_t i = 0; i < active.size(); ++i)
      if (active[i]) out.push_back(instantiate(tangents[i], types[i]));
  }

  static ProgramPtr with_slots(const Program& primal, std::size_t outputs, const ResidualSlots& slots, std::size_t k) {
    return staged(
        [&](std::span<const Array> x) {
          const Arrays all = interp::interpret(primal, x);
          Arrays out(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs));
          for (const Type& t : slots.types) out.push_back(zeros_of(t));
          for (std::size_t i = 0; i < slots.of_branch[k].size(); ++i)
            out[outputs + slots.of_branch[k][i]] = all[outputs + i];
          return out;
        },
        primal.input_types());
  }

  static ProgramPtr linear_branch(const interp::SplitProgram& split, const std::vector<std::size_t>& mine,
                                  const Types& tangents, const Types& slots, const Flags& active,
                                  const Types& results) {
    Types types = tangents;
    types.insert(types.end(), slots.begin(), slots.end());
    return staged(
        [&](std::span<const Array> x) {
          Arrays in(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(tangents.size()));
          for (const std::size_t s : mine) in.push_back(x[tangents.size() + s]);
          Arrays out;
          append_active(out, spread(interp::interpret(*split.linear, in), split.active), active, results);
          return out;
        },
        types);
  }

  // Lanes differ: every branch runs on all of them. Where a lane takes another branch its operands carry no derivative,
  // so that an infinite one there does not become NaN.
  static Batch select_branches(const BatchArgs& args, const CondParams& p) {
    const auto last = static_cast<i64>(p.branches.size()) - 1;
    const Array index =
        lax::clamp(lax::full_like(args.in[0], 0), args.in[0], lax::full_like(args.in[0], static_cast<double>(last)));
    Arrays out;
    for (i64 k = 0; k <= last; ++k) {
      const Array taken = lax::eq(index, lax::full_like(index, static_cast<double>(k)));
      Arrays in;
      for (std::size_t i = 1; i < args.in.size(); ++i) {
        const Array x = with_batch(args, i);
        in.push_back(is_inexact(core::type_of(x).dtype) ? choose(taken, x, lax::stop_gradient(x)) : x);
      }
      const Program& b = *p.branches[static_cast<std::size_t>(k)];
      const Arrays results = batched_results(b, in, Flags(in.size(), true), args, Flags(b.outputs.size(), true));
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (k == 0)
          out.push_back(results[i]);
        else
          out[i] = choose(taken, results[i], out[i]);
      }
    }
    return all_batched(std::move(out));
  }
  static Array choose(const Array& lanes, const Array& yes, const Array& no) {
    return lax::select(lax::broadcast_in_dim(lanes, core::type_of(yes).shape, {0}), yes, no);
  }
};
constinit const Cond cond_op;
}  // namespace

constinit const core::HigherOrder& cond = cond_op;

Arrays bind_cond(CondParams p, Arrays in) {
  Types types = without_index(in);
  for (const ProgramPtr& b : p.branches)
    for (std::size_t i = 0; i < types.size(); ++i) types[i].varying = ir::unite(types[i].varying, b->types[i].varying);
  for (std::size_t i = 0; i < types.size(); ++i) in[i + 1] = core::make_varying(in[i + 1], types[i].varying);
  // Results vary alike in all branches, and as the index does: their cotangents are then of one type.
  std::vector<AxisNames> varying(p.branches[0]->outputs.size(), core::type_of(in[0]).varying);
  for (ProgramPtr& b : p.branches) {
    b = vary_as(b, types, {});
    const Types out = b->output_types();
    for (std::size_t i = 0; i < out.size(); ++i) varying[i] = ir::unite(varying[i], out[i].varying);
  }
  for (ProgramPtr& b : p.branches) b = vary_as(b, types, varying);
  refuse_varying_way("cond", core::type_of(in[0]).varying, p.branches);
  return core::bind(cond_op, in, std::move(p));
}

}  // namespace uni::ops
