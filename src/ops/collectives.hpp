// Collectives over named axes. `axes` are names in order (row-major position: the first is the slowest). `size` is the
// number of devices over them.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

struct AxesOnly {
  AxisNames axes;
  AxisNames typed;  // those of typed manual regions, sorted: only they appear in types
};
// psum: numbers (bool is converted before). pmax, pmin: ordered dtypes, NaN wins. Results do not vary over `axes`.
extern const Primitive psum, pmax, pmin;
extern const Primitive pvary;  // identity; the result varies over `axes`
struct AllGather {             // tiled: concatenates along dim; else a new dimension of `size` at dim
  AxisNames axes;
  i64 size = 1;
  int dim = 0;
  bool tiled = false;
  bool invariant = false;  // typed form: the result does not vary over `axes`; transposes to the own slice
};
extern const Primitive all_gather;
struct PsumScatter {  // sums, device i keeps block i of dim (tiled) or entry i with dim removed
  AxisNames axes;
  i64 size = 1;
  int dim = 0;
  bool tiled = false;
};
extern const Primitive psum_scatter;
struct AllToAll {  // block i along `split` goes to device i; received blocks, in device order, along `concat`.
  AxisNames axes;  // untiled: `split` (of size `size`) is removed and a new dimension inserted at `concat`
  i64 size = 1;
  int split = 0, concat = 0;
  bool tiled = false;
};
extern const Primitive all_to_all;
struct Ppermute {  // (source, destination) pairs; who receives nothing gets zeros
  AxisNames axes;
  i64 size = 1;
  std::vector<std::pair<int, int>> permutation;
};
extern const Primitive ppermute;
struct AxisIndex {
  AxisNames axes;
  i64 size = 1;
  AxisNames typed;  // as above
};
extern const Primitive axis_index;  // -> i32[]

std::span<const Primitive* const> collective_rows();
bool is_collective(const ir::Op& op);
// The parameters of a collective with every axis name replaced by the names given for it, as a program without typed
// axes needs them.
Params rename_axes(const ir::Op& op, const Params& params, AxisNames (*names)(const void*, const std::string&),
                   const void* context);

}  // namespace uni::ops

namespace uni::lax {

// These look the axes up in the environment, check, and over untyped axes make the result of reductions vary again.
Array psum(const Array& x, const ir::AxisNames& axes);
Array pmax(const Array& x, const ir::AxisNames& axes);
Array pmin(const Array& x, const ir::AxisNames& axes);
Array pvary(const Array& x, const ir::AxisNames& axes);
Array all_gather(const Array& x, const ir::AxisNames& axes, int dim, bool tiled, bool invariant = false);
Array psum_scatter(const Array& x, const ir::AxisNames& axes, int dim, bool tiled);
Array all_to_all(const Array& x, const ir::AxisNames& axes, int split, int concat, bool tiled);
Array ppermute(const Array& x, const ir::AxisNames& axes, const std::vector<std::pair<int, int>>& permutation);
Array axis_index(const ir::AxisNames& axes);
i64 axis_size(const ir::AxisNames& axes);

}  // namespace uni::lax
