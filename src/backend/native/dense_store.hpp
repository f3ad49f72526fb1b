// From a tile of one's own to the result's type and strides.
#pragma once
#include "backend/native/dense.hpp"

namespace uni::native {

template <class From, class To>
void Dense::store(const Tile& t, const From* const* rows, To* c) const {
  m_.runs(t.row, t.row + t.rows, [&](i64 i, i64 n, i64, i64 to_m) {
    n_.runs(t.column, t.column + t.columns, [&](i64 j, i64 columns, i64, i64 to_n) {
      for (i64 r = 0; r < n; ++r) {
        To* out = c + to_m + r * m_.y_step + to_n;
        const From* x = rows[i - t.row + r] + (j - t.column);
        if (n_.y_step == 1)
          for (i64 q = 0; q < columns; ++q) out[q] = static_cast<To>(x[q]);
        else
          for (i64 q = 0; q < columns; ++q) out[q * n_.y_step] = static_cast<To>(x[q]);
      }
    });
  });
}

}  // namespace uni::native
