// Running sums. The order of additions depends on the shape only: blocks are summed, then each is run through.
#include <algorithm>

#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
// y[i] = start + x[0] + ... + x[i], in steps of `step`.
template <class T>
void run(const T* x, T* y, i64 count, i64 step, Work<T> start) {
  Work<T> sum = start;
  for (i64 i = 0; i < count; ++i) {
    sum = plus(sum, static_cast<Work<T>>(x[i * step]));
    y[i * step] = T(sum);
  }
}

// Sixteen stretches at once: one addition need not wait for another.
constexpr i64 stretches = 16, stretch = 256, block = stretches * stretch;
template <class T>
void run_block(const T* x, T* y, i64 step, Work<T> start) {
  Work<T> sum[stretches];
  Work<T> total = start;
  for (i64 s = 0; s < stretches; ++s) {
    sum[s] = total;
    Work<T> part{};
    for (i64 i = 0; i < stretch; ++i) part = plus(part, static_cast<Work<T>>(x[(s * stretch + i) * step]));
    total = plus(total, part);
  }
  for (i64 i = 0; i < stretch; ++i)
    for (i64 s = 0; s < stretches; ++s) {
      const i64 at = (s * stretch + i) * step;
      sum[s] = plus(sum[s], static_cast<Work<T>>(x[at]));
      y[at] = T(sum[s]);
    }
}
template <class T>
Work<T> sum_of(const T* x, i64 count, i64 step) {
  constexpr i64 lanes = 16;
  Work<T> part[lanes] = {};
  for (i64 n = count / lanes; n > 0; --n)
    for (Work<T>& p : part) {
      p = plus(p, static_cast<Work<T>>(*x));
      x += step;
    }
  Work<T> total{};
  for (i64 n = count % lanes; n > 0; --n) {
    total = plus(total, static_cast<Work<T>>(*x));
    x += step;
  }
  for (const Work<T>& p : part) total = plus(total, p);
  return total;
}

// One row, `step` elements apart (negative: from the end), in large pieces of many blocks.
template <class T>
void row(const T* x, T* y, i64 count, i64 step) {
  constexpr i64 piece = 16 * block;
  const i64 pieces = (count + piece - 1) / piece;
  std::vector<Work<T>> start(static_cast<std::size_t>(pieces));
  const auto size_of = [&](i64 p) { return std::min(piece, count - p * piece); };
  if (pieces > 1)
    runtime::parallel_for(
        pieces, [&](i64 p) { start[static_cast<std::size_t>(p)] = sum_of(x + p * piece * step, size_of(p), step); });
  Work<T> total{};
  for (Work<T>& s : start) {
    const Work<T> own = s;
    s = total;
    total = plus(total, own);
  }
  runtime::parallel_for(pieces, [&](i64 p) {
    const i64 begin = p * piece, end = begin + size_of(p);
    Work<T> at_block = start[static_cast<std::size_t>(p)];
    for (i64 i = begin; i < end; i += block) {
      const i64 n = std::min(block, end - i);
      const T* from = x + i * step;
      if (n < block) return run(from, y + i * step, n, step, at_block);
      const Work<T> own = sum_of(from, n, step);
      run_block(from, y + i * step, step, at_block);
      at_block = plus(at_block, own);
    }
  });
}

// Rows of `inner` neighbours: whole vectors are added.
template <class T>
void columns(const T* x, T* y, i64 count, i64 inner, bool reverse) {
  chunked(inner, count * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
    std::vector<Work<T>> sum(static_cast<std::size_t>(end - begin));
    for (i64 i = 0; i < count; ++i) {
      const i64 at = (reverse ? count - 1 - i : i) * inner;
      for (i64 k = begin; k < end; ++k) {
        Work<T>& s = sum[static_cast<std::size_t>(k - begin)];
        s = plus(s, static_cast<Work<T>>(x[at + k]));
        y[at + k] = T(s);
      }
    }
  });
}

void cumsum(const KernelArgs& k) {
  const auto& p = k.params.as<ops::Cumulative>();
  const Dims& shape = k.in[0].shape();
  i64 outer = 1, inner = 1;
  for (int d = 0; d < p.axis; ++d) outer *= shape[d];
  for (int d = p.axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  const i64 count = shape[p.axis];
  if (shape.count() == 0) return;
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, KeyWords>) {
      const T* x = k.in[0].as<T>();
      T* y = k.out[0].as<T>();
      const auto one = [&](i64 o) {
        const i64 at = o * count * inner;
        if (inner > 1) return columns(x + at, y + at, count, inner, p.reverse);
        const i64 last = p.reverse ? at + count - 1 : at;
        row(x + last, y + last, count, p.reverse ? -1 : 1);
      };
      if (outer == 1) return one(0);
      chunked(outer, count * inner * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
        for (i64 o = begin; o < end; ++o) one(o);
      });
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::cumsum, cumsum}};
}  // namespace

std::span<const KernelEntry> cumulative_kernels() { return entries; }

}  // namespace uni::native
