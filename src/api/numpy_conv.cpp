#include <unisono/products.hpp>

#include <algorithm>
#include <string>

#include "api/fail.hpp"
#include "api/products.hpp"
#include "api/promote.hpp"
#include "base/text.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

using namespace api;

namespace {
// One positive number per spatial axis.
Dims per_axis(std::string_view who, std::string_view what, const Counts& counts, int spatial) {
  std::vector<i64> out = counts.values();
  if (counts.single()) out.assign(static_cast<std::size_t>(spatial), out[0]);
  if (static_cast<int>(out.size()) != spatial)
    fail<ShapeError>(base::cat(who, ": ", out.size(), " values of ", what, " for ", spatial, " spatial axes"));
  for (i64 n : out)
    if (n < 1) fail<ShapeError>(base::cat(who, ": ", what, " ", n, " is not positive"));
  return Dims(out);
}

struct Widths {
  Dims low, high;
};
// `input` and `window` are the sizes that meet: dilated, by spatial axis.
Widths resolve_padding(std::string_view who, const Padding& padding, const Dims& input, const Dims& window,
                       const Dims& stride) {
  Widths out;
  const int spatial = input.rank();
  if (padding.widths()) {
    std::vector<PadWidth> all = padding.widths()->all();
    if (padding.widths()->same()) all.assign(static_cast<std::size_t>(spatial), all[0]);
    if (static_cast<int>(all.size()) != spatial)
      fail<ShapeError>(base::cat(who, ": ", all.size(), " padding widths for ", spatial, " spatial axes"));
    for (const PadWidth& w : all) {
      out.low.push_back(w.low);
      out.high.push_back(w.high);
    }
    return out;
  }
  if (padding.name() != "SAME" && padding.name() != "VALID")
    fail<ShapeError>(base::cat(who, ": unknown padding \"", padding.name(), "\"",
                               base::did_you_mean(padding.name(), {"SAME", "VALID"})),
                     "\"SAME\", \"VALID\" or widths by spatial axis");
  for (int i = 0; i < spatial; ++i) {
    const i64 results = (input[i] + stride[i] - 1) / stride[i];
    const i64 wanted = std::max<i64>((results - 1) * stride[i] + window[i] - input[i], 0);
    const i64 total = padding.name() == "SAME" ? wanted : 0;
    out.low.push_back(total / 2);
    out.high.push_back(total - total / 2);
  }
  return out;
}

Dims dilated(const Dims& sizes, const Dims& dilation) {
  Dims out;
  for (int i = 0; i < sizes.rank(); ++i) out.push_back(sizes[i] ? (sizes[i] - 1) * dilation[i] + 1 : 0);
  return out;
}

// The axes between the first and the last.
Dims spatial_shape(const Array& x) { return Dims(x.shape().begin() + 1, x.shape().end() - 1); }

void check_conv(const Array& x, const Array& kernel, i64 groups) {
  const std::string types =
      base::cat("conv: x ", ir::to_string(core::type_of(x)), " and kernel ", ir::to_string(core::type_of(kernel)));
  if (x.rank() < 3 || kernel.rank() != x.rank())
    fail<ShapeError>(types + ": both have the same number of axes, at least three (batch, space, channels)");
  const i64 channels = x.shape()[-1], taken = kernel.shape()[-2], features = kernel.shape()[-1];
  if (groups < 1) fail<ShapeError>(base::cat("conv: ", groups, " groups"));
  if (taken * groups != channels)
    fail<ShapeError>(base::cat(types, " disagree on the channels: ", channels, " (x) vs ", taken, " (kernel)",
                               groups == 1 ? "" : base::cat(" in ", groups, " groups")));
  if (features % groups != 0)
    fail<ShapeError>(base::cat(types, ": ", features, " features do not divide into ", groups, " groups"));
}
}  // namespace

Array conv(In x, In kernel, const ConvOptions& options) {
  const core::At at(x.where());
  const ValueType type = to_inexact("conv", promote("conv", {x, kernel}));
  const Array a = as_type("conv", x, type), k = as_type("conv", kernel, type);
  check_conv(a, k, options.groups);
  const int spatial = a.rank() - 2;
  ops::Conv p;
  p.stride = per_axis("conv", "stride", options.stride, spatial);
  p.kernel_dilation = per_axis("conv", "dilation", options.dilation, spatial);
  p.input_dilation = per_axis("conv", "input dilation", options.input_dilation, spatial);
  p.groups = options.groups;
  const Dims input = dilated(spatial_shape(a), p.input_dilation);
  const Dims window = dilated(Dims(k.shape().begin(), k.shape().end() - 2), p.kernel_dilation);
  const Widths widths = resolve_padding("conv", options.padding, input, window, p.stride);
  p.low = widths.low;
  p.high = widths.high;
  return lax::conv(a, k, p);
}

namespace {
ops::Window pool_window(std::string_view who, const Array& x, const Counts& window, const PoolOptions& options) {
  if (x.rank() < 3)
    fail<ShapeError>(
        base::cat(who, ": ", ir::to_string(core::type_of(x)), " needs at least three axes (batch, space, channels)"));
  const int spatial = x.rank() - 2;
  const Dims size = per_axis(who, "the window", window, spatial);
  const Dims stride = options.stride ? per_axis(who, "stride", *options.stride, spatial) : size;
  const Widths widths = resolve_padding(who, options.padding, spatial_shape(x), size, stride);
  ops::Window out;
  const auto surround = [](const Dims& inner, i64 outer) {
    Dims all{outer};
    for (i64 n : inner) all.push_back(n);
    all.push_back(outer);
    return all;
  };
  out.size = surround(size, 1);
  out.stride = surround(stride, 1);
  out.low = surround(widths.low, 0);
  out.high = surround(widths.high, 0);
  return out;
}
}  // namespace

Array max_pool(In x, const Counts& window, const PoolOptions& options) {
  const core::At at(x.where());
  const Array a = as_array("max_pool", x);
  return lax::reduce_window_max(a, pool_window("max_pool", a, window, options));
}

Array avg_pool(In x, const Counts& window, const PoolOptions& options) {
  const core::At at(x.where());
  const Array a = as_inexact("avg_pool", x);
  const ops::Window w = pool_window("avg_pool", a, window, options);
  const Array sums = lax::reduce_window_sum(a, w);
  if (options.include_padding)
    return lax::div(sums, lax::full(static_cast<double>(w.size.count()), a.dtype(), sums.shape(), a.weak()));
  const Array ones = lax::full(1, a.dtype(), a.shape(), a.weak());
  return lax::div(sums, lax::reduce_window_sum(ones, w));
}

}  // namespace uni
