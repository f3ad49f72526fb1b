// Reductions, windows, dot products, convolution.
#include <algorithm>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/contract.hpp"

namespace uni::reference {

namespace {
// The output position that each input position is reduced into.
template <class Fn>
void for_each_reduced(const Call& c, const std::vector<int>& axes, const Fn& fn) {
  const Dims& shape = c.in[0].type.shape;
  const std::vector<i64> step = strides(c.out[0].type.shape);
  Odometer o(shape);
  for (i64 i = 0; i < c.in[0].count(); ++i, o.next()) {
    i64 at = 0;
    std::size_t k = 0;
    for (int d = 0; d < shape.rank(); ++d)
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) at += o[d] * step[k++];
    fn(i, at);
  }
}

// Accumulates in the type of computing and rounds once.
template <class Start, class Step>
void reduce(const Call& c, const Start& start, const Step& step) {
  const auto& axes = c.params<ops::Reduce>().axes;
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (std::is_invocable_v<Step, Compute<T>, Compute<T>>) {
      std::vector<Compute<T>> sums;
      // vector<bool> would not hold references.
      sums.resize(static_cast<std::size_t>(c.out[0].count()), start(Compute<T>{}));
      for_each_reduced(c, axes, [&](i64 i, i64 at) {
        const auto k = static_cast<std::size_t>(at);
        sums[k] = step(static_cast<Compute<T>>(sums[k]), load(c.in[0].as<T>()[i]));
      });
      for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<T>()[i] = T(static_cast<Compute<T>>(sums[static_cast<std::size_t>(i)]));
    }
  });
}
template <class T>
T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <class T>
T highest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}
void eval_sum(const Call& c) {
  reduce(c, []<class T>(T) { return T{}; }, []<class T>(T a, T b) requires(is_number<T>) { return wrap_add(a, b); });
}
void eval_prod(const Call& c) {
  reduce(c, []<class T>(T) { return T(1); }, []<class T>(T a, T b) requires(is_number<T>) { return wrap_mul(a, b); });
}
void eval_max(const Call& c) {
  reduce(
      c, []<class T>(T) { return lowest<T>(); }, []<class T>(T a, T b) requires(std::is_arithmetic_v<T>) { return larger(a, b); });
}
void eval_min(const Call& c) {
  reduce(
      c, []<class T>(T) { return highest<T>(); }, []<class T>(T a, T b) requires(std::is_arithmetic_v<T>) { return smaller(a, b); });
}
void eval_reduce_and(const Call& c) {
  reduce(c, []<class T>(T) { return true; }, [](bool a, bool b) { return a && b; });
}
void eval_reduce_or(const Call& c) {
  reduce(c, []<class T>(T) { return false; }, [](bool a, bool b) { return a || b; });
}

template <class Better>
void arg_reduce(const Call& c, const Better& better) {
  const auto& p = c.params<ops::ArgReduce>();
  const Dims& shape = c.in[0].type.shape;
  const i64 step = strides(shape)[static_cast<std::size_t>(p.axis)];
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<Compute<T>>) {
      Odometer o(shape);
      for (i64 at = 0; at < c.in[0].count(); ++at, o.next()) {
        if (o[p.axis] != 0) continue;
        i64 best = 0;
        for (i64 i = 1; i < shape[p.axis]; ++i)
          if (better(load(c.in[0].as<T>()[at + i * step]), load(c.in[0].as<T>()[at + best * step]))) best = i;
        // The outer dimensions come before, the inner ones after: results are written in order of both.
        const i64 inner = at % step, outer = at / (step * shape[p.axis]);
        with_dtype(p.dtype, [&]<class I>(I) {
          if constexpr (is_int<I>) c.out[0].as<I>()[outer * step + inner] = static_cast<I>(best);
        });
      }
    }
  });
}
template <class T>
bool is_nan(T v) {
  return v != v;
}
void eval_argmax(const Call& c) {
  arg_reduce(c, [](auto a, auto b) { return !is_nan(b) && (is_nan(a) || a > b); });
}
void eval_argmin(const Call& c) {
  arg_reduce(c, [](auto a, auto b) { return !is_nan(b) && (is_nan(a) || a < b); });
}

// Calls fn(window number, position in x or -1 where the window covers padding), windows in order.
template <class Fn>
void for_each_window(const Dims& shape, const Dims& windows, const ops::Window& w, const Fn& fn) {
  const std::vector<i64> step = strides(shape);
  Odometer o(windows);
  for (i64 k = 0; k < windows.count(); ++k, o.next()) {
    Odometer inside(w.size);
    for (i64 j = 0; j < w.size.count(); ++j, inside.next()) {
      i64 at = 0;
      bool padding = false;
      for (int d = 0; d < shape.rank(); ++d) {
        const i64 i = o[d] * w.stride[d] + inside[d] - w.low[d];
        padding = padding || i < 0 || i >= shape[d];
        at += i * step[static_cast<std::size_t>(d)];
      }
      fn(k, padding ? -1 : at);
    }
  }
}
void eval_window_sum(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_number<T>) {
      std::vector<Compute<T>> sums(static_cast<std::size_t>(c.out[0].count()), Compute<T>{});
      for_each_window(c.in[0].type.shape, c.out[0].type.shape, c.params<ops::Window>(), [&](i64 k, i64 at) {
        auto& s = sums[static_cast<std::size_t>(k)];
        if (at >= 0) s = wrap_add(s, load(c.in[0].as<T>()[at]));
      });
      for (std::size_t i = 0; i < sums.size(); ++i) c.out[0].as<T>()[i] = T(sums[i]);
    }
  });
}
void eval_window_max(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    using C = Compute<T>;
    if constexpr (std::is_arithmetic_v<C>) {
      for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<T>()[i] = T(lowest<C>());
      for_each_window(c.in[0].type.shape, c.out[0].type.shape, c.params<ops::Window>(), [&](i64 k, i64 at) {
        if (at >= 0) c.out[0].as<T>()[k] = T(larger(load(c.out[0].as<T>()[k]), load(c.in[0].as<T>()[at])));
      });
    }
  });
}
// The position of the first maximal element of each window, -1 when it covers padding only.
std::vector<i64> first_maxima(const Value& x, const Dims& windows, const ops::Window& w) {
  std::vector<i64> best(static_cast<std::size_t>(windows.count()), -1);
  with_dtype(x.type.dtype, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<Compute<T>>) {
      for_each_window(x.type.shape, windows, w, [&](i64 k, i64 at) {
        i64& b = best[static_cast<std::size_t>(k)];
        if (at < 0) return;
        if (b < 0) {
          b = at;
          return;
        }
        const auto old = load(x.as<T>()[b]), now = load(x.as<T>()[at]);
        if (!is_nan(old) && (is_nan(now) || now > old)) b = at;
      });
    }
  });
  return best;
}
void eval_window_gather(const Call& c) {
  const std::vector<i64> best = first_maxima(c.in[1], c.out[0].type.shape, c.params<ops::Window>());
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    for (std::size_t k = 0; k < best.size(); ++k) c.out[0].as<T>()[k] = best[k] < 0 ? T{} : c.in[0].as<T>()[best[k]];
  });
}
void eval_window_scatter(const Call& c) {
  const std::vector<i64> best = first_maxima(c.in[1], c.in[0].type.shape, c.params<ops::Window>());
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_number<T>) {
      std::vector<Compute<T>> sums(static_cast<std::size_t>(c.out[0].count()), Compute<T>{});
      for (std::size_t k = 0; k < best.size(); ++k) {
        if (best[k] < 0) continue;
        auto& s = sums[static_cast<std::size_t>(best[k])];
        s = wrap_add(s, load(c.in[0].as<T>()[k]));
      }
      for (std::size_t i = 0; i < sums.size(); ++i) c.out[0].as<T>()[i] = T(sums[i]);
    }
  });
}

bool holds(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }
Dims picked(const Dims& shape, const std::vector<int>& dims) {
  Dims out;
  for (int d : dims) out.push_back(shape[d]);
  return out;
}
std::vector<int> free_dims(const Dims& shape, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  for (int d = 0; d < shape.rank(); ++d)
    if (!holds(a, d) && !holds(b, d)) out.push_back(d);
  return out;
}
i64 offset(const Odometer& o, const std::vector<int>& dims, const std::vector<i64>& step) {
  i64 at = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) at += o[static_cast<int>(i)] * step[static_cast<std::size_t>(dims[i])];
  return at;
}
void eval_dot(const Call& c) {
  const auto& p = c.params<ops::DotGeneral>();
  const Dims &ls = c.in[0].type.shape, &rs = c.in[1].type.shape;
  const std::vector<i64> lstep = strides(ls), rstep = strides(rs);
  const std::vector<int> lfree = free_dims(ls, p.lhs_contract, p.lhs_batch), rfree = free_dims(rs, p.rhs_contract, p.rhs_batch);
  const Dims batch = picked(ls, p.lhs_batch), rows = picked(ls, lfree), columns = picked(rs, rfree), inner = picked(ls, p.lhs_contract);
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_number<T>) {
      T* out = c.out[0].as<T>();
      Odometer b(batch);
      for (i64 bi = 0; bi < batch.count(); ++bi, b.next()) {
        Odometer r(rows);
        for (i64 ri = 0; ri < rows.count(); ++ri, r.next()) {
          Odometer q(columns);
          for (i64 qi = 0; qi < columns.count(); ++qi, q.next()) {
            const i64 l0 = offset(b, p.lhs_batch, lstep) + offset(r, lfree, lstep);
            const i64 r0 = offset(b, p.rhs_batch, rstep) + offset(q, rfree, rstep);
            Compute<T> sum{};
            Odometer k(inner);
            for (i64 ki = 0; ki < inner.count(); ++ki, k.next())
              sum = wrap_add(sum, wrap_mul(load(c.in[0].as<T>()[l0 + offset(k, p.lhs_contract, lstep)]),
                                           load(c.in[1].as<T>()[r0 + offset(k, p.rhs_contract, rstep)])));
            *out++ = T(sum);
          }
        }
      }
    }
  });
}

// The position in x that output position `o` meets at kernel position `k`, or -1 in padding and dilation gaps.
bool conv_position(const ops::Conv& p, const Dims& x, const Odometer& o, const Odometer& k, std::vector<i64>& at) {
  for (int d = 0; d < p.stride.rank(); ++d) {
    const i64 i = o[d + 1] * p.stride[d] + k[d] * p.kernel_dilation[d] - p.low[d];
    if (i < 0 || i % p.input_dilation[d] != 0 || i / p.input_dilation[d] >= x[d + 1]) return false;
    at[static_cast<std::size_t>(d) + 1] = i / p.input_dilation[d];
  }
  return true;
}
void eval_conv(const Call& c) {
  const auto& p = c.params<ops::Conv>();
  const Dims &x = c.in[0].type.shape, &w = c.in[1].type.shape, &y = c.out[0].type.shape;
  const int rank = x.rank();
  const std::vector<i64> xs = strides(x), ws = strides(w);
  const i64 in_per_group = w[rank - 2], out_features = w[rank - 1];
  const Dims window(w.begin(), w.begin() + (rank - 2));
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_number<T>) {
      Odometer o(y);
      std::vector<i64> at(static_cast<std::size_t>(rank));
      for (i64 i = 0; i < c.out[0].count(); ++i, o.next()) {
        const i64 feature = o[rank - 1];
        const i64 group = feature / (out_features / p.groups), batch_group = feature / (out_features / p.batch_groups);
        at[0] = batch_group * y[0] + o[0];
        Compute<T> sum{};
        Odometer k(window);
        for (i64 j = 0; j < window.count(); ++j, k.next()) {
          if (!conv_position(p, x, o, k, at)) continue;
          i64 xa = 0, wa = feature;
          for (int d = 0; d + 1 < rank; ++d) xa += at[static_cast<std::size_t>(d)] * xs[static_cast<std::size_t>(d)];
          for (int d = 0; d + 2 < rank; ++d) wa += k[d] * ws[static_cast<std::size_t>(d)];
          for (i64 ci = 0; ci < in_per_group; ++ci)
            sum = wrap_add(sum, wrap_mul(load(c.in[0].as<T>()[xa + group * in_per_group + ci]),
                                         load(c.in[1].as<T>()[wa + ci * out_features])));
        }
        c.out[0].as<T>()[i] = T(sum);
      }
    }
  });
}

constexpr Evaluator table[] = {{&ops::reduce_sum, eval_sum},
                               {&ops::reduce_prod, eval_prod},
                               {&ops::reduce_max, eval_max},
                               {&ops::reduce_min, eval_min},
                               {&ops::reduce_and, eval_reduce_and},
                               {&ops::reduce_or, eval_reduce_or},
                               {&ops::argmax, eval_argmax},
                               {&ops::argmin, eval_argmin},
                               {&ops::reduce_window_sum, eval_window_sum},
                               {&ops::reduce_window_max, eval_window_max},
                               {&ops::window_gather_max, eval_window_gather},
                               {&ops::window_scatter_max, eval_window_scatter},
                               {&ops::dot_general, eval_dot},
                               {&ops::conv, eval_conv}};
}  // namespace

std::span<const Evaluator> contract_evaluators() { return table; }

}  // namespace uni::reference
