// Reductions along axes.
#include <algorithm>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/contract.hpp"

namespace uni::reference {

namespace {
// By input dimension: how far it moves in the result; reduced dimensions do not.
Steps result_steps(const Dims& in, const Dims& out, const std::vector<int>& axes) {
  const Steps kept = strides(out);
  Steps step;
  std::size_t k = 0;
  for (int d = 0; d < in.rank(); ++d)
    step.push_back(std::find(axes.begin(), axes.end(), d) == axes.end() ? kept[k++] : 0);
  return step;
}

// Folds into `Acc` and rounds once.
template <class T, class Acc, class Fn>
void fold(const Call& c, Acc neutral, const Fn& fn) {
  const Value &x = c.in[0], &y = c.out[0];
  struct Slot {  // std::vector<bool> has no elements to refer to
    Acc value;
  };
  std::vector<Slot> folded(at(y.count()), Slot{neutral});
  walk(x.shape(), 0, result_steps(x.shape(), y.shape(), c.params<ops::Reduce>().axes),
       [&](i64 i, i64 k) { folded[at(k)].value = fn(folded[at(k)].value, static_cast<Acc>(load(x.as<T>()[i]))); });
  for (i64 k = 0; k < y.count(); ++k) y.as<T>()[k] = T(static_cast<Compute<T>>(folded[at(k)].value));
}

void eval_sum(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) { fold<T>(c, Accumulator<T>(0), plus<Accumulator<T>>); });
}
void eval_prod(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) { fold<T>(c, Accumulator<T>(1), times<Accumulator<T>>); });
}
void eval_max(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { fold<T>(c, lowest<Compute<T>>(), larger<Compute<T>>); });
}
void eval_min(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { fold<T>(c, highest<Compute<T>>(), smaller<Compute<T>>); });
}
void eval_and(const Call& c) {
  fold<bool>(c, true, [](bool a, bool b) { return a && b; });
}
void eval_or(const Call& c) {
  fold<bool>(c, false, [](bool a, bool b) { return a || b; });
}

template <class T, class Acc, class Fn>
void run(const Call& c, Acc start, const Fn& fn) {
  const auto& p = c.params<ops::Cumulative>();
  const Dims& shape = c.in[0].shape();
  const i64 step = strides(shape)[at(p.axis)], size = shape[p.axis];
  Dims lanes = shape;
  lanes[p.axis] = 1;
  walk(lanes, 0, strides(shape), [&](i64, i64 first) {
    Acc total = start;
    for (i64 i = 0; i < size; ++i) {
      const i64 k = first + (p.reverse ? size - 1 - i : i) * step;
      total = fn(total, static_cast<Acc>(load(c.in[0].as<T>()[k])));
      c.out[0].as<T>()[k] = T(static_cast<Compute<T>>(total));
    }
  });
}
void eval_cumsum(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) { run<T>(c, Accumulator<T>(0), plus<Accumulator<T>>); });
}
void eval_cumprod(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) { run<T>(c, Accumulator<T>(1), times<Accumulator<T>>); });
}
void eval_cummax(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { run<T>(c, lowest<Compute<T>>(), larger<Compute<T>>); });
}
void eval_cummin(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { run<T>(c, highest<Compute<T>>(), smaller<Compute<T>>); });
}
void eval_cumlogsumexp(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Real T>(T) {
    using Acc = Accumulator<T>;
    run<T>(c, lowest<Acc>(), [](Acc a, Acc b) {
      const Acc apart = a == b ? 0 : std::abs(a - b);
      return larger(a, b) + std::log1p(std::exp(-apart));
    });
  });
}

template <class Better>
void arg_reduce(const Call& c, const Better& better) {
  const auto& p = c.params<ops::ArgReduce>();
  const Dims& shape = c.in[0].shape();
  const Steps step = strides(shape);
  Dims lanes = shape;
  lanes[p.axis] = 1;
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) {
    with_dtype(c.eqn, p.dtype, [&]<Integer I>(I) {
      walk(lanes, 0, step, [&](i64 lane, i64 start) {
        const auto element = [&](i64 i) { return load(c.in[0].as<T>()[start + i * step[at(p.axis)]]); };
        i64 best = 0;
        for (i64 i = 1; i < shape[p.axis]; ++i)
          if (!is_nan(element(best)) && (is_nan(element(i)) || better(element(i), element(best)))) best = i;
        c.out[0].as<I>()[lane] = static_cast<I>(best);
      });
    });
  });
}
void eval_argmax(const Call& c) {
  arg_reduce(c, [](auto a, auto b) { return a > b; });
}
void eval_argmin(const Call& c) {
  arg_reduce(c, [](auto a, auto b) { return a < b; });
}

constexpr Evaluator table[] = {{&ops::reduce_sum, eval_sum},
                               {&ops::reduce_prod, eval_prod},
                               {&ops::reduce_max, eval_max},
                               {&ops::reduce_min, eval_min},
                               {&ops::reduce_and, eval_and},
                               {&ops::reduce_or, eval_or},
                               {&ops::argmax, eval_argmax},
                               {&ops::argmin, eval_argmin},
                               {&ops::cumsum, eval_cumsum},
                               {&ops::cumprod, eval_cumprod},
                               {&ops::cummax, eval_cummax},
                               {&ops::cummin, eval_cummin},
                               {&ops::cumlogsumexp, eval_cumlogsumexp}};
}  // namespace

std::span<const Evaluator> reduce_evaluators() { return table; }

}  // namespace uni::reference
