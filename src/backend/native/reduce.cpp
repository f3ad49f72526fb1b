// Reductions. A reduction over any axes is seen as [outer, reduced, inner] after the axes were brought into that form;
// the order of accumulation depends on the shape only.
#include <memory>

#include "backend/native/joins.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
struct Form {
  i64 outer = 1, reduced = 1, inner = 1;
  bool direct = true;  // the reduced axes are neighbours
};
bool listed(const std::vector<int>& axes, int d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); }
Form form_of(const Dims& shape, const std::vector<int>& axes) {
  Form f;
  int phase = 0;  // 0 before the reduced axes, 1 in them, 2 behind
  for (int d = 0; d < shape.rank(); ++d) {
    const bool reduced = listed(axes, d);
    if (shape[d] == 1) continue;
    if (reduced && phase == 2) f.direct = false;
    if (reduced)
      phase = 1;
    else if (phase == 1)
      phase = 2;
    (phase == 0 ? f.outer : phase == 1 ? f.reduced : f.inner) *= shape[d];
  }
  return f;
}
// Moves the reduced axes behind the others.
std::vector<std::byte> gathered(const View& x, const std::vector<int>& axes, Form& f) {
  const std::vector<i64> from = row_strides(x.shape());
  Dims shape;
  std::vector<i64> stride;
  f = Form{};
  for (const bool reduced : {false, true})
    for (int d = 0; d < x.shape().rank(); ++d) {
      if (listed(axes, d) != reduced) continue;
      shape.push_back(x.shape()[d]);
      stride.push_back(from[static_cast<std::size_t>(d)]);
      (reduced ? f.reduced : f.outer) *= x.shape()[d];
    }
  std::vector<std::byte> out(static_cast<std::size_t>(x.type->bytes()));
  copy_strided(out.data(), shape, x.data, 0, stride, itemsize(x.type->dtype));
  return out;
}

// Sixteen running values that do not wait for each other, joined at the end.
template <class R, class T>
Work<T> reduce_run(const T* x, i64 n) {
  using W = Work<T>;
  constexpr i64 lanes = 16;
  W part[lanes];
  for (W& p : part) p = R::template start<W>();
  i64 i = 0;
  for (; i + lanes <= n; i += lanes)
    for (i64 l = 0; l < lanes; ++l) part[l] = R::join(part[l], static_cast<W>(x[i + l]));
  W rest = R::template start<W>();
  for (; i < n; ++i) rest = R::join(rest, static_cast<W>(x[i]));
  for (i64 width = lanes / 2; width > 0; width /= 2)
    for (i64 l = 0; l < width; ++l) part[l] = R::join(part[l], part[l + width]);
  return R::join(part[0], rest);
}
// Long runs in blocks, so that rounding errors stay small and threads can share.
template <class R, class T>
Work<T> reduce_long(const T* x, i64 n) {
  using W = Work<T>;
  constexpr i64 block = 1 << 14;
  if (n <= block) return reduce_run<R>(x, n);
  const i64 blocks = (n + block - 1) / block;
  std::unique_ptr<W[]> part(new W[static_cast<std::size_t>(blocks)]);
  runtime::parallel_for(blocks, [&](i64 b) { part[b] = reduce_run<R>(x + b * block, std::min(block, n - b * block)); });
  return reduce_run<R>(part.get(), blocks);
}
template <class R, class T>
void reduce_rows(const T* x, T* y, const Form& f) {
  if (f.outer == 1) {
    y[0] = T(reduce_long<R>(x, f.reduced));
    return;
  }
  chunked(f.outer, f.reduced * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
    for (i64 o = begin; o < end; ++o) y[o] = T(reduce_run<R>(x + o * f.reduced, f.reduced));
  });
}
// Walks rows and adds them into a strip of running values.
template <class R, class T>
void reduce_columns(const T* x, T* y, const Form& f) {
  using W = Work<T>;
  constexpr i64 strip = 512;
  const i64 strips = (f.inner + strip - 1) / strip;
  const auto one = [&](i64 job) {
    const i64 o = job / strips, begin = job % strips * strip, n = std::min(strip, f.inner - begin);
    W run[strip];
    for (i64 i = 0; i < n; ++i) run[i] = R::template start<W>();
    for (i64 r = 0; r < f.reduced; ++r) {
      const T* row = x + (o * f.reduced + r) * f.inner + begin;
      for (i64 i = 0; i < n; ++i) run[i] = R::join(run[i], static_cast<W>(row[i]));
    }
    for (i64 i = 0; i < n; ++i) y[o * f.inner + begin + i] = T(run[i]);
  };
  chunked(f.outer * strips, f.reduced * std::min(strip, f.inner) * static_cast<i64>(sizeof(T)),
          [&](i64 begin, i64 end) {
            for (i64 j = begin; j < end; ++j) one(j);
          });
}
template <class R>
void reduce(const KernelArgs& k) {
  const auto& axes = k.params.as<ops::Reduce>().axes;
  if (k.out[0].count() == 0) return;
  Form f = form_of(k.in[0].shape(), axes);
  std::vector<std::byte> moved;
  const std::byte* data = k.in[0].data;
  if (!f.direct) {
    moved = gathered(k.in[0], axes, f);
    data = moved.data();
  }
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (R::template takes<T>) {
      const T* x = reinterpret_cast<const T*>(data);
      if (f.inner == 1)
        reduce_rows<R>(x, k.out[0].as<T>(), f);
      else
        reduce_columns<R>(x, k.out[0].as<T>(), f);
    }
  });
}

template <bool Greatest>
void arg_extremum(const KernelArgs& k) {
  const auto& p = k.params.as<ops::ArgReduce>();
  const Dims& shape = k.in[0].shape();
  const i64 n = shape[p.axis], step = row_strides(shape)[static_cast<std::size_t>(p.axis)];
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (has_order<T>) {
      const T* x = k.in[0].as<T>();
      for (i64 lane = 0; lane < k.out[0].count(); ++lane) {
        const T* first = x + lane / step * step * n + lane % step;
        i64 best = 0;
        for (i64 i = 1; i < n; ++i) {
          const auto now = static_cast<Work<T>>(first[i * step]), old = static_cast<Work<T>>(first[best * step]);
          const bool better = old == old && (now != now || (Greatest ? now > old : now < old));
          if (better) best = i;
        }
        dispatch(p.dtype, [&]<class I>(I) {
          if constexpr (is_int_like<I>) k.out[0].as<I>()[lane] = static_cast<I>(best);
        });
      }
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::reduce_sum, reduce<SumOf>},  {&ops::reduce_prod, reduce<ProductOf>},
                                   {&ops::reduce_max, reduce<MaxOf>},  {&ops::reduce_min, reduce<MinOf>},
                                   {&ops::reduce_and, reduce<MinOf>},  {&ops::reduce_or, reduce<MaxOf>},
                                   {&ops::argmax, arg_extremum<true>}, {&ops::argmin, arg_extremum<false>}};
}  // namespace

std::span<const KernelEntry> reduce_kernels() { return entries; }

}  // namespace uni::native
