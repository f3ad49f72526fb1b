// Collectives for users: dtype rules, then lax.
#include "ops/collectives.hpp"

#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/error.hpp>
#include <unisono/parallel.hpp>

namespace uni {

Permutation ring_shift(int n, int by) {
  if (n < 1) throw ShardingError(base::cat("ring_shift: a ring of ", n, " devices"));
  const int shift = (by % n + n) % n;
  Permutation p;
  for (int i = 0; i < n; ++i) p.emplace_back(i, (i + shift) % n);
  return p;
}

Array axis_index(const AxisName& axis, Location where) {
  const core::At at(where);
  return lax::axis_index(axis.names());
}

int axis_size(const AxisName& axis, Location where) {
  const core::At at(where);
  return static_cast<int>(lax::axis_size(axis.names()));
}

namespace detail {

Located::Located(Location where) : at_(new core::At(where)) {}
Located::~Located() { delete static_cast<core::At*>(at_); }

Array psum_one(const Array& x, const AxisName& axis) { return lax::psum(x, axis.names()); }
Array psum_number(const Array& number, const AxisName& axis) {
  const int devices = axis_size(axis, core::current_location());
  return (is_bool(number.dtype()) ? lax::convert(number, Dtype::i32) : number) * devices;
}
Array pmean_one(const Array& x, const AxisName& axis) {
  const Array value = is_inexact(x.dtype()) ? x : lax::convert(x, Dtype::f32);
  const Array sum = lax::psum(value, axis.names());
  return lax::div(sum, lax::full_like(sum, static_cast<double>(lax::axis_size(axis.names()))));
}
Array pmax_one(const Array& x, const AxisName& axis) { return lax::pmax(x, axis.names()); }
Array pmin_one(const Array& x, const AxisName& axis) { return lax::pmin(x, axis.names()); }
Array pvary_one(const Array& x, const AxisName& axis) { return lax::pvary(x, axis.names()); }
Array all_gather_one(const Array& x, const AxisName& axis, const GatherOptions& o) {
  return lax::all_gather(x, axis.names(), o.axis, o.tiled, o.invariant);
}
Array psum_scatter_one(const Array& x, const AxisName& axis, const ScatterOptions& o) {
  return lax::psum_scatter(x, axis.names(), o.axis, o.tiled);
}
Array all_to_all_one(const Array& x, const AxisName& axis, const AllToAllOptions& o) {
  return lax::all_to_all(x, axis.names(), o.split, o.concat, o.tiled);
}
Array ppermute_one(const Array& x, const AxisName& axis, const Permutation& permutation) {
  return lax::ppermute(x, axis.names(), permutation);
}

}  // namespace detail
}  // namespace uni
