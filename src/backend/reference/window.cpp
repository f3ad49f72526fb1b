// Reductions over sliding windows.
#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/contract.hpp"

namespace uni::reference {

namespace {
// Calls fn(window, position in x), windows in order and positions in order within each; padding is left out.
template <class Fn>
void for_each_window(const Dims& shape, const Dims& windows, const ops::Window& w, const Fn& fn) {
  const Steps step = strides(shape);
  Odometer o(windows);
  for (i64 k = 0; k < windows.count(); ++k, o.next()) {
    Odometer inside(w.size);
    for (i64 j = 0; j < w.size.count(); ++j, inside.next()) {
      i64 position = 0;
      bool padding = false;
      for (int d = 0; d < shape.rank(); ++d) {
        const i64 i = o[d] * w.stride[d] + inside[d] - w.low[d];
        padding = padding || i < 0 || i >= shape[d];
        position += i * step[at(d)];
      }
      if (!padding) fn(k, position);
    }
  }
}
template <class T, class Acc>
void write(const std::vector<Acc>& sums, const Value& out) {
  for (std::size_t i = 0; i < sums.size(); ++i) out.as<T>()[i] = T(static_cast<Compute<T>>(sums[i]));
}

void eval_sum(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) {
    using Acc = Accumulator<T>;
    std::vector<Acc> sums(at(c.out[0].count()), Acc(0));
    for_each_window(c.in[0].shape(), c.out[0].shape(), c.params<ops::Window>(),
                    [&](i64 k, i64 i) { sums[at(k)] = plus(sums[at(k)], static_cast<Acc>(load(c.in[0].as<T>()[i]))); });
    write<T>(sums, c.out[0]);
  });
}
void eval_max(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) {
    T* out = c.out[0].as<T>();
    for (i64 k = 0; k < c.out[0].count(); ++k) out[k] = T(lowest<Compute<T>>());
    for_each_window(c.in[0].shape(), c.out[0].shape(), c.params<ops::Window>(),
                    [&](i64 k, i64 i) { out[k] = T(larger(load(out[k]), load(c.in[0].as<T>()[i]))); });
  });
}

// By window: the position of the first maximal element (the first NaN wins), -1 when the window covers padding only.
std::vector<i64> first_maxima(const Call& c, const Value& x, const Dims& windows) {
  std::vector<i64> best(at(windows.count()), -1);
  with_dtype(c.eqn, x.type.dtype, [&]<Ordered T>(T) {
    for_each_window(x.shape(), windows, c.params<ops::Window>(), [&](i64 k, i64 i) {
      i64& b = best[at(k)];
      const auto now = load(x.as<T>()[i]);
      if (b < 0 || (!is_nan(load(x.as<T>()[b])) && (is_nan(now) || now > load(x.as<T>()[b])))) b = i;
    });
  });
  return best;
}
void eval_gather_max(const Call& c) {
  const std::vector<i64> best = first_maxima(c, c.in[1], c.out[0].shape());
  std::memset(c.out[0].data, 0, c.out[0].bytes());
  for (std::size_t k = 0; k < best.size(); ++k)
    if (best[k] >= 0) copy_element(c.in[0], best[k], c.out[0], static_cast<i64>(k));
}
void eval_scatter_max(const Call& c) {
  const std::vector<i64> best = first_maxima(c, c.in[1], c.in[0].shape());
  with_dtype(c.eqn, c.out[0].type.dtype, [&]<Number T>(T) {
    using Acc = Accumulator<T>;
    std::vector<Acc> sums(at(c.out[0].count()), Acc(0));
    for (std::size_t k = 0; k < best.size(); ++k)
      if (best[k] >= 0) sums[at(best[k])] = plus(sums[at(best[k])], static_cast<Acc>(load(c.in[0].as<T>()[k])));
    write<T>(sums, c.out[0]);
  });
}

constexpr Evaluator table[] = {{&ops::reduce_window_sum, eval_sum},
                               {&ops::reduce_window_max, eval_max},
                               {&ops::window_gather_max, eval_gather_max},
                               {&ops::window_scatter_max, eval_scatter_max}};
}  // namespace

std::span<const Evaluator> window_evaluators() { return table; }

}  // namespace uni::reference
