// The checked entry points of the collectives: axes are looked up here, and over untyped axes (pmap, vmap), where types
// do not say what varies, the result of a sum is made varying again, so that psum transposes to psum there.
#include "base/text.hpp"
#include "ops/collectives.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::lax {

using base::cat;
using core::Axis;
using ir::AxisNames;

namespace {
struct Axes {
  AxisNames typed, untyped;  // sorted; as written
  i64 size = 1;
  bool decompose = false;  // several axes, one of them a vmap's
};
Axes look_up(std::string_view who, const AxisNames& names) {
  Axes axes;
  bool vmapped = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Axis& a = core::find_axis(names[i], who);
    for (std::size_t j = 0; j < i; ++j)
      if (names[j] == names[i])
        throw ShardingError(cat(who, ": axis \"", names[i], "\" is named twice", base::at(core::current_location())));
    axes.size *= a.size;
    vmapped = vmapped || a.kind == Axis::Kind::vmap;
    if (a.kind != Axis::Kind::typed) axes.untyped.push_back(names[i]);
  }
  axes.typed = core::typed_axes(names);
  axes.decompose = vmapped && names.size() > 1;
  return axes;
}

// In typed regions a reduction of a value that does not vary would multiply it in silence.
void check_varies(std::string_view who, const Array& x, const Axes& axes) {
  const ir::Type& type = core::type_of(x);
  for (const std::string& n : axes.typed)
    if (!ir::contains(type.varying, n))
      throw ShardingError(cat(who, ": the value ", ir::to_string(type), " does not vary over axis \"", n,
                              "\": it is already summed, or was never split", base::at(core::current_location()),
                              "\nfix: leave the ", who, " out, or pvary(x, \"", n,
                              "\") first to count it once per device"));
}

int wrapped_axis(std::string_view who, const Array& x, int axis, int rank) {
  const int wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped < 0 || wrapped >= rank)
    throw ShapeError(cat(who, ": axis ", axis, " of ", ir::to_string(core::type_of(x)), " does not exist",
                         base::at(core::current_location())));
  return wrapped;
}

Array merge(const Array& x, int dim) {
  Dims shape = x.shape();
  shape[dim] *= shape[dim + 1];
  shape.erase(dim + 1);
  return reshape(x, shape);
}
Array split(const Array& x, int dim, i64 parts) {
  Dims shape = x.shape();
  shape[dim] /= parts;
  shape.insert(dim, parts);
  return reshape(x, shape);
}
}  // namespace

Array psum(const Array& x, const AxisNames& names) {
  if (names.empty()) return x;
  const Axes axes = look_up("psum", names);
  if (is_bool(x.dtype())) return psum(convert(x, Dtype::i32), names);
  check_varies("psum", x, axes);
  const Array sum = core::bind1(ops::psum, {x}, ops::AxesOnly{names, axes.typed});
  if (axes.untyped.empty()) return sum;
  return core::bind1(ops::pvary, {sum}, ops::AxesOnly{axes.untyped, {}});
}

static Array extremum(std::string_view who, const core::Primitive& op, const Array& x, const AxisNames& names) {
  if (names.empty()) return x;
  const Axes axes = look_up(who, names);
  check_varies(who, x, axes);
  return core::bind1(op, {x}, ops::AxesOnly{names, axes.typed});
}
Array pmax(const Array& x, const AxisNames& names) { return extremum("pmax", ops::pmax, x, names); }
Array pmin(const Array& x, const AxisNames& names) { return extremum("pmin", ops::pmin, x, names); }

Array pvary(const Array& x, const AxisNames& names) { return core::make_varying(x, look_up("pvary", names).typed); }

Array all_gather(const Array& x, const AxisNames& names, int dim, bool tiled, bool invariant) {
  const Axes axes = look_up("all_gather", names);
  const int at = wrapped_axis("all_gather", x, dim, x.rank() + (tiled ? 0 : 1));
  if (axes.decompose) {
    Array y = x;
    for (std::size_t i = names.size(); i-- > 0;) {
      y = all_gather(y, {names[i]}, at, tiled);
      if (!tiled && i + 1 < names.size()) y = merge(y, at);
    }
    return y;
  }
  const bool typed_form = invariant && axes.untyped.empty();
  return core::bind1(ops::all_gather, {core::make_varying(x, axes.typed)},
                     ops::AllGather{names, axes.size, at, tiled, typed_form});
}

Array psum_scatter(const Array& x, const AxisNames& names, int dim, bool tiled) {
  const Axes axes = look_up("psum_scatter", names);
  const int at = wrapped_axis("psum_scatter", x, dim, x.rank());
  if (axes.decompose) {
    Array y = x;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!tiled && i + 1 < names.size()) y = split(y, at, axis_size({names[i]}));
      y = psum_scatter(y, {names[i]}, at, tiled);
    }
    return y;
  }
  check_varies("psum_scatter", x, axes);
  return core::bind1(ops::psum_scatter, {x}, ops::PsumScatter{names, axes.size, at, tiled});
}

Array all_to_all(const Array& x, const AxisNames& names, int split_dim, int concat_dim, bool tiled) {
  const Axes axes = look_up("all_to_all", names);
  const int from = wrapped_axis("all_to_all", x, split_dim, x.rank());
  const int to = wrapped_axis("all_to_all", x, concat_dim, x.rank());
  const ops::AllToAll params{names, axes.size, from, to, tiled};
  if (!axes.decompose) return core::bind1(ops::all_to_all, {core::make_varying(x, axes.typed)}, params);
  core::infer_here(ops::all_to_all, std::span<const Array>(&x, 1), params);
  // One axis after the other on a leading dimension each; then what was received goes to its place.
  Array y = move_axis(tiled ? split(x, from, axes.size) : x, from, 0);
  const int k = static_cast<int>(names.size());
  for (int i = 0; i + 1 < k; ++i) y = split(y, i, axis_size({names[static_cast<std::size_t>(i)]}));
  for (int i = 0; i < k; ++i) y = all_to_all(y, {names[static_cast<std::size_t>(i)]}, i, i, false);
  for (int i = 0; i + 1 < k; ++i) y = merge(y, 0);
  y = move_axis(y, 0, to);
  return tiled ? merge(y, to) : y;
}

Array ppermute(const Array& x, const AxisNames& names, const std::vector<std::pair<int, int>>& permutation) {
  const Axes axes = look_up("ppermute", names);
  const ops::Ppermute params{names, axes.size, permutation};
  if (!axes.decompose) return core::bind1(ops::ppermute, {core::make_varying(x, axes.typed)}, params);
  core::infer_here(ops::ppermute, std::span<const Array>(&x, 1), params);
  const Array all = all_gather(x, names, 0, false);
  std::vector<int> source(static_cast<std::size_t>(axes.size), -1);
  for (const auto& [from, to] : permutation) source[static_cast<std::size_t>(to)] = from;
  const Array me = axis_index(names);
  Array result = core::zeros_of(core::type_of(x));
  for (i64 d = 0; d < axes.size; ++d) {
    if (source[static_cast<std::size_t>(d)] < 0) continue;
    const i64 s = source[static_cast<std::size_t>(d)];
    const Array mine = broadcast_to(eq(me, full_int(d, Dtype::i32, {})), x.shape());
    result = select(mine, squeeze(slice_axis(all, 0, s, s + 1), 0), result);
  }
  return result;
}

Array axis_index(const AxisNames& names) {
  const Axes axes = look_up("axis_index", names);
  if (!axes.decompose) return core::bind1(ops::axis_index, {}, ops::AxisIndex{names, axes.size, axes.typed});
  Array index = full_int(0, Dtype::i32, {});
  for (const std::string& n : names) index = add(mul(index, full_int(axis_size({n}), Dtype::i32, {})), axis_index({n}));
  return index;
}

i64 axis_size(const AxisNames& names) { return look_up("axis_size", names).size; }

}  // namespace uni::lax

namespace uni::core {
const Op& pvary_op() { return ops::pvary; }
Params pvary_params(AxisNames axes) { return ops::AxesOnly{axes, axes}; }
}  // namespace uni::core
