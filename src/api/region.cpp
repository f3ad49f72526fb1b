// pmap and shard_map: argument checks, the traced body, one shard_map operation.
#include <algorithm>

#include "api/axes.hpp"
#include "base/text.hpp"
#include "interp/stage.hpp"
#include "ops/call.hpp"
#include "ops/collectives.hpp"
#include "ops/replication.hpp"
#include "ops/shard_map.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>
#include <unisono/parallel.hpp>

namespace uni::detail {

using base::cat;
using ops::ShardMapParams;

// A region as a flat function of its arguments' leaves: binds shard_map under the current trace.
class RegionCore {
 public:
  explicit RegionCore(JitOptions options = {}) : jit(make_jit_core(std::move(options))) {}
  virtual ~RegionCore() = default;
  virtual Arrays bind(const RegionCall& call, std::span<const Array> leaves, FlatFunction f) const = 0;
  const std::shared_ptr<JitCore> jit;
};

namespace {
P split_at(int dim, const std::string& axis) {
  std::vector<SpecDim> dims(static_cast<std::size_t>(dim) + 1);
  dims.back() = SpecDim(axis);
  return P(std::move(dims));
}

// The body's program, its operands (arguments, then what it captured) and how they are split.
struct Body {
  interp::Staged staged;
  std::vector<bool> defined;  // by result leaf
};
Body trace_body(const ShardMapParams& p, const ir::Types& local, FlatFunction body, const char* name) {
  Body out;
  const core::WithAxes axes(ops::region_axes(p));
  const auto f = [&](std::span<const Array> in) {
    Arrays results;
    for (const Array& r : body(in)) {
      out.defined.push_back(r.defined());
      if (r.defined()) results.push_back(r);
    }
    return results;
  };
  out.staged = interp::stage(f, local, name);
  return out;
}
Arrays spread_results(const Arrays& results, const std::vector<bool>& defined) {
  Arrays out;
  std::size_t next = 0;
  for (const bool d : defined) out.push_back(d ? results[next++] : Array());
  return out;
}

// ---- pmap
class PmapCore final : public RegionCore {
 public:
  explicit PmapCore(PmapOptions options) : options_(std::move(options)) {}

  Arrays bind(const RegionCall& call, std::span<const Array> leaves, FlatFunction f) const override {
    const api::MappedArguments mapped = arguments(call, leaves);
    ShardMapParams p;
    p.mesh = mesh(mapped.size);
    p.typed = false;
    p.name = "pmap";
    const std::string axis = p.mesh.axes()[0].name;
    Arrays operands;
    ir::Types local;
    std::vector<AxisSpec> squeezed;
    for (const api::MappedLeaf& leaf : mapped.leaves) {
      if (!leaf.value.defined()) continue;
      operands.push_back(leaf.value);
      p.in.push_back(leaf.axis ? split_at(*leaf.axis, axis) : P{});
      local.push_back(ops::local_type(core::type_of(leaf.value), p.in.back(), p.mesh));
      squeezed.push_back(leaf.axis);
    }
    const auto body = [&](std::span<const Array> in) {
      Arrays all;
      std::size_t next = 0;
      for (const api::MappedLeaf& leaf : mapped.leaves) {
        if (!leaf.value.defined()) {
          all.emplace_back();
          continue;
        }
        all.push_back(squeezed[next] ? lax::squeeze(in[next], *squeezed[next]) : in[next]);
        ++next;
      }
      Arrays results = f(all);
      p.out.clear();
      place_results(results, api::result_axes("pmap", options_.out_axes, call.result_leaves()), axis, p);
      return results;
    };
    const Body traced = trace_body(p, local, body, "pmap");
    p.body = traced.staged.program;
    check_replicated(p);
    for (const Array& c : traced.staged.captured) {
      operands.push_back(c);
      p.in.emplace_back();
    }
    return spread_results(core::bind(ops::shard_map, operands, p), traced.defined);
  }

 private:
  api::MappedArguments arguments(const RegionCall& call, std::span<const Array> leaves) const {
    api::MappedArguments m = api::map_arguments("pmap", call.args, options_.in_axes, options_.axis_size);
    for (std::size_t i = 0; i < m.leaves.size(); ++i) m.leaves[i].value = leaves[i];
    return m;
  }

  Mesh mesh(i64 size) const {
    const std::string axis = options_.axis.empty() ? "pmap axis" : options_.axis;
    if (size < 1) throw ShapeError(cat("pmap: the mapped arguments have ", size, " rows; at least 1 is needed"));
    i64 outer = 1;  // regions nest: their devices multiply
    for (const core::Axis& a : core::axis_env())
      if (a.kind != core::Axis::Kind::vmap) outer *= a.size;
    if (size > device_count() || size * outer > device_count())
      throw ShardingError(
          cat("pmap: ", size, outer > 1 ? cat(" rows inside regions over ", outer, " devices") : " rows", " need ",
              size * outer, " devices, there are ", device_count(), "\nfix: set_device_count(", size * outer, ")"));
    std::vector<int> devices = options_.devices;
    if (!devices.empty() && static_cast<i64>(devices.size()) != size)
      throw ShardingError(cat("pmap: ", devices.size(), " devices are named, the arguments map ", size, " rows"));
    for (const int d : devices)
      if (d < 0 || d >= device_count())
        throw ShardingError(cat("pmap: there is no device ", d, ", there are ", device_count()));
    for (i64 d = 0; devices.empty() && d < size; ++d) devices.push_back(static_cast<int>(d));
    while (static_cast<i64>(devices.size()) < size) devices.push_back(static_cast<int>(devices.size()));
    return Mesh({{axis, size}}, devices);
  }

  static void place_results(Arrays& results, const std::vector<AxisSpec>& axes, const std::string& axis,
                            ShardMapParams& p) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) continue;
      if (!axes[i]) {
        p.out.emplace_back();
        continue;
      }
      const int dim = api::wrapped_axis("pmap: out_axes", *axes[i], results[i].rank() + 1, results[i]);
      results[i] = lax::expand_dims(results[i], dim);
      p.out.push_back(split_at(dim, axis));
    }
  }

  static void check_replicated(const ShardMapParams& p) {
    std::vector<bool> varying;
    for (const P& s : p.in) varying.push_back(!s.dims().empty());
    varying.resize(static_cast<std::size_t>(p.body->inputs), false);
    const std::vector<bool> out = ops::varying_outputs(*p.body, varying, {p.mesh.axes()[0].name});
    for (std::size_t i = 0; i < out.size(); ++i)
      if (out[i] && p.out[i].dims().empty())
        throw ShardingError(cat("pmap: result ", i, " ", ir::to_string(p.body->output_types()[i]),
                                " differs between devices, its out_axes says it is replicated",
                                "\nfix: reduce it (psum, pmean) or give it an out_axes"));
  }

  const PmapOptions options_;
};

// ---- shard_map
class ShardMapCore final : public RegionCore {
 public:
  ShardMapCore(Mesh mesh, ShardMapOptions options) : mesh_(std::move(mesh)), options_(std::move(options)) {
    for (std::size_t i = 0; i < options_.in.size(); ++i) check_spec(options_.in[i], cat("in[", i, "]"));
    for (std::size_t i = 0; i < options_.out.size(); ++i) check_spec(options_.out[i], cat("out[", i, "]"));
  }

  Arrays bind(const RegionCall& call, std::span<const Array> leaves, FlatFunction f) const override {
    ShardMapParams p;
    p.mesh = mesh_;
    p.name = "shard_map";
    Arrays operands;
    ir::Types local;
    std::vector<bool> given;
    add_arguments(call, leaves, p, operands, local, given);
    const auto body = [&](std::span<const Array> in) {
      Arrays all;
      std::size_t next = 0;
      for (const bool g : given) all.push_back(g ? in[next++] : Array());
      Arrays results = f(all);
      p.out.clear();
      place_results(results, call.result_leaves(), p);
      return results;
    };
    const Body traced = trace_body(p, local, body, "shard_map");
    p.body = traced.staged.program;
    for (const Array& c : traced.staged.captured) {
      operands.push_back(c);
      p.in.emplace_back();
    }
    return spread_results(core::bind(ops::shard_map, operands, p), traced.defined);
  }

 private:
  void check_spec(const P& spec, const std::string& who) const {
    std::vector<std::string> names, seen;
    for (const MeshAxis& a : mesh_.axes()) names.push_back(a.name);
    for (const std::string& n : ops::spec_axes(spec)) {
      if (!mesh_.has(n))
        throw ShardingError(cat("shard_map: ", who, " = ", to_string(spec), ": mesh ", to_string(mesh_),
                                " has no axis \"", n, "\"", base::did_you_mean(n, names)));
      if (ir::contains(seen, n))
        throw ShardingError(cat("shard_map: ", who, " = ", to_string(spec), " names axis \"", n, "\" twice"));
      seen.push_back(n);
    }
  }

  void add_arguments(const RegionCall& call, std::span<const Array> leaves, ShardMapParams& p, Arrays& operands,
                     ir::Types& local, std::vector<bool>& given) const {
    if (options_.in.size() != call.args.size())
      throw ShardingError(cat("shard_map: in has ", base::counted(options_.in.size(), "spec"), ", the call has ",
                              base::counted(call.args.size(), "argument")));
    std::size_t next = 0;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      for (const std::string& path : leaf_paths(call.args[i], cat("args[", i, "]"))) {
        const Array& leaf = leaves[next++];
        given.push_back(leaf.defined());
        if (!leaf.defined()) continue;
        operands.push_back(leaf);
        p.in.push_back(options_.in[i]);
        local.push_back(block(core::type_of(leaf), options_.in[i], path));
      }
    }
  }

  ir::Type block(const ir::Type& type, const P& spec, const std::string& path) const {
    if (static_cast<int>(spec.dims().size()) > type.shape.rank())
      throw ShardingError(cat("shard_map: ", path, " is ", ir::to_string(type), ", its spec ", to_string(spec), " has ",
                              spec.dims().size(), " dimensions"));
    try {
      ir::Type t = ops::local_type(type, spec, mesh_);
      ir::AxisNames names = ops::spec_axes(spec);
      std::sort(names.begin(), names.end());
      t.varying = ir::unite(t.varying, names);
      return t;
    } catch (const ShapeError& e) {
      throw ShapeError(cat("shard_map: ", path, ": ", e.what()));
    }
  }

  void place_results(Arrays& results, const std::vector<std::size_t>& counts, ShardMapParams& p) const {
    if (options_.out.size() != 1 && options_.out.size() != counts.size())
      throw ShardingError(cat("shard_map: out has ", options_.out.size(), " specs, the function returns ",
                              counts.size(), counts.size() == 1 ? " result" : " results"));
    ir::AxisNames mesh_names;
    for (const MeshAxis& a : mesh_.axes()) mesh_names.push_back(a.name);
    std::size_t i = 0;
    for (std::size_t child = 0; child < counts.size(); ++child) {
      const P& spec = options_.out.size() == 1 ? options_.out[0] : options_.out[child];
      ir::AxisNames names = ops::spec_axes(spec);
      std::sort(names.begin(), names.end());
      for (std::size_t k = 0; k < counts[child]; ++k, ++i) {
        if (!results[i].defined()) continue;
        const ir::Type& t = core::type_of(results[i]);
        if (static_cast<int>(spec.dims().size()) > t.shape.rank())
          throw ShardingError(cat("shard_map: result ", i, " is ", ir::to_string(t), ", its spec ", to_string(spec),
                                  " has ", spec.dims().size(), " dimensions\nfix: add an axis to the result"));
        for (const std::string& v : t.varying)
          if (ir::contains(mesh_names, v) && !ir::contains(names, v))
            throw ShardingError(cat("shard_map: result ", i, " ", ir::to_string(t), " varies over axis \"", v,
                                    "\", its spec ", to_string(spec), " says it is the same on all devices",
                                    "\nfix: reduce it over \"", v, "\", or split it over that axis"));
        results[i] = core::make_varying(results[i], names);
        p.out.push_back(spec);
      }
    }
  }

  const Mesh mesh_;
  const ShardMapOptions options_;
};
}  // namespace

std::shared_ptr<RegionCore> make_pmap_core(PmapOptions options) {
  return std::make_shared<PmapCore>(std::move(options));
}
std::shared_ptr<RegionCore> make_shard_map_core(Mesh mesh, ShardMapOptions options) {
  return std::make_shared<ShardMapCore>(std::move(mesh), std::move(options));
}

JitResult call_region(RegionCore& core, const RegionCall& call, FlatFunction f) {
  // Through the trace cache of jit, so that a region called again is neither traced nor compiled.
  const auto function = [&](std::span<const Array> leaves) { return core.bind(call, leaves, f); };
  const std::vector<std::uint8_t> rvalues(call.args.size(), 0);
  const JitCall jit{{call.args, rvalues}, call.callable, function, call.prototype};
  return call_jit(*core.jit, jit);
}

}  // namespace uni::detail
