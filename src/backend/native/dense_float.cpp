#include <algorithm>

#include "backend/native/dense_store.hpp"
#include "backend/native/kernel.hpp"
#include "base/thread_instance.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
}  // namespace

// What one thread packs into.
struct Dense::Packed {
  struct alignas(64) Line {
    float values[16];
  };
  std::vector<Line> a, b, c;
  std::vector<float*> rows;  // of c
  static float* floats(std::vector<Line>& lines, i64 n) {
    if (lines.size() < at(n + 15) / 16) lines.resize(at(n + 15) / 16);
    return lines.data()->values;
  }
  static i64 block(const DenseIsa& isa, bool by_rows) {
    return by_rows ? isa.rows * DenseIsa::row_step : DenseIsa::block_k * DenseIsa::position_step;
  }
};

void Dense::float_tile(const Tile& t) const {
  Packed& s = base::thread_instance<Packed>();
  s.rows.resize(at(t.rows));
  const bool own = !in_place_ && !t.partial;
  float* target = t.partial ? t.partial + t.row * n_.count + t.column : nullptr;
  i64 row_step = n_.count;
  if (own) {
    row_step = (t.columns + 15) / 16 * 16;
    target = Packed::floats(s.c, t.rows * row_step);
  }
  m_.runs(t.row, t.row + t.rows, [&](i64 first, i64 n, i64, i64 to) {
    for (i64 i = 0; i < n; ++i) {
      const i64 r = first - t.row + i;
      s.rows[at(r)] = target ? target + r * row_step : reinterpret_cast<float*>(t.c) + to + i * m_.y_step + t.column;
    }
  });
  for (i64 k0 = t.k0; k0 < t.k1; k0 += DenseIsa::block_k) {
    const i64 k1 = std::min(t.k1, k0 + DenseIsa::block_k);
    pack_a(s, t, k0, k1);
    for (i64 j = 0; j < t.columns; j += isa_->columns) multiply(s, t, j, k0, k1);
  }
  if (!own) return;
  dispatch(dtype_, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, float> || is_small_float<T>) store(t, s.rows.data(), reinterpret_cast<T*>(t.c));
  });
}

void Dense::pack_a(Packed& s, const Tile& t, i64 k0, i64 k1) const {
  const i64 block = Packed::block(*isa_, by_rows_);
  float* const packed = Packed::floats(s.a, (t.rows + isa_->rows - 1) / isa_->rows * block);
  for (i64 r = 0; r < t.rows; r += isa_->rows) {
    float* const out = packed + r / isa_->rows * block;
    m_.runs(t.row + r, t.row + std::min(t.rows, r + isa_->rows), [&](i64 i, i64 rows, i64 from_m, i64) {
      const i64 row = i - t.row - r;
      k_.runs(k0, k1, [&](i64 k, i64 n, i64 from_k, i64) {
        const DenseSource x{t.a + (from_m + from_k) * item_, dtype_, m_.x_step, k_.x_step};
        if (by_rows_)
          isa_->pack_rows(x, rows, n, out + row * DenseIsa::row_step + (k - k0));
        else
          isa_->pack_positions(x, rows, n, out + (k - k0) * DenseIsa::position_step + row, DenseIsa::position_step);
      });
    });
  }
}

const float* Dense::pack_b(Packed& s, const Tile& t, i64 column, i64 columns, i64 k0, i64 k1) const {
  float* const out = Packed::floats(s.b, DenseIsa::block_k * isa_->columns);
  if (columns < isa_->columns) std::fill_n(out, (k1 - k0) * isa_->columns, 0.0f);
  n_.runs(t.column + column, t.column + column + columns, [&](i64 j, i64 count, i64 from_n, i64) {
    k_.runs(k0, k1, [&](i64 k, i64 n, i64, i64 from_k) {
      const DenseSource x{t.b + (from_n + from_k) * item_, dtype_, n_.x_step, k_.y_step};
      isa_->pack_positions(x, count, n, out + (k - k0) * isa_->columns + (j - t.column - column), isa_->columns);
    });
  });
  return out;
}

// All rows of the tile times one panel of columns.
void Dense::multiply(Packed& s, const Tile& t, i64 column, i64 k0, i64 k1) const {
  const i64 block = Packed::block(*isa_, by_rows_), columns = std::min(isa_->columns, t.columns - column);
  float* c[DenseIsa::most_rows];
  DenseBlock m{k1 - k0, nullptr, pack_b(s, t, column, columns, k0, k1), isa_->columns, c, columns, k0 > t.k0};
  for (i64 r = 0; r < t.rows; r += isa_->rows) {
    const i64 rows = std::min(isa_->rows, t.rows - r);
    for (i64 i = 0; i < rows; ++i) c[i] = s.rows[at(r + i)] + column;
    m.a = s.a.data()->values + r / isa_->rows * block;
    (by_rows_ ? isa_->by_rows : isa_->by_positions)[rows - 1](m);
  }
}

}  // namespace uni::native
