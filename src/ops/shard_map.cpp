#include "ops/shard_map.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/call.hpp"
#include "ops/collectives.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

std::vector<core::Axis> region_axes(const ShardMapParams& p) {
  std::vector<core::Axis> axes;
  for (const MeshAxis& a : p.mesh.axes())
    axes.push_back({a.name, a.size, p.typed ? core::Axis::Kind::typed : core::Axis::Kind::pmap});
  return axes;
}

AxisNames spec_axes(const P& spec) {
  AxisNames names;
  for (const SpecDim& d : spec.dims()) names.insert(names.end(), d.names().begin(), d.names().end());
  return names;
}

static i64 blocks(const P& spec, int dim, const Mesh& mesh) {
  i64 n = 1;
  for (const std::string& name : spec.axes(dim)) n *= mesh.size(name);
  return n;
}

Type local_type(const Type& global, const P& spec, const Mesh& mesh) {
  Type local = global;
  for (int d = 0; d < local.shape.rank(); ++d) {
    const i64 n = blocks(spec, d, mesh);
    if (local.shape[d] % n != 0)
      throw ShapeError(cat("axis ", d, " of ", ir::to_string(global), " has size ", local.shape[d], ", which ", n,
                           " devices of ", to_string(spec), " do not divide"));
    local.shape[d] /= n;
  }
  return local;
}

Type global_type(const Type& local, const P& spec, const Mesh& mesh) {
  Type global = local;
  for (int d = 0; d < global.shape.rank(); ++d) global.shape[d] *= blocks(spec, d, mesh);
  AxisNames names;
  for (const MeshAxis& a : mesh.axes()) names.push_back(a.name);
  global.varying = ir::subtract(global.varying, names);
  return global;
}

namespace {
Types shard_map_type(std::span<const Type> in, const Params& params) {
  const auto& p = params.as<ShardMapParams>();
  if (p.in.size() != in.size())
    throw InternalError(cat("shard_map: ", p.in.size(), " specs for ", in.size(), " operands"));
  Types local;
  for (std::size_t i = 0; i < in.size(); ++i) {
    Type t = local_type(in[i], p.in[i], p.mesh);
    t.varying.clear();
    local.push_back(std::move(t));
  }
  check_body("shard_map", p.body, local);
  const Types body_out = p.body->output_types();
  if (p.out.size() != body_out.size())
    throw InternalError(cat("shard_map: ", p.out.size(), " specs for ", body_out.size(), " results"));
  Types out;
  for (std::size_t i = 0; i < p.out.size(); ++i) out.push_back(global_type(body_out[i], p.out[i], p.mesh));
  return out;
}

AxisNames mesh_axes(const ShardMapParams& p) {
  AxisNames names;
  for (const MeshAxis& a : p.mesh.axes()) names.push_back(a.name);
  return names;
}

// How a residual leaves the region: invariant ones whole; others get a leading dimension split over the axes they vary
// over, so that each device keeps its own.
AxisNames residual_axes(const ShardMapParams& p, const Type& local) {
  if (!p.typed) return mesh_axes(p);
  AxisNames names;
  for (const std::string& n : mesh_axes(p))
    if (ir::contains(local.varying, n)) names.push_back(n);
  return names;
}
P residual_spec(const AxisNames& axes) { return axes.empty() ? P{} : P(std::vector<SpecDim>{SpecDim(axes)}); }

template <class T>
std::vector<T> pick_by(const std::vector<T>& all, const std::vector<bool>& which) {
  std::vector<T> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (which[i]) out.push_back(all[i]);
  return out;
}

P with_leading_dim(const P& spec) {
  std::vector<SpecDim> dims = spec.dims();
  dims.insert(dims.begin(), SpecDim{});
  return P(std::move(dims));
}

class ShardMap final : public core::HigherOrder {
 public:
  constexpr ShardMap()
      : HigherOrder("shard_map", shard_map_type, ir::read_params<ShardMapParams>,
                    {.own_varying = true, .own_weak = true}) {}

  bool inlinable() const override { return false; }

  Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const override {
    ShardMapParams p = params.as<ShardMapParams>();
    const std::vector<bool> active = nonzero(tangents);
    interp::JvpProgram j;
    {
      const core::WithAxes axes(region_axes(p));
      j = interp::jvp_program(*p.body, active);
    }
    Arrays args(in.begin(), in.end());
    for (const Array& t : pick(tangents, active)) args.push_back(t);
    for (const P& s : pick_by(p.in, active)) p.in.push_back(s);
    const std::size_t n = p.out.size();
    for (const P& s : pick_by(std::vector<P>(p.out), j.active)) p.out.push_back(s);
    p.body = j.program;
    const Arrays results = core::bind(*this, args, p);
    return {Arrays(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(n)),
            spread(std::span(results).subspan(n), j.active)};
  }

  core::Linearized linearize(std::span<const Array> in, const std::vector<bool>& active,
                             const Params& params) const override {
    const auto& p = params.as<ShardMapParams>();
    const core::WithAxes axes(region_axes(p));
    const interp::SplitProgram split = interp::linearize_program(*p.body, active);
    const std::size_t outputs = split.active.size();
    const Types primal_types = split.primal->output_types();
    std::vector<AxisNames> names;
    for (std::size_t i = outputs; i < primal_types.size(); ++i) names.push_back(residual_axes(p, primal_types[i]));

    ShardMapParams primal = p;
    primal.body = lead_residuals(*split.primal, outputs, names);
    for (const AxisNames& n : names) primal.out.push_back(residual_spec(n));
    const Arrays results = bind_outside(primal, Arrays(in.begin(), in.end()));

    core::Linearized lin;
    lin.out.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(outputs));
    lin.active = split.active;
    if (split.linear->outputs.empty()) return lin;
    ShardMapParams linear = p;
    linear.body = drop_residual_dims(*split.linear, names);
    linear.in = pick_by(p.in, active);
    for (const AxisNames& n : names) linear.in.push_back(residual_spec(n));
    linear.out = pick_by(p.out, split.active);
    lin.op = this;
    lin.params = std::move(linear);
    lin.residuals.assign(results.begin() + static_cast<std::ptrdiff_t>(outputs), results.end());
    return lin;
  }

  Arrays transpose(std::span<const Array> cts, std::span<const Operand> operands, const Params& params) const override {
    const auto& p = params.as<ShardMapParams>();
    const std::vector<bool> active = nonzero(cts);
    std::vector<bool> linear;
    Arrays args = pick(cts, active);
    ShardMapParams back = p;
    back.in = pick_by(p.out, active);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      linear.push_back(operands[i].linear());
      if (operands[i].linear()) continue;
      args.push_back(operands[i].value);
      back.in.push_back(p.in[i]);
    }
    interp::TransposedProgram t;
    {
      const core::WithAxes axes(region_axes(p));
      t = interp::transpose_program(*p.body, linear, active);
      if (!p.typed)
        t.program = with_unchecked_boundaries(*t.program, p, pick_by(p.out, active), pick_by(p.in, t.nonzero));
    }
    back.out = pick_by(p.in, t.nonzero);
    back.body = t.program;
    if (t.program->outputs.empty()) return Arrays(operands.size());
    return spread(core::bind(*this, args, back), t.nonzero);
  }

  Batch batch(const BatchArgs& args, const Params& params) const override {
    ShardMapParams p = params.as<ShardMapParams>();
    const std::string outer = p.mesh.has(args.axis_name) ? "" : args.axis_name;  // an inner axis hides the vmap's
    interp::BatchedProgram b;
    {
      const core::WithAxes axes(region_axes(p));
      b = interp::batch_program(*p.body, args.batched, {args.size, outer});
    }
    for (std::size_t i = 0; i < p.in.size(); ++i)
      if (args.batched[i]) p.in[i] = with_leading_dim(p.in[i]);
    for (std::size_t i = 0; i < p.out.size(); ++i)
      if (b.batched[i]) p.out[i] = with_leading_dim(p.out[i]);
    p.body = b.program;
    return {core::bind(*this, args.in, p), b.batched};
  }

  Arrays inline_body(std::span<const Array>, const Params&) const override {
    throw InternalError("shard_map: a manual region has no inline form");
  }

  Pruned prune(const Params& params, const std::vector<bool>& used, std::size_t) const override {
    ShardMapParams p = params.as<ShardMapParams>();
    const PrunedBody b = prune_body(*p.body, used);
    p.in = pick_by(p.in, b.inputs);
    p.out = pick_by(p.out, used);
    p.body = b.program;
    return {p, b.inputs, used};
  }

 private:
  // The operation itself stands outside the region, hence outside its axes.
  static Arrays bind_outside(const ShardMapParams& p, const Arrays& in) { return core::bind(shard_map, in, p); }

  static ProgramPtr lead_residuals(const Program& primal, std::size_t outputs, const std::vector<AxisNames>& names) {
    const auto body = [&](std::span<const Array> in) {
      Arrays out = interp::interpret(primal, in);
      for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) out[outputs + i] = lax::expand_dims(out[outputs + i], 0);
      return out;
    };
    return interp::stage(body, primal.input_types(), "shard_map").program;
  }

  static ProgramPtr drop_residual_dims(const Program& linear, const std::vector<AxisNames>& names) {
    Types types = linear.input_types();
    const std::size_t first = types.size() - names.size();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty()) types[first + i].shape.insert(0, 1);
    const auto body = [&](std::span<const Array> in) {
      Arrays args(in.begin(), in.end());
      for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) args[first + i] = lax::squeeze(args[first + i], 0);
      return interp::interpret(linear, args);
    };
    return interp::stage(body, types, "shard_map").program;
  }

  // Unchecked regions: the cotangent of an output that is not split over an axis is shared out among its devices, and
  // the cotangents of an input that is not split are summed.
  static ProgramPtr with_unchecked_boundaries(const Program& t, const ShardMapParams& p, const std::vector<P>& cts,
                                              const std::vector<P>& results) {
    const auto missing = [&](const P& spec) { return ir::subtract(mesh_axes(p), spec_axes(spec)); };
    const auto body = [&](std::span<const Array> in) {
      Arrays args(in.begin(), in.end());
      for (std::size_t i = 0; i < cts.size(); ++i) {
        const AxisNames axes = missing(cts[i]);
        if (axes.empty()) continue;
        const double share = static_cast<double>(p.mesh.size(AxisName(axes)));
        args[i] = lax::div(args[i], lax::full_like(args[i], share));
      }
      Arrays out = interp::interpret(t, args);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const AxisNames axes = missing(results[i]);
        if (!axes.empty()) out[i] = lax::psum(out[i], axes);
      }
      return out;
    };
    return interp::stage(body, t.input_types(), "shard_map").program;
  }
};
constinit const ShardMap shard_map_op;
}  // namespace

constinit const core::HigherOrder& shard_map = shard_map_op;

}  // namespace uni::ops
