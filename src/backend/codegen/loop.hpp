// What one kernel computes: values over a space of rows and columns. Maps run along the columns in vectors; a row
// reduction ends a pass over the columns, and what depends on it follows in a later pass over the same row.
#pragma once
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace uni::codegen {

// Element of an argument at a point of the space: offset + sum(index * stride), one stride per row dimension, then the
// columns'.
struct Access {
  std::vector<i64> strides;
  i64 offset = 0;
  bool operator==(const Access&) const = default;
};

// Runs `count` elements of an operation that has no emitter; `data` is the caller's.
using CallFn = void (*)(std::byte* out, const std::byte* const* in, i64 count, const void* data);
struct Call {
  CallFn run = nullptr;
  const void* data = nullptr;
};

struct Node {
  enum class Kind : std::uint8_t { load, constant, iota, map, reduce } kind = Kind::load;
  Dtype dtype = Dtype::f32;
  std::vector<int> in;         // nodes, all earlier ones
  const ir::Op* op = nullptr;  // map, reduce
  const ir::Params* params = nullptr;
  int argument = -1;  // load: pointer among the kernel's arguments
  Access access;      // load; iota: the value itself
  ir::Scalar value;   // constant
  Call call;          // map without an emitter
};
struct Store {
  int node = -1, argument = -1;
  Access access;
};
// Combines a value over the rows of a chunk, by a reduction's operation, for each column or a value per row.
// Argument: [chunks, columns or 1].
struct Fold {
  int node = -1, argument = -1;
  const ir::Op* op = nullptr;
  bool per_column = false;
};

struct Loop {
  std::vector<i64> rows;  // sizes of the row dimensions
  i64 columns = 1;        // 0: as many as the call says, without rows ("flat")
  std::vector<Node> nodes;
  std::vector<Store> stores;
  std::vector<Fold> folds;
  int arguments = 0;
  bool stream = false;  // results are too large for the caches

  bool flat() const { return columns == 0; }
  bool has_row_reduction() const {
    for (const Node& n : nodes)
      if (n.kind == Node::Kind::reduce) return true;
    return false;
  }
};

// Rows [row_begin, row_end) and columns [column_begin, column_end). `chunk` is the row of the folds' arguments. Column
// ranges begin at multiples of `column_step` and cover all columns where there is a row reduction.
using KernelFn = void (*)(std::byte* const* arguments, i64 row_begin, i64 row_end, i64 column_begin, i64 column_end,
                          i64 chunk);
inline constexpr i64 column_step = 64;

// The function's text without its name: "(ptr %args, ...". Equal loops give equal texts.
struct KernelText {
  std::string text;
  std::string declarations;
};
KernelText emit(const Loop& loop);
bool can_emit(Dtype dtype);
bool can_emit(const ir::Op& op, const ir::Params& params, std::span<const Dtype> in, Dtype out);

}  // namespace uni::codegen
