#include <algorithm>

#include <memory>

#include "backend/native/dense_store.hpp"
#include "backend/native/gemm.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// out[i * i_step + k * k_step] of elements that lie along two axes; x of `inner` when `second` is false, else y.
template <class T, class W>
void gather(const DenseAxis& outer, i64 begin, i64 end, const DenseAxis& k, i64 k0, i64 k1, bool second, const T* data,
            W* out, i64 i_step, i64 k_step) {
  const i64 x_step = second ? k.y_step : k.x_step;
  outer.runs(begin, end, [&](i64 i, i64 n, i64 from_i, i64) {
    k.runs(k0, k1, [&](i64 q, i64 count, i64 x, i64 y) {
      const T* from = data + from_i + (second ? y : x);
      W* to = out + (i - begin) * i_step + (q - k0) * k_step;
      for (i64 r = 0; r < n; ++r)
        for (i64 p = 0; p < count; ++p)
          to[r * i_step + p * k_step] = static_cast<W>(from[r * outer.x_step + p * x_step]);
    });
  });
}

template <class W>
void multiply_add(i64 rows, i64 columns, i64 k, const W* a, const W* b, W* c, bool add) {
  if constexpr (std::is_floating_point_v<W> || is_complex_like<W>) {
    gemm<W>(rows, columns, k, a, b, c, add);
  } else {
    if (!add) std::fill_n(c, rows * columns, W{});
    for (i64 i = 0; i < rows; ++i)
      for (i64 q = 0; q < k; ++q)
        for (i64 j = 0; j < columns; ++j)
          c[i * columns + j] = plus(c[i * columns + j], times(a[i * k + q], b[q * columns + j]));
  }
}
}  // namespace

template <class T>
void Dense::tile_of(const Tile& t) const {
  using W = Work<T>;
  constexpr i64 block_k = 1024;
  const i64 k = std::min(block_k, k_.count);
  const auto fresh = [](i64 n) { return std::unique_ptr<W[]>(new W[at(n)]); };
  const std::unique_ptr<W[]> a = fresh(t.rows * k), b = fresh(t.columns * k), c = fresh(t.rows * t.columns);
  for (i64 k0 = 0; k0 < k_.count; k0 += block_k) {
    const i64 k1 = std::min(k_.count, k0 + block_k);
    gather(m_, t.row, t.row + t.rows, k_, k0, k1, false, reinterpret_cast<const T*>(t.a), a.get(), k1 - k0, 1);
    gather(n_, t.column, t.column + t.columns, k_, k0, k1, true, reinterpret_cast<const T*>(t.b), b.get(), 1,
           t.columns);
    multiply_add(t.rows, t.columns, k1 - k0, a.get(), b.get(), c.get(), k0 > 0);
  }
  std::vector<const W*> rows(at(t.rows));
  for (i64 r = 0; r < t.rows; ++r) rows[at(r)] = c.get() + r * t.columns;
  store(t, rows.data(), reinterpret_cast<T*>(t.c));
}

void Dense::other_tile(const Tile& t) const {
  dispatch(dtype_, [&]<class T>(T) {
    if constexpr (is_float_like<T> || is_complex_like<T> || is_int_like<T>) tile_of<T>(t);
  });
}

}  // namespace uni::native
