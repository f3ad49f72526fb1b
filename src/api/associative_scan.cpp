// Prefix results by halves: combine neighbours, solve the half problem, combine once more for the other half.
#include "api/control.hpp"
#include "api/axes.hpp"
#include "api/fail.hpp"
#include "ops/call.hpp"
#include "ops/structural.hpp"

namespace uni::detail {

using base::cat;

namespace {
Array strided(const Array& x, i64 begin, i64 end) {
  Dims start, limit, stride;
  for (int d = 0; d < x.rank(); ++d) {
    start.push_back(d == 0 ? begin : 0);
    limit.push_back(d == 0 ? end : x.shape()[d]);
    stride.push_back(d == 0 ? 2 : 1);
  }
  return lax::slice(x, start, limit, stride);
}
template <class Fn>
Arrays each(const Arrays& xs, const Fn& fn) {
  Arrays out;
  for (const Array& x : xs) out.push_back(fn(x));
  return out;
}
Arrays combined(FlatFunction combine, const Arrays& earlier, const Arrays& later) {
  Arrays out = combine(ops::joined({earlier, later}));
  if (out.size() != earlier.size())
    api::fail<TreeError>(
        cat("associative_scan: the function gives ", base::counted(out.size(), "array"), " for ", earlier.size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(out[i].shape() == earlier[i].shape()) || out[i].dtype() != earlier[i].dtype())
      api::fail<TreeError>(cat("associative_scan: the function makes ", ir::to_string(core::type_of(out[i])), " of ",
                               ir::to_string(core::type_of(earlier[i]))));
  return out;
}
// even[0], odd[0], even[1], ... with as many odd ones, or one less.
Array interleaved(const Array& even, const Array& odd) {
  const i64 n = even.shape()[0], m = odd.shape()[0];
  const Array filled = n == m ? odd : lax::concatenate(Arrays{odd, lax::slice_axis(even, 0, n - 1, n)}, 0);
  Dims shape = even.shape();
  shape[0] = 2 * n;
  const Array both =
      lax::reshape(lax::concatenate(Arrays{lax::expand_dims(even, 1), lax::expand_dims(filled, 1)}, 1), shape);
  return lax::slice_axis(both, 0, 0, n + m);
}

Arrays prefixes(FlatFunction combine, const Arrays& xs) {
  const i64 n = xs[0].shape()[0];
  if (n < 2) return xs;
  const auto part = [&](i64 begin, i64 end) {
    return each(xs, [&](const Array& x) { return strided(x, begin, end); });
  };
  const Arrays odd = prefixes(combine, combined(combine, part(0, n - 1), part(1, n)));
  const i64 half = n / 2, used = n % 2 == 0 ? half - 1 : half;
  Arrays even = each(xs, [](const Array& x) { return lax::slice_axis(x, 0, 0, 1); });
  if (used > 0) {
    const Arrays before = each(odd, [&](const Array& x) { return lax::slice_axis(x, 0, 0, used); });
    const Arrays more = combined(combine, before, part(2, n));
    for (std::size_t i = 0; i < even.size(); ++i) even[i] = lax::concatenate(Arrays{even[i], more[i]}, 0);
  }
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = interleaved(even[i], odd[i]);
  return even;
}
}  // namespace

Arrays flat_associative_scan(const TreeRef& tree, FlatFunction combine, bool reverse, int axis, Location where) {
  const core::At at(where);
  const api::TreeLeaves x = api::tree_leaves_of(tree, "xs");
  if (x.values.empty()) return {};
  std::vector<int> axes;
  Arrays front;
  for (const Array& a : x.values) {
    axes.push_back(api::wrapped_axis("associative_scan", axis, a.rank(), a));
    const Array moved = lax::move_axis(a, axes.back(), 0);
    front.push_back(reverse ? lax::reverse(moved, {0}) : moved);
    if (front[0].shape()[0] != moved.shape()[0])
      api::fail<ShapeError>(cat("associative_scan: `", x.paths[axes.size() - 1], "` has ", moved.shape()[0],
                                " elements along axis ", axis, ", `", x.paths[0], "` has ", front[0].shape()[0]));
  }
  // The function sees arrays as the caller has them.
  const auto back = [&](const Array& a, std::size_t i) { return lax::move_axis(a, 0, axes[i]); };
  const auto inner = [&](std::span<const Array> v) {
    Arrays in;
    for (std::size_t i = 0; i < v.size(); ++i) in.push_back(back(v[i], i % axes.size()));
    Arrays out = api::call_user(combine, in);
    for (std::size_t i = 0; i < out.size() && i < axes.size(); ++i) out[i] = lax::move_axis(out[i], axes[i], 0);
    return out;
  };
  Arrays out = prefixes(inner, front);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = back(reverse ? lax::reverse(out[i], {0}) : out[i], i);
  return out;
}

}  // namespace uni::detail
