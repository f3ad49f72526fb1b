#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "core/trace.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/creation.hpp>
#include <unisono/elementwise.hpp>
#include <unisono/error.hpp>
#include <unisono/initializers.hpp>
#include <unisono/nn.hpp>

namespace uni::nn {

namespace {
void check_last_axis(const char* layer, const Array& x, const Array& w, i64 in) {
  if (x.rank() > 0 && x.shape(-1) == in) return;
  throw ShapeError(base::cat(layer, ": input ", ir::to_string(core::type_of(x)), " and weights ",
                             ir::to_string(core::type_of(w)), " disagree on the last axis of the input",
                             base::at(core::current_location())));
}
}  // namespace

Linear Linear::init(const Key& key, i64 in, i64 out, const LinearOptions& options) {
  Linear layer{initializers::lecun_normal()(key, {in, out}, options.dtype), std::nullopt};
  if (options.bias) layer.b = zeros({out}, options.dtype);
  return layer;
}

Array Linear::operator()(In input) const {
  const core::At at(input.where());
  const Array x = input.is_scalar() ? Array(0.0) : input.array();
  check_last_axis("Linear", x, w, w.shape(0));
  ops::DotGeneral dims;
  dims.lhs_contract = {x.rank() - 1};
  dims.rhs_contract = {0};
  const Array y = lax::dot_general(lax::convert(x, w.dtype()), w, dims);
  return b ? y + *b : y;
}

Conv Conv::init(const Key& key, i64 size, i64 in, i64 out, const ConvOptions& options) {
  Conv layer{initializers::lecun_normal()(key, {size, size, in, out}, options.dtype), std::nullopt, options.stride,
             options.same};
  if (options.bias) layer.b = zeros({out}, options.dtype);
  return layer;
}

Array Conv::operator()(In input) const {
  const core::At at(input.where());
  const Array x = input.is_scalar() ? Array(0.0) : input.array();
  if (x.rank() != 4)
    throw ShapeError(base::cat("Conv: input ", ir::to_string(core::type_of(x)),
                               " is not [batch, height, width, channels]", base::at(core::current_location())));
  check_last_axis("Conv", x, w, w.shape(2));
  ops::Conv p;
  for (int d = 0; d < 2; ++d) {
    const i64 n = x.shape(1 + d), k = w.shape(d);
    const i64 outputs = (n + stride - 1) / stride;
    const i64 padding = same ? std::max<i64>(0, (outputs - 1) * stride + k - n) : 0;
    p.stride.push_back(stride);
    p.low.push_back(padding / 2);
    p.high.push_back(padding - padding / 2);
    p.input_dilation.push_back(1);
    p.kernel_dilation.push_back(1);
  }
  const Array y = lax::conv(lax::convert(x, w.dtype()), w, p);
  return b ? y + *b : y;
}

static ops::Window blocks(const char* who, const Array& x, i64 size) {
  if (x.rank() != 4 || size < 1)
    throw ShapeError(base::cat(who, ": input ", ir::to_string(core::type_of(x)), " with blocks of ", size,
                               "; [batch, height, width, channels] and a positive size are needed",
                               base::at(core::current_location())));
  return {{1, size, size, 1}, {1, size, size, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}};
}

Array avg_pool(In input, i64 size) {
  const core::At at(input.where());
  const Array x = input.is_scalar() ? Array(0.0) : input.array();
  return lax::reduce_window_sum(x, blocks("avg_pool", x, size)) / static_cast<double>(size * size);
}

Array max_pool(In input, i64 size) {
  const core::At at(input.where());
  const Array x = input.is_scalar() ? Array(0.0) : input.array();
  return lax::reduce_window_max(x, blocks("max_pool", x, size));
}

Array cross_entropy(In logits_in, In labels_in) {
  const core::At at(logits_in.where());
  const Array logits = logits_in.is_scalar() ? Array(0.0) : logits_in.array();
  const Array labels = labels_in.is_scalar() ? Array(0) + labels_in : labels_in.array();
  Dims batch = logits.shape();
  if (batch.empty() || Dims(batch.begin(), batch.end() - 1) != labels.shape())
    throw ShapeError(base::cat("cross_entropy: logits ", ir::to_string(core::type_of(logits)), " and labels ",
                               ir::to_string(core::type_of(labels)),
                               " do not fit; labels have the shape of logits without the last axis",
                               base::at(core::current_location())));
  if (!is_integer(labels.dtype()))
    throw DtypeError(base::cat("cross_entropy: labels ", ir::to_string(core::type_of(labels)), " are not integers",
                               base::at(core::current_location())));
  const i64 classes = batch[-1];
  batch.erase(batch.rank() - 1);
  const i64 rows = batch.count();
  const Array z = lax::reshape(logits, {rows, classes});
  const auto column = [&](const Array& v) { return lax::broadcast_in_dim(v, {rows, classes}, {0}); };
  const Array shift = lax::stop_gradient(lax::reduce_max(z, {1}));
  const Array total = lax::log(lax::reduce_sum(lax::exp(lax::sub(z, column(shift))), {1}));
  const Array index = lax::concatenate(
      Arrays{lax::iota(Dtype::i32, {rows, 1}, 0), lax::reshape(lax::convert(labels, Dtype::i32), {rows, 1})}, 1);
  const Array picked = lax::gather(z, index, ops::IndexMode::fill,
                                   ir::Scalar::of_double(z.dtype(), std::numeric_limits<double>::quiet_NaN()));
  return lax::reshape(lax::add(total, lax::sub(shift, picked)), batch);
}

}  // namespace uni::nn
