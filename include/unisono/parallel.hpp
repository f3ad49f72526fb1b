// Many devices: pmap, shard_map, and the collectives that their bodies call by axis name.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unisono/jit.hpp>
#include <unisono/mesh.hpp>
#include <unisono/transform.hpp>

namespace uni {

struct PmapOptions {
  std::string axis = {};                // the name that collectives inside use
  std::vector<AxisSpec> in_axes = {};   // by argument; empty: axis 0 of all; nullopt: every device sees it whole
  std::vector<AxisSpec> out_axes = {};  // one for all, or by element of a pair or tuple result; nullopt: replicated
  std::optional<i64> axis_size = {};    // needed when nothing is mapped
  std::vector<int> devices = {};        // which devices, in order of rows; empty: the first ones
};
struct ShardMapOptions {
  std::vector<P> in;   // by argument, for all its arrays
  std::vector<P> out;  // one for all, or by element of a pair or tuple result
};

namespace detail {
struct RegionCall {
  std::vector<TreeRef> args;
  FunctionRef<std::vector<std::size_t>()> result_leaves;
  CallableInfo callable;
  FunctionRef<std::shared_ptr<const void>()> prototype;
};
class RegionCore;
std::shared_ptr<RegionCore> make_pmap_core(PmapOptions options);
std::shared_ptr<RegionCore> make_shard_map_core(Mesh mesh, ShardMapOptions options);
JitResult call_region(RegionCore& core, const RegionCall& call, FlatFunction f);
}  // namespace detail

// A function mapped over devices.
template <class F>
class Region {
 public:
  UNISONO_CALLABLE;
  Region(F f, std::shared_ptr<detail::RegionCore> core) : f_(std::move(f)), core_(std::move(core)) {}
  template <class... A>
  auto operator()(A&&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    using Store = detail::StoredTuple<F, A...>;
    using Adapter = detail::Adapter<F, Tuple, Store>;
    using R = typename Adapter::R;
    const Store own(std::forward<A>(args)...);
    const auto refs = detail::argument_refs(own);
    Adapter adapter(f_, own);
    // Named, because the call only refers to them.
    const auto counts = [&] { return detail::leaves_by_child(*adapter.prototype()); };
    const auto prototype = [&]() -> std::shared_ptr<const void> { return adapter.prototype(); };
    const detail::RegionCall call{
        {refs.begin(), refs.end()}, counts, {&f_, sizeof(F), detail::callable_name<F>()}, prototype};
    const detail::JitResult result = detail::call_region(*core_, call, adapter);
    return Adapter::rebuild_from(*static_cast<const R*>(result.prototype.get()), result.leaves);
  }

 private:
  F f_;
  std::shared_ptr<detail::RegionCore> core_;
};

// Runs f on every device, each with its row of the mapped arguments, and stacks the results: one compiled program.
// Inside, values differ per device and collectives over `axis` connect them. Gradients taken inside are local (psum
// transposes to psum); average them with pmean. Throws ShapeError when mapped sizes differ, ShardingError when there
// are too few devices or a result with out_axes nullopt differs between devices.
template <class F>
Region<F> pmap(F f, PmapOptions options = {}) {
  return {std::move(f), detail::make_pmap_core(std::move(options))};
}
// Runs f on the blocks that the specs cut. P{} arguments do not vary: gradients for them arrive summed, and results
// declared P{} must not vary either. Throws ShardingError for specs that do not fit, ShapeError for uneven blocks.
template <class F>
Region<F> shard_map(F f, const Mesh& mesh, ShardMapOptions options) {
  return {std::move(f), detail::make_shard_map_core(mesh, std::move(options))};
}

// ---- Collectives, on whole trees. Several names count as one axis, the first the slowest.
struct GatherOptions {
  int axis = 0;
  Flag tiled = false;      // concatenate along axis instead of stacking
  Flag invariant = false;  // in shard_map: the result counts as equal on all devices
};
struct ScatterOptions {
  int axis = 0;
  Flag tiled = false;
};
struct AllToAllOptions {
  int split = 0, concat = 0;
  Flag tiled = false;
};
using Permutation = std::vector<std::pair<int, int>>;  // (source, destination)
// Each device sends to the one `by` places on, around a ring of n.
Permutation ring_shift(int n, int by = 1);

namespace detail {
Array psum_one(const Array& x, const AxisName& axis);
Array psum_number(const Array& number, const AxisName& axis);
Array pmean_one(const Array& x, const AxisName& axis);
Array pmax_one(const Array& x, const AxisName& axis);
Array pmin_one(const Array& x, const AxisName& axis);
Array pvary_one(const Array& x, const AxisName& axis);
Array all_gather_one(const Array& x, const AxisName& axis, const GatherOptions& o);
Array psum_scatter_one(const Array& x, const AxisName& axis, const ScatterOptions& o);
Array all_to_all_one(const Array& x, const AxisName& axis, const AllToAllOptions& o);
Array ppermute_one(const Array& x, const AxisName& axis, const Permutation& permutation);
class Located {  // sets the user's line for a scope
 public:
  explicit Located(Location where);
  ~Located();
  Located(const Located&) = delete;

 private:
  void* at_;
};
template <class T>
using Collected = std::conditional_t<std::is_arithmetic_v<T>, Array, T>;
template <class T, class Fn>
Collected<T> collective(const T& tree, Location where, const Fn& fn) {
  const Located at(where);
  if constexpr (std::is_arithmetic_v<T>)
    return fn(Array(tree));
  else
    return tree_map(fn, tree);
}
}  // namespace detail

// Sum over the devices; booleans are counted in i32. In shard_map the value must vary over the axis (ShardingError). A
// plain number counts once per device, which takes no communication: psum(1, "i") is the number of devices.
template <class T>
detail::Collected<T> psum(const T& tree, const AxisName& axis, Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) {
    return std::is_arithmetic_v<T> ? detail::psum_number(x, axis) : detail::psum_one(x, axis);
  });
}
// Mean over the devices; integers give f32.
template <class T>
detail::Collected<T> pmean(const T& tree, const AxisName& axis, Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::pmean_one(x, axis); });
}
// Greatest value over the devices; NaN wins.
template <class T>
detail::Collected<T> pmax(const T& tree, const AxisName& axis, Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::pmax_one(x, axis); });
}
// Least value over the devices; NaN wins.
template <class T>
detail::Collected<T> pmin(const T& tree, const AxisName& axis, Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::pmin_one(x, axis); });
}
// Marks the value as differing between devices (shard_map); no change of value. Its transpose is psum.
template <class T>
detail::Collected<T> pvary(const T& tree, const AxisName& axis, Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::pvary_one(x, axis); });
}
// Every device's value, stacked in device order along a new axis (or concatenated, tiled).
template <class T>
detail::Collected<T> all_gather(const T& tree, const AxisName& axis, const GatherOptions& options = {},
                                Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::all_gather_one(x, axis, options); });
}
// Sum over the devices, of which each keeps its own entry (or block, tiled) along an axis.
template <class T>
detail::Collected<T> psum_scatter(const T& tree, const AxisName& axis, const ScatterOptions& options = {},
                                  Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::psum_scatter_one(x, axis, options); });
}
// Device i gets entry (or block, tiled) i along `split` from every device, laid along `concat` in device order.
template <class T>
detail::Collected<T> all_to_all(const T& tree, const AxisName& axis, const AllToAllOptions& options = {},
                                Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::all_to_all_one(x, axis, options); });
}
// Sends along (source, destination) pairs; who receives nothing gets zeros. Throws ShardingError for a repeated source
// or destination or an index out of range.
template <class T>
detail::Collected<T> ppermute(const T& tree, const AxisName& axis, const Permutation& permutation,
                              Location where = Location::current()) {
  return detail::collective(tree, where, [&](const Array& x) { return detail::ppermute_one(x, axis, permutation); });
}
// This device's position along the axis, i32[].
Array axis_index(const AxisName& axis, Location where = Location::current());
// The number of devices along the axis, known while tracing.
int axis_size(const AxisName& axis, Location where = Location::current());

}  // namespace uni
