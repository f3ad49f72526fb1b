// Dot products and convolution.
#include <algorithm>

#include "backend/reference/eval.hpp"
#include "ops/contract.hpp"

namespace uni::reference {

namespace {
// Where the positions of some dimensions of a value lie, in row-major order of those dimensions.
std::vector<i64> offsets(const Value& v, const std::vector<int>& dims) {
  const Steps from = strides(v.shape());
  Dims shape;
  Steps step;
  for (int d : dims) {
    shape.push_back(v.shape()[d]);
    step.push_back(from[at(d)]);
  }
  std::vector<i64> out;
  walk(shape, 0, step, [&](i64, i64 offset) { out.push_back(offset); });
  return out;
}
std::vector<int> other_dims(const Value& v, const std::vector<int>& a, const std::vector<int>& b) {
  const auto holds = [](const std::vector<int>& list, int d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  std::vector<int> out;
  for (int d = 0; d < v.shape().rank(); ++d)
    if (!holds(a, d) && !holds(b, d)) out.push_back(d);
  return out;
}

template <Number T>
struct Operand {
  const T* data;
  Accumulator<T> operator[](i64 i) const { return static_cast<Accumulator<T>>(load(data[i])); }
};

void eval_dot(const Call& c) {
  const auto& p = c.params<ops::DotGeneral>();
  const Value &lhs = c.in[0], &rhs = c.in[1];
  const auto lhs_batch = offsets(lhs, p.lhs_batch), rhs_batch = offsets(rhs, p.rhs_batch);
  const auto lhs_inner = offsets(lhs, p.lhs_contract), rhs_inner = offsets(rhs, p.rhs_contract);
  const auto rows = offsets(lhs, other_dims(lhs, p.lhs_contract, p.lhs_batch));
  const auto columns = offsets(rhs, other_dims(rhs, p.rhs_contract, p.rhs_batch));
  with_dtype(c.eqn, lhs.type.dtype, [&]<Number T>(T) {
    const Operand<T> x{lhs.as<T>()}, y{rhs.as<T>()};
    T* out = c.out[0].as<T>();
    for (std::size_t b = 0; b < lhs_batch.size(); ++b)
      for (i64 row : rows)
        for (i64 column : columns) {
          Accumulator<T> sum(0);
          for (std::size_t k = 0; k < lhs_inner.size(); ++k)
            sum = plus(sum, times(x[lhs_batch[b] + row + lhs_inner[k]], y[rhs_batch[b] + column + rhs_inner[k]]));
          *out++ = T(static_cast<Compute<T>>(sum));
        }
  });
}

// Where output position `o` and kernel position `k` meet in the spatial dimensions of x; false in padding and in the
// gaps of dilation.
bool meets(const ops::Conv& p, const Value& x, const Steps& step, const Odometer& o, const Odometer& k, i64& offset) {
  offset = 0;
  for (int d = 0; d < p.stride.rank(); ++d) {
    const i64 i = o[d + 1] * p.stride[d] + k[d] * p.kernel_dilation[d] - p.low[d];
    if (i < 0 || i % p.input_dilation[d] != 0 || i / p.input_dilation[d] >= x.shape()[d + 1]) return false;
    offset += i / p.input_dilation[d] * step[at(d) + 1];
  }
  return true;
}
void eval_conv(const Call& c) {
  const auto& p = c.params<ops::Conv>();
  const Value &x = c.in[0], &kernel = c.in[1], &y = c.out[0];
  const i64 in_group = kernel.shape()[-2], out_features = kernel.shape()[-1];
  const Steps step = strides(x.shape());
  const Dims window(kernel.shape().begin(), kernel.shape().end() - 2);
  with_dtype(c.eqn, x.type.dtype, [&]<Inexact T>(T) {
    const Operand<T> in{x.as<T>()}, weight{kernel.as<T>()};
    Odometer o(y.shape());
    for (i64 i = 0; i < y.count(); ++i, o.next()) {
      const i64 feature = o[y.shape().rank() - 1];
      const i64 group = feature / (out_features / p.groups), batch_group = feature / (out_features / p.batch_groups);
      const i64 example = (batch_group * y.shape()[0] + o[0]) * (x.count() / x.shape()[0]);
      Accumulator<T> sum(0);
      Odometer k(window);
      for (i64 j = 0; j < window.count(); ++j, k.next()) {
        i64 offset = 0;
        if (!meets(p, x, step, o, k, offset)) continue;
        for (i64 f = 0; f < in_group; ++f)
          sum = plus(sum, times(in[example + offset + group * in_group + f],
                                weight[(j * in_group + f) * out_features + feature]));
      }
      y.as<T>()[i] = T(static_cast<Compute<T>>(sum));
    }
  });
}

constexpr Evaluator table[] = {{&ops::dot_general, eval_dot}, {&ops::conv, eval_conv}};
}  // namespace

std::span<const Evaluator> contract_evaluators() { return table; }

}  // namespace uni::reference
