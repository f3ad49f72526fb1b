// Running totals. The order of joins depends on the shape only: blocks are totalled, then each is run through.
#include <algorithm>
#include <memory>

#include "backend/native/joins.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// A running total is kept as a State, made of elements and joined; most are the element itself in its wider type.
template <class Join>
struct Plain : Join {
  template <class W>
  using State = W;
  template <class W>
  static W lift(W v) {
    return v;
  }
  template <class W>
  static W value(W s) {
    return s;
  }
};
// log(sum(exp(x))) as the largest element and the sum of exp(x - largest) over the others: a 1 would hide how little
// they are.
struct LogSumExpOf {
  template <class T>
  static constexpr bool takes = is_float_like<T>;
  template <class W>
  struct State {
    W largest, others;
  };
  template <class S>
  static S start() {
    using W = decltype(S::others);
    return {-std::numeric_limits<W>::infinity(), -1};
  }
  template <class W>
  static State<W> lift(W v) {
    return {v, 0};
  }
  template <class S>
  static S join(S a, S b) {
    if (a.largest < b.largest) std::swap(a, b);
    const auto apart = a.largest == b.largest ? 0 : b.largest - a.largest;
    return {a.largest, a.others + (1 + b.others) * std::exp(apart)};
  }
  template <class W>
  static W value(State<W> s) {
    return s.largest + (s.others < W(0.5) ? std::log1p(s.others) : std::log(1 + s.others));
  }
};
template <class R, class T>
using State = typename R::template State<Work<T>>;

// y[i] = start joined with x[0], ..., x[i], in steps of `step`.
template <class R, class T>
void run(const T* x, T* y, i64 count, i64 step, State<R, T> total) {
  for (i64 i = 0; i < count; ++i) {
    total = R::join(total, R::lift(static_cast<Work<T>>(x[i * step])));
    y[i * step] = T(R::value(total));
  }
}

// Sixteen stretches at once: one join need not wait for another.
constexpr i64 stretches = 16, stretch = 256, block = stretches * stretch;
template <class R, class T>
void run_block(const T* x, T* y, i64 step, State<R, T> start) {
  using S = State<R, T>;
  S total[stretches];
  for (i64 s = 0; s < stretches; ++s) {
    total[s] = start;
    S part = R::template start<S>();
    for (i64 i = 0; i < stretch; ++i) part = R::join(part, R::lift(static_cast<Work<T>>(x[(s * stretch + i) * step])));
    start = R::join(start, part);
  }
  for (i64 i = 0; i < stretch; ++i)
    for (i64 s = 0; s < stretches; ++s) {
      const i64 place = (s * stretch + i) * step;
      total[s] = R::join(total[s], R::lift(static_cast<Work<T>>(x[place])));
      y[place] = T(R::value(total[s]));
    }
}
template <class R, class T>
State<R, T> total_of(const T* x, i64 count, i64 step) {
  using S = State<R, T>;
  constexpr i64 lanes = 16;
  S part[lanes];
  for (S& p : part) p = R::template start<S>();
  for (i64 n = count / lanes; n > 0; --n)
    for (S& p : part) {
      p = R::join(p, R::lift(static_cast<Work<T>>(*x)));
      x += step;
    }
  S total = R::template start<S>();
  for (i64 n = count % lanes; n > 0; --n) {
    total = R::join(total, R::lift(static_cast<Work<T>>(*x)));
    x += step;
  }
  for (const S& p : part) total = R::join(total, p);
  return total;
}

// One row, `step` elements apart (negative: from the end), in large pieces of many blocks.
template <class R, class T>
void row(const T* x, T* y, i64 count, i64 step) {
  using S = State<R, T>;
  // A block of factors may overflow where the product from the start is 0.
  if constexpr (std::is_same_v<R, Plain<ProductOf>>) return run<R>(x, y, count, step, R::template start<S>());
  constexpr i64 piece = 16 * block;
  const i64 pieces = (count + piece - 1) / piece;
  const auto start = std::make_unique<S[]>(at(pieces));
  const auto size_of = [&](i64 p) { return std::min(piece, count - p * piece); };
  if (pieces > 1)
    runtime::parallel_for(pieces, [&](i64 p) { start[at(p)] = total_of<R>(x + p * piece * step, size_of(p), step); });
  S total = R::template start<S>();
  for (i64 p = 0; p < pieces; ++p) {
    const S own = start[at(p)];
    start[at(p)] = total;
    total = R::join(total, own);
  }
  runtime::parallel_for(pieces, [&](i64 p) {
    const i64 begin = p * piece, end = begin + size_of(p);
    S at_block = start[at(p)];
    for (i64 i = begin; i < end; i += block) {
      const i64 n = std::min(block, end - i);
      const T* from = x + i * step;
      if (n < block) return run<R>(from, y + i * step, n, step, at_block);
      const S own = total_of<R>(from, n, step);
      run_block<R>(from, y + i * step, step, at_block);
      at_block = R::join(at_block, own);
    }
  });
}

// Rows of `inner` neighbours: whole vectors are joined.
template <class R, class T>
void columns(const T* x, T* y, i64 count, i64 inner, bool reverse) {
  using S = State<R, T>;
  chunked(inner, count * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
    const auto total = std::make_unique<S[]>(at(end - begin));
    std::fill_n(total.get(), end - begin, R::template start<S>());
    for (i64 i = 0; i < count; ++i) {
      const i64 place = (reverse ? count - 1 - i : i) * inner;
      for (i64 k = begin; k < end; ++k) {
        S& s = total[at(k - begin)];
        s = R::join(s, R::lift(static_cast<Work<T>>(x[place + k])));
        y[place + k] = T(R::value(s));
      }
    }
  });
}

template <class R>
void cumulative(const KernelArgs& k) {
  const auto& p = k.params.as<ops::Cumulative>();
  const Dims& shape = k.in[0].shape();
  i64 outer = 1, inner = 1;
  for (int d = 0; d < p.axis; ++d) outer *= shape[d];
  for (int d = p.axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  const i64 count = shape[p.axis];
  if (shape.count() == 0) return;
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (R::template takes<T>) {
      const T* x = k.in[0].as<T>();
      T* y = k.out[0].as<T>();
      const auto one = [&](i64 o) {
        const i64 base = o * count * inner;
        if (inner > 1) return columns<R>(x + base, y + base, count, inner, p.reverse);
        const i64 last = p.reverse ? base + count - 1 : base;
        row<R>(x + last, y + last, count, p.reverse ? -1 : 1);
      };
      if (outer == 1) return one(0);
      chunked(outer, count * inner * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
        for (i64 o = begin; o < end; ++o) one(o);
      });
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::cumsum, cumulative<Plain<SumOf>>},
                                   {&ops::cumprod, cumulative<Plain<ProductOf>>},
                                   {&ops::cummax, cumulative<Plain<MaxOf>>},
                                   {&ops::cummin, cumulative<Plain<MinOf>>},
                                   {&ops::cumlogsumexp, cumulative<LogSumExpOf>}};
}  // namespace

std::span<const KernelEntry> cumulative_kernels() { return entries; }

}  // namespace uni::native
