// Contractions, tile by tile, on the thread pool. Floats of up to 32 bits are accumulated in f32 by the kernels of
// dense_kernels.hpp, other types by OpenBLAS or plain loops.
#pragma once
#include <span>

#include "backend/native/contraction.hpp"
#include "backend/native/dense_kernels.hpp"

namespace uni::native {

// Some loops as one index: run r begins at starts[r], and its elements are the steps apart. x, y: two of a, b, c.
struct DenseAxis {
  struct Start {
    i64 x = 0, y = 0;
  };
  i64 count = 1, run = 1, x_step = 0, y_step = 0;
  std::vector<Start> starts{Start{}};

  // fn(first, count, x, y) for the parts of [begin, end) whose elements are the steps apart.
  template <class Fn>
  void runs(i64 begin, i64 end, const Fn& fn) const {
    while (begin < end) {
      const Start& s = starts[static_cast<std::size_t>(begin / run)];
      const i64 in_run = begin % run, n = end - begin < run - in_run ? end - begin : run - in_run;
      fn(begin, n, s.x + in_run * x_step, s.y + in_run * y_step);
      begin += n;
    }
  }
};

class Dense {
 public:
  explicit Dense(Contraction contraction);
  // Memory that run() needs beside the operands.
  i64 scratch_bytes() const { return parts_ == 1 ? 0 : parts_ * m_.count * n_.count * static_cast<i64>(sizeof(float)); }
  // Bits do not depend on the number of threads.
  void run(const std::byte* a, const std::byte* b, std::byte* c, std::byte* scratch) const;

 private:
  struct Tile {
    i64 row, rows, column, columns, k0, k1;
    const std::byte *a, *b;
    std::byte* c;
    float* partial;  // of all rows and columns, where k is cut into parts
  };
  void choose_tiles();
  void add_parts(const float* partial, std::byte* c) const;
  void zero(std::byte* c) const;
  template <class From, class To>
  void store(const Tile& t, const From* const* rows, To* c) const;

  // dense_float.cpp
  struct Packed;
  void float_tile(const Tile& t) const;
  void pack_a(Packed& s, const Tile& t, i64 k0, i64 k1) const;
  const float* pack_b(Packed& s, const Tile& t, i64 column, i64 columns, i64 k0, i64 k1) const;
  void multiply(Packed& s, const Tile& t, i64 column, i64 k0, i64 k1) const;
  // dense_blas.cpp
  void other_tile(const Tile& t) const;
  template <class T>
  void tile_of(const Tile& t) const;

  const DenseIsa* isa_;  // null: other_tile()
  Dtype dtype_;
  i64 item_;
  bool swapped_ = false;  // a and b change places, where c's unit stride is one of m's
  i64 a_offset_, b_offset_;
  DenseAxis m_, n_, k_;                 // (a, c), (b, c), (a, b)
  std::vector<ContractionLoop> batch_;  // offsets
  bool by_rows_ = true;                 // how a is packed
  bool in_place_ = false;               // c is f32, and all columns of a row are neighbours
  i64 tile_rows_ = 0, tile_columns_ = 0, down_ = 0, across_ = 0;
  i64 parts_ = 1;  // of k, added up in order at the end
};

}  // namespace uni::native
