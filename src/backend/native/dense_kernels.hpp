// The innermost part of matrix products of floats: a few rows times one panel of columns, and the packing of both.
// Compiled once for each instruction set.
#pragma once
#include <unisono/dtype.hpp>

namespace uni::native {

// Adds a block of rows times a panel of `columns` columns to c, or stores it.
struct DenseBlock {
  i64 k = 0;
  const float* a = nullptr;  // packed
  const float* b = nullptr;  // rows of `DenseIsa::columns` floats, b_step apart
  i64 b_step = 0;
  float* const* c = nullptr;  // by row
  i64 columns = 0;
  bool add = false;
};
// Element (i, k) of what is packed lies at data[i * i_step + k * k_step].
struct DenseSource {
  const void* data = nullptr;
  Dtype dtype = Dtype::f32;
  i64 i_step = 0, k_step = 0;
};

struct DenseIsa {
  static constexpr i64 most_rows = 14, most_columns = 32;
  // How rows lie in a packed block: one after another, so many floats apart (no power of two: rows would meet in one
  // set of the cache), or position by position of k, so many floats apart.
  static constexpr i64 block_k = 256, row_step = block_k + 16, position_step = 16;

  i64 rows, columns;  // of a block
  using Multiply = void (*)(const DenseBlock&);
  Multiply by_rows[most_rows], by_positions[most_rows];  // for 1, 2, ... rows
  // Packs n rows or columns, k positions. pack_rows: out[i * row_step + k]. pack_positions: out[k * step + i].
  void (*pack_rows)(const DenseSource&, i64 n, i64 k, float* out);
  void (*pack_positions)(const DenseSource&, i64 n, i64 k, float* out, i64 step);
};
extern const DenseIsa dense_avx2, dense_avx512;
// For this processor and UNISONO_ISA; null when it has neither set.
const DenseIsa* dense_isa();

}  // namespace uni::native
