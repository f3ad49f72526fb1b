// Gather, scatter, sort.
#include <algorithm>
#include <numeric>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/structural.hpp"

namespace uni::reference {

namespace {
// Index rows [rows, k] into the k leading dimensions of x; each points at a block of the other ones.
struct Blocks {
  i64 size = 1;             // elements of a block
  std::vector<i64> starts;  // by row: the first element in x, or -1 for a row that is out of range and not clipped
};
Blocks blocks(const Call& c, ops::IndexMode mode) {
  const Dims &shape = c.in[0].shape(), &index_shape = c.in[1].shape();
  const int k = static_cast<int>(index_shape[-1]);
  const i64 rows = Dims(index_shape.begin(), index_shape.end() - 1).count();
  Blocks out;
  out.size = Dims(shape.begin() + k, shape.end()).count();
  with_dtype(c.eqn, c.in[1].type.dtype, [&]<Integer T>(T) {
    const T* index = c.in[1].as<T>();
    for (i64 r = 0; r < rows; ++r) {
      i64 block = 0;
      bool inside = true;
      for (int d = 0; d < k; ++d) {
        const auto i = static_cast<i64>(*index++);
        inside = inside && i >= 0 && i < shape[d];
        block = block * shape[d] + std::clamp<i64>(i, 0, std::max<i64>(shape[d] - 1, 0));
      }
      out.starts.push_back(inside || mode == ops::IndexMode::clip ? block * out.size : -1);
    }
  });
  return out;
}

void eval_gather(const Call& c) {
  const auto& p = c.params<ops::Gather>();
  const Blocks from = blocks(c, p.mode);
  const std::uint64_t fill[2] = {p.fill.low, p.fill.high};
  const auto size = at(itemsize(c.out[0].type.dtype));
  std::byte* out = c.out[0].data;
  for (i64 start : from.starts)
    for (i64 i = 0; i < from.size; ++i, out += size) {
      if (start < 0)
        std::memcpy(out, fill, size);
      else
        std::memcpy(out, c.in[0].data + at(start + i) * size, size);
    }
}

template <class T>
T combined(const Call& c, ops::Combine combine, const T& old, const T& update) {
  using C = Compute<T>;
  if (combine == ops::Combine::set) return update;
  if constexpr (Number<T>) {
    if (combine == ops::Combine::add) return T(plus<C>(load(old), load(update)));
    if (combine == ops::Combine::mul) return T(times<C>(load(old), load(update)));
  }
  if constexpr (Ordered<T>) {
    if (combine == ops::Combine::min) return T(smaller<C>(load(old), load(update)));
    if (combine == ops::Combine::max) return T(larger<C>(load(old), load(update)));
  }
  no_evaluator(c.eqn, c.out[0].type.dtype);
}
void eval_scatter(const Call& c) {
  const auto& p = c.params<ops::Scatter>();
  copy_all(c.in[0], c.out[0]);
  const Blocks to = blocks(c, p.mode);
  with_dtype(c.eqn, c.out[0].type.dtype, [&]<class T>(T) {
    const T* update = c.in[2].as<T>();
    for (i64 start : to.starts)
      for (i64 i = 0; i < to.size; ++i, ++update) {
        if (start < 0) continue;
        T& element = c.out[0].as<T>()[start + i];
        element = combined<T>(c, p.combine, element, *update);
      }
  });
}

// -1, 0 or 1, as element a stands before, beside or behind element b.
using OrderFn = int (*)(const Value&, i64 a, i64 b);
OrderFn order_of(const ir::Eqn& eqn, Dtype dtype) {
  OrderFn order = nullptr;
  with_dtype(eqn, dtype, [&]<Ordered T>(T) {
    order = [](const Value& v, i64 a, i64 b) { return sort_order(load(v.as<T>()[a]), load(v.as<T>()[b])); };
  });
  return order;
}
void eval_sort(const Call& c) {
  const auto& p = c.params<ops::Sort>();
  const Dims& shape = c.in[0].shape();
  const i64 n = shape[p.axis], step = strides(shape)[at(p.axis)];
  std::vector<OrderFn> orders;
  for (int k = 0; k < p.keys; ++k) orders.push_back(order_of(c.eqn, c.in[at(k)].type.dtype));
  Dims lanes = shape;
  lanes[p.axis] = std::min<i64>(n, 1);
  std::vector<i64> order(at(n));
  walk(lanes, 0, strides(shape), [&](i64, i64 lane) {
    std::iota(order.begin(), order.end(), i64{0});
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) {
      for (std::size_t k = 0; k < orders.size(); ++k) {
        const int r = orders[k](c.in[k], lane + a * step, lane + b * step);
        if (r != 0) return r < 0;
      }
      return false;
    });
    for (std::size_t k = 0; k < c.in.size(); ++k)
      for (i64 i = 0; i < n; ++i) copy_element(c.in[k], lane + order[at(i)] * step, c.out[k], lane + i * step);
  });
}

void eval_top_k(const Call& c) {
  const i64 n = c.in[0].shape()[-1], k = c.params<ops::TopK>().k;
  const OrderFn order_in = order_of(c.eqn, c.in[0].type.dtype);
  std::vector<i64> order(at(n));
  for (i64 lane = 0; lane * n < c.in[0].count(); ++lane) {
    std::iota(order.begin(), order.end(), lane * n);
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) { return order_in(c.in[0], a, b) > 0; });
    for (i64 i = 0; i < k; ++i) {
      copy_element(c.in[0], order[at(i)], c.out[0], lane * k + i);
      c.out[1].as<std::int32_t>()[lane * k + i] = static_cast<std::int32_t>(order[at(i)] - lane * n);
    }
  }
}

constexpr Evaluator table[] = {
    {&ops::gather, eval_gather}, {&ops::scatter, eval_scatter}, {&ops::sort, eval_sort}, {&ops::top_k, eval_top_k}};
}  // namespace

std::span<const Evaluator> index_evaluators() { return table; }

}  // namespace uni::reference
