// Gather, scatter, sort.
#include <algorithm>
#include <numeric>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/structural.hpp"

namespace uni::reference {

namespace {
// Where each index row points: the offset of x's block, or -1 when it is out of range and not clipped.
std::vector<i64> block_offsets(const Value& x, const Value& indices, ops::IndexMode mode) {
  const Dims& shape = x.type.shape;
  const int k = static_cast<int>(indices.type.shape[-1]);
  const i64 rows = Dims(indices.type.shape.begin(), indices.type.shape.end() - 1).count();
  std::vector<i64> out;
  for (i64 r = 0; r < rows; ++r) {
    i64 offset = 0;
    bool inside = true;
    for (int d = 0; d < k; ++d) {
      i64 i = 0;
      with_dtype(indices.type.dtype, [&]<class T>(T) {
        if constexpr (is_int<T>) i = static_cast<i64>(indices.as<T>()[r * k + d]);
      });
      inside = inside && i >= 0 && i < shape[d];
      offset = offset * shape[d] + std::clamp<i64>(i, 0, std::max<i64>(shape[d] - 1, 0));
    }
    out.push_back(inside || mode == ops::IndexMode::clip ? offset : -1);
  }
  return out;
}
i64 block_size(const Value& x, const Value& indices) {
  const int k = static_cast<int>(indices.type.shape[-1]);
  return Dims(x.type.shape.begin() + k, x.type.shape.end()).count();
}

void eval_gather(const Call& c) {
  const auto& p = c.params<ops::Gather>();
  const std::vector<i64> offsets = block_offsets(c.in[0], c.in[1], p.mode);
  const i64 block = block_size(c.in[0], c.in[1]);
  const i64 size = itemsize(c.out[0].type.dtype);
  unsigned char fill[16];
  std::memcpy(fill, &p.fill.low, 8);
  std::memcpy(fill + 8, &p.fill.high, 8);
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    std::byte* out = c.out[0].data + static_cast<i64>(r) * block * size;
    if (offsets[r] >= 0)
      std::memcpy(out, c.in[0].data + offsets[r] * block * size, static_cast<std::size_t>(block * size));
    else
      for (i64 i = 0; i < block; ++i) std::memcpy(out + i * size, fill, static_cast<std::size_t>(size));
  }
}

template <class T>
T combined(ops::Combine combine, const T& old, const T& update) {
  if constexpr (std::is_same_v<T, Key>) {
    return update;
  } else {
    const Compute<T> a = load(old), b = load(update);
    switch (combine) {
      case ops::Combine::set: return update;
      case ops::Combine::add:
        if constexpr (std::is_same_v<T, bool>)
          return a || b;
        else
          return T(wrap_add(a, b));
      case ops::Combine::mul:
        if constexpr (std::is_same_v<T, bool>)
          return a && b;
        else
          return T(wrap_mul(a, b));
      case ops::Combine::min:
        if constexpr (!is_cplx<T>) return T(smaller(a, b));
        break;
      case ops::Combine::max:
        if constexpr (!is_cplx<T>) return T(larger(a, b));
        break;
    }
    return old;
  }
}
void eval_scatter(const Call& c) {
  const auto& p = c.params<ops::Scatter>();
  std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(c.out[0].type.bytes()));
  if (c.out[0].count() == 0) return;
  const std::vector<i64> offsets = block_offsets(c.in[0], c.in[1], p.mode);
  const i64 block = block_size(c.in[0], c.in[1]);
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    for (std::size_t r = 0; r < offsets.size(); ++r) {
      if (offsets[r] < 0) continue;
      for (i64 i = 0; i < block; ++i) {
        T& slot = c.out[0].as<T>()[offsets[r] * block + i];
        slot = combined<T>(p.combine, slot, c.in[2].as<T>()[static_cast<i64>(r) * block + i]);
      }
    }
  });
}

int compare_elements(const Value& v, i64 a, i64 b) {
  int result = 0;
  with_dtype(v.type.dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, Key>)
      result = 0;
    else
      result = sort_order(load(v.as<T>()[a]), load(v.as<T>()[b]));
  });
  return result;
}
void eval_sort(const Call& c) {
  const auto& p = c.params<ops::Sort>();
  const Dims& shape = c.in[0].type.shape;
  const i64 n = shape[p.axis];
  const i64 step = strides(shape)[static_cast<std::size_t>(p.axis)];
  std::vector<i64> order(static_cast<std::size_t>(n));
  Odometer o(shape);
  for (i64 at = 0; at < c.in[0].count(); ++at, o.next()) {
    if (o[p.axis] != 0) continue;
    std::iota(order.begin(), order.end(), i64{0});
    std::stable_sort(order.begin(), order.end(), [&](i64 a, i64 b) {
      for (int k = 0; k < p.keys; ++k) {
        const int r = compare_elements(c.in[static_cast<std::size_t>(k)], at + a * step, at + b * step);
        if (r != 0) return r < 0;
      }
      return false;
    });
    for (std::size_t k = 0; k < c.in.size(); ++k) {
      const i64 size = itemsize(c.in[k].type.dtype);
      for (i64 i = 0; i < n; ++i)
        std::memcpy(c.out[k].data + (at + i * step) * size,
                    c.in[k].data + (at + order[static_cast<std::size_t>(i)] * step) * size, static_cast<std::size_t>(size));
    }
  }
}

constexpr Evaluator table[] = {{&ops::gather, eval_gather}, {&ops::scatter, eval_scatter}, {&ops::sort, eval_sort}};
}  // namespace

std::span<const Evaluator> index_evaluators() { return table; }

}  // namespace uni::reference
