// Type rules of structural and contracting rows: results and exact messages.
#include <gtest/gtest.h>

#include "core/node.hpp"
#include "ops/contract.hpp"
#include "ops/linalg.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni {

namespace {
using ir::Type;
using ir::Types;

Type type(const char* dtype, Dims shape = {}, bool weak = false) {
  return {dtype_of(dtype), std::move(shape), weak, {}};
}

// The results' types as text, or the error's kind and message.
std::string infer(const ir::Op& op, const Types& in, const ir::Params& params = {}) {
  try {
    std::string out;
    for (const Type& t : ir::infer(op, in, params)) out += (out.empty() ? "" : " ") + ir::to_string(t);
    return out;
  } catch (const ShapeError& e) {
    return std::string("ShapeError: ") + e.what();
  } catch (const DtypeError& e) {
    return std::string("DtypeError: ") + e.what();
  }
}

struct Row {
  const ir::Op& op;
  Types in;
  ir::Params params;
  const char* want;
};
void check(std::span<const Row> table) {
  for (const Row& row : table) EXPECT_EQ(infer(row.op, row.in, row.params), row.want) << row.op.name;
}
const Type f = type("f32", {2, 3}), s = type("f32"), i = type("i32", {2, 3}), k = type("i32"), b = type("bool", {2, 3}),
           c = type("c64", {2, 3}), key = type("key", {2, 3}), weak = type("f32", {2, 3}, true);
constexpr i64 huge = i64{1} << 40;

TEST(ShapeTypes, Making) {
  using ops::broadcast_in_dim, ops::BroadcastInDim, ops::Full, ops::Iota, ops::iota, ops::Reshape;
  const ir::Scalar one = ir::Scalar::of_double(Dtype::f32, 1);
  const Row table[] = {
      {ops::full, {}, Full{one, {2}, true}, "f32[2]*"},
      {ops::full, {f}, Full{one, {2}}, "ShapeError: full: takes 0 operands, got 1"},
      {ops::full, {}, Full{one, {2, -1}}, "ShapeError: full: shape (2, -1) has a negative size"},
      {ops::full,
       {},
       Full{one, {huge, huge}},
       "ShapeError: full: shape (1099511627776, 1099511627776) has too many elements"},
      {ops::full,
       {},
       Full{one, {huge, huge, 0}},
       "ShapeError: full: shape (1099511627776, 1099511627776, 0) has too many elements"},
      {iota, {}, Iota{Dtype::i8, {2, 3}, 1}, "i8[2,3]"},
      {iota, {}, Iota{Dtype::b8, {2}, 0}, "DtypeError: iota: takes integers, floats and complex numbers, not bool[2]"},
      {iota, {}, Iota{Dtype::i32, {2}, 1}, "ShapeError: iota: axis 1 of i32[2] does not exist"},
      {broadcast_in_dim, {weak}, BroadcastInDim{{2, 4, 3}, {0, 2}}, "f32[2,4,3]*"},
      {broadcast_in_dim,
       {f},
       BroadcastInDim{{2, 3}, {0}},
       "ShapeError: broadcast_in_dim: dims has 1 entries for f32[2,3]"},
      {broadcast_in_dim,
       {f},
       BroadcastInDim{{3, 2}, {1, 0}},
       "ShapeError: broadcast_in_dim: dims must increase within 2 result axes, entry 1 is 0"},
      {broadcast_in_dim,
       {f},
       BroadcastInDim{{2, 4}, {0, 1}},
       "ShapeError: broadcast_in_dim: axis 1 of f32[2,3] has size 3, result axis 1 of (2, 4) has 4"},
      {ops::reshape, {key}, Reshape{{6}}, "key[6]"},
      {ops::reshape, {f}, Reshape{{5}}, "ShapeError: reshape: f32[2,3] has 6 elements, shape (5,) has 5"},
  };
  check(table);
}

TEST(ShapeTypes, Moving) {
  using ops::Concatenate, ops::Pad, ops::pad, ops::Reverse, ops::SliceParams, ops::Transpose;
  const Row table[] = {
      {ops::transpose, {f}, Transpose{{1, 0}}, "f32[3,2]"},
      {ops::transpose, {f}, Transpose{{0}}, "ShapeError: transpose: permutation has 1 entries for f32[2,3]"},
      {ops::transpose, {f}, Transpose{{0, 0}}, "ShapeError: transpose: axis 0 of f32[2,3] is named twice"},
      {ops::transpose, {f}, Transpose{{0, 2}}, "ShapeError: transpose: axis 2 of f32[2,3] does not exist"},
      {ops::slice, {f}, SliceParams{{0, 1}, {2, 3}, {1, 2}}, "f32[2,1]"},
      {ops::slice,
       {f},
       SliceParams{{0, 0}, {2, 5}, {1, 1}},
       "ShapeError: slice: range 0:5 does not fit axis 1 of f32[2,3]"},
      {ops::slice, {f}, SliceParams{{0, 0}, {2, 3}, {1, 0}}, "ShapeError: slice: stride 0 of axis 1 is not positive"},
      {pad, {f, s}, Pad{{1, 0}, {0, -1}, {0, 1}}, "f32[3,4]"},
      {pad, {f, f}, Pad{{0, 0}, {0, 0}, {0, 0}}, "ShapeError: pad: the value f32[2,3] is not a scalar"},
      {pad, {f, k}, Pad{{0, 0}, {0, 0}, {0, 0}}, "DtypeError: pad: operands f32[2,3] and i32[] have different dtypes"},
      {pad,
       {f, s},
       Pad{{-2, 0}, {-1, 0}, {0, 0}},
       "ShapeError: pad: low -2 and high -1 crop more than axis 0 of f32[2,3] has"},
      {pad,
       {f, s},
       Pad{{0, 0}, {0, 0}, {0, -1}},
       "ShapeError: pad: interior padding -1 of axis 1 is negative or too large"},
      {pad,
       {f, s},
       Pad{{i64{1} << 62, 0}, {i64{1} << 62, 0}, {0, 0}},
       "ShapeError: pad: shape (576460752303423488, 3) has too many elements"},
      {ops::concatenate, {f, weak}, Concatenate{1}, "f32[2,6]"},
      {ops::concatenate, {}, Concatenate{0}, "ShapeError: concatenate: takes at least one operand, got 0"},
      {ops::concatenate,
       {f, s},
       Concatenate{0},
       "ShapeError: concatenate: operands f32[2,3] and f32[] have different ranks"},
      {ops::concatenate,
       {f, type("f32", {2, 4})},
       Concatenate{0},
       "ShapeError: concatenate: operands f32[2,3] and f32[2,4] disagree on axis 1: 3 vs 4"},
      {ops::reverse, {f}, Reverse{{1, 1}}, "ShapeError: reverse: axis 1 of f32[2,3] is named twice"},
  };
  check(table);
}

TEST(ShapeTypes, Indexing) {
  using ops::Combine, ops::DynamicSlice, ops::dynamic_slice, ops::dynamic_update_slice, ops::Gather, ops::gather,
      ops::IndexMode, ops::Scatter, ops::scatter, ops::Sort;
  const ir::Scalar zero{Dtype::f32, 0, 0};
  const Type at = type("i32", {5, 1}), update = type("f32", {5, 3});
  const Row table[] = {
      {dynamic_slice, {weak, k, k}, DynamicSlice{{1, 3}}, "f32[1,3]*"},
      {dynamic_slice,
       {f, k, k},
       DynamicSlice{{4, 3}},
       "ShapeError: dynamic_slice: size 4 does not fit axis 0 of f32[2,3]"},
      {dynamic_slice, {f, k}, DynamicSlice{{1, 3}}, "ShapeError: dynamic_slice: takes 3 operands, got 2"},
      {dynamic_slice,
       {f, k, s},
       DynamicSlice{{1, 3}},
       "DtypeError: dynamic_slice: operands i32[] and f32[] have different dtypes"},
      {dynamic_slice, {f, s, s}, DynamicSlice{{1, 3}}, "DtypeError: dynamic_slice: start 0 is f32[], not an integer"},
      {dynamic_slice, {f, i, i}, DynamicSlice{{1, 3}}, "ShapeError: dynamic_slice: start 0 is i32[2,3], not a scalar"},
      {dynamic_update_slice, {f, weak, k, k}, {}, "f32[2,3]"},
      {dynamic_update_slice,
       {f, s, k, k},
       {},
       "ShapeError: dynamic_update_slice: operand f32[2,3] and update f32[] have different ranks"},
      {gather, {weak, at}, Gather{IndexMode::clip, zero}, "f32[5,3]*"},
      {gather, {f, update}, Gather{IndexMode::clip, zero}, "DtypeError: gather: indices f32[5,3] are not i32 or i64"},
      {gather, {f, k}, Gather{IndexMode::clip, zero}, "ShapeError: gather: indices i32[] have no component axis"},
      {gather,
       {f, i},
       Gather{IndexMode::clip, zero},
       "ShapeError: gather: indices i32[2,3] have 3 components, operand f32[2,3] has 2 axes"},
      {gather,
       {type("f32", {0, 3}), at},
       Gather{IndexMode::clip, zero},
       "ShapeError: gather: no index is valid for axis 0 of f32[0,3], which has size 0"},
      {gather, {type("f32", {0, 3}), at}, Gather{IndexMode::fill, zero}, "f32[5,3]"},
      {gather,
       {i, at},
       Gather{IndexMode::fill, zero},
       "DtypeError: gather: the fill value is f32, the operand i32[2,3]"},
      {gather, {f, at}, Gather{IndexMode(2), zero}, "ShapeError: gather: 2 is no index mode"},
      {scatter, {f, at, update}, Scatter{Combine::mul, IndexMode::fill}, "f32[2,3]"},
      {scatter,
       {f, at, f},
       Scatter{},
       "ShapeError: scatter: updates f32[2,3] should have shape (5, 3) for operand f32[2,3] and indices i32[5,1]"},
      {scatter,
       {i, at, update},
       Scatter{},
       "DtypeError: scatter: operand i32[2,3] and updates f32[5,3] have different dtypes"},
      {scatter,
       {c, at, type("c64", {5, 3})},
       Scatter{Combine::max, IndexMode::fill},
       "DtypeError: scatter: takes bool, integers and floats, not c64[2,3]"},
      {scatter, {f, at, update}, Scatter{Combine(5), IndexMode::fill}, "ShapeError: scatter: 5 is no combination"},
      {ops::sort, {weak, i}, Sort{1, 1}, "f32[2,3]* i32[2,3]"},
      {ops::sort, {f}, Sort{0, 2}, "ShapeError: sort: 2 keys for 1 operands"},
      {ops::sort, {f, s}, Sort{0, 1}, "ShapeError: sort: operands f32[2,3] and f32[] have different shapes"},
      {ops::sort, {c}, Sort{0, 1}, "DtypeError: sort: takes bool, integers and floats, not c64[2,3]"},
      {ops::sort, {s}, Sort{0, 1}, "ShapeError: sort: axis 0 of f32[] does not exist"},
      {ops::top_k, {weak}, ops::TopK{2}, "f32[2,2]* i32[2,2]"},
      {ops::top_k, {f}, ops::TopK{4}, "ShapeError: top_k: 4 of the 3 elements of f32[2,3]"},
      {ops::top_k, {s}, ops::TopK{0}, "ShapeError: top_k: f32[] has no axis"},
      {ops::top_k, {c}, ops::TopK{1}, "DtypeError: top_k: takes bool, integers and floats, not c64[2,3]"},
  };
  check(table);
}

TEST(ShapeTypes, Reducing) {
  using ops::argmax, ops::ArgReduce, ops::Reduce, ops::reduce_and, ops::reduce_max, ops::reduce_sum,
      ops::reduce_window_sum, ops::Window, ops::window_scatter_max;
  const Row table[] = {
      {ops::cumsum, {weak}, ops::Cumulative{1, true}, "f32[2,3]"},
      {ops::cumsum, {f}, ops::Cumulative{2}, "ShapeError: cumsum: axis 2 of f32[2,3] does not exist"},
      {ops::cumsum,
       {b},
       ops::Cumulative{0},
       "DtypeError: cumsum: takes integers, floats and complex numbers, not bool[2,3]"},
      {ops::cumprod, {weak}, ops::Cumulative{0}, "f32[2,3]"},
      {ops::cummax, {b}, ops::Cumulative{0}, "bool[2,3]"},
      {ops::cummax, {c}, ops::Cumulative{0}, "DtypeError: cummax: takes bool, integers and floats, not c64[2,3]"},
      {ops::cummin, {f}, ops::Cumulative{-1}, "ShapeError: cummin: axis -1 of f32[2,3] does not exist"},
      {ops::cumlogsumexp, {c}, ops::Cumulative{0}, "DtypeError: cumlogsumexp: takes floats, not c64[2,3]"},
      {reduce_sum, {weak}, Reduce{{0}}, "f32[3]*"},
      {reduce_sum,
       {b},
       Reduce{{0}},
       "DtypeError: reduce_sum: takes integers, floats and complex numbers, not bool[2,3]"},
      {reduce_sum, {f}, Reduce{{1, 0}}, "ShapeError: reduce_sum: axes of f32[2,3] are not in increasing order"},
      {reduce_sum, {f}, Reduce{{2}}, "ShapeError: reduce_sum: axis 2 of f32[2,3] does not exist"},
      {reduce_max, {c}, Reduce{{0}}, "DtypeError: reduce_max: takes bool, integers and floats, not c64[2,3]"},
      {reduce_and, {i}, Reduce{{0}}, "DtypeError: reduce_and: takes bool, not i32[2,3]"},
      {argmax, {type("i32", {2}, true)}, ArgReduce{0, Dtype::i32}, "i32[]"},
      {argmax, {f}, ArgReduce{1, Dtype::f32}, "DtypeError: argmax: the result dtype f32 is not an integer"},
      {argmax,
       {type("f32", {2, 0})},
       ArgReduce{1, Dtype::i32},
       "ShapeError: argmax: axis 1 of f32[2,0] has size 0, there is no position"},
      {reduce_window_sum, {f}, Window{{1, 2}, {1, 1}, {0, 1}, {0, 0}}, "f32[2,3]"},
      {reduce_window_sum,
       {f},
       Window{{0, 2}, {1, 1}, {0, 1}, {0, 0}},
       "ShapeError: reduce_window_sum: size 0 and stride 1 of axis 0 should be at least 1"},
      {reduce_window_sum,
       {f},
       Window{{1, 2}, {1, 1}, {0, -1}, {0, 0}},
       "ShapeError: reduce_window_sum: padding -1, 0 of axis 1 is negative"},
      {window_scatter_max,
       {f, f},
       Window{{1, 2}, {1, 1}, {0, 0}, {0, 0}},
       "ShapeError: window_scatter_max: operand f32[2,3] should have shape (2, 2) for f32[2,3]"},
  };
  check(table);
}

TEST(ShapeTypes, Contracting) {
  using ops::Conv, ops::conv, ops::DotGeneral, ops::dot_general;
  const Conv plain{{1}, {0}, {0}, {1}, {1}};
  const Type x = type("f32", {4, 8, 6}), w = type("f32", {3, 6, 10});
  const auto with = [&](i64 groups, i64 batch_groups) {
    Conv p = plain;
    p.groups = groups;
    p.batch_groups = batch_groups;
    return p;
  };
  const Row table[] = {
      {dot_general,
       {type("f32", {128, 784}), type("f32", {512, 10})},
       DotGeneral{{1}, {0}, {}, {}},
       "ShapeError: dot_general: lhs f32[128,784] and rhs f32[512,10] disagree on the contracted size: 784 (lhs axis "
       "1) vs "
       "512 (rhs axis 0)"},
      {dot_general, {f, type("f32", {3, 2})}, DotGeneral{{1}, {0}, {0}, {1}}, "f32[2]"},
      {dot_general,
       {f, f},
       DotGeneral{{}, {}, {0}, {1}},
       "ShapeError: dot_general: lhs f32[2,3] and rhs f32[2,3] disagree on the batch size: 2 (lhs axis 0) vs 3 (rhs "
       "axis 1)"},
      {dot_general,
       {f, f},
       DotGeneral{{0}, {}, {}, {}},
       "ShapeError: dot_general: lhs f32[2,3] has 1 contracted axes, rhs f32[2,3] has 0"},
      {dot_general,
       {f, f},
       DotGeneral{{0}, {0}, {0}, {1}},
       "ShapeError: dot_general: axis 0 of f32[2,3] is named twice"},
      {dot_general,
       {f, i},
       DotGeneral{{0}, {0}, {}, {}},
       "DtypeError: dot_general: operands f32[2,3] and i32[2,3] have different dtypes"},
      {dot_general,
       {b, b},
       DotGeneral{{0}, {0}, {}, {}},
       "DtypeError: dot_general: takes integers, floats and complex numbers, not bool[2,3]"},
      {conv, {x, w}, plain, "f32[4,6,10]"},
      {conv,
       {x, f},
       plain,
       "ShapeError: conv: operand f32[4,8,6] and kernel f32[2,3] should have rank 3 for 1 strides"},
      {conv,
       {x, w},
       Conv{{1}, {0, 0}, {0}, {1}, {1}},
       "ShapeError: conv: padding and dilation should have 1 entries, as stride has, got 2"},
      {conv,
       {x, w},
       Conv{{0}, {0}, {0}, {1}, {1}},
       "ShapeError: conv: stride 0, input dilation 1 and kernel dilation 1 of spatial axis 0 should be at least 1"},
      {conv, {x, type("f32", {0, 6, 10})}, plain, "ShapeError: conv: kernel f32[0,6,10] has size 0 on spatial axis 0"},
      {conv,
       {x, w},
       with(2, 2),
       "ShapeError: conv: groups 2 and batch_groups 2 should be at least 1, and one of them 1"},
      {conv,
       {x, w},
       with(2, 1),
       "ShapeError: conv: operand f32[4,8,6] has 6 features in 2 groups, kernel f32[3,6,10] takes 6 per group"},
      {conv,
       {x, type("f32", {3, 2, 10})},
       with(3, 1),
       "ShapeError: conv: kernel f32[3,2,10] gives 10 features, which 3 groups do not divide"},
      {conv,
       {x, type("f32", {3, 6, 9})},
       with(1, 3),
       "ShapeError: conv: operand f32[4,8,6] has batch size 4, which 3 batch groups do not divide"},
      {conv,
       {type("i32", {4, 8, 6}), type("i32", {3, 6, 10})},
       plain,
       "DtypeError: conv: takes floats and complex numbers, not i32[4,8,6]"},
  };
  check(table);
}

TEST(ShapeTypes, LinearAlgebra) {
  using ops::cholesky, ops::triangular_solve, ops::TriangularSolve;
  const Type square = type("f32", {2, 3, 3}), wide = type("c64", {2, 3});
  const Row table[] = {
      {cholesky, {square}, {}, "f32[2,3,3]"},
      {cholesky, {type("f32", {0, 0})}, {}, "f32[0,0]"},
      {cholesky, {s}, {}, "ShapeError: cholesky: f32[] is not a matrix"},
      {cholesky, {wide}, {}, "ShapeError: cholesky: c64[2,3] is not square: 2 rows, 3 columns"},
      {cholesky, {type("f16", {3, 3})}, {}, "DtypeError: cholesky: takes f32, f64, c64 and c128, not f16[3,3]"},
      {cholesky, {k}, {}, "DtypeError: cholesky: takes f32, f64, c64 and c128, not i32[]"},
      {triangular_solve, {square, type("f32", {2, 3, 5})}, TriangularSolve{}, "f32[2,3,5]"},
      {triangular_solve, {square, type("f32", {2, 5, 3})}, TriangularSolve{.left = false}, "f32[2,5,3]"},
      {triangular_solve,
       {square, type("f32", {2, 5, 3})},
       TriangularSolve{},
       "ShapeError: triangular_solve: f32[2,3,3] and f32[2,5,3] disagree: 3 unknowns, 5 equations"},
      {triangular_solve,
       {square, type("f32", {3, 3})},
       TriangularSolve{},
       "ShapeError: triangular_solve: f32[2,3,3] and f32[3,3] have different batch sizes"},
      {triangular_solve,
       {square, type("f64", {2, 3, 3})},
       TriangularSolve{},
       "DtypeError: triangular_solve: operands f32[2,3,3] and f64[2,3,3] have different dtypes"},
      {ops::solve, {square, type("f32", {2, 3, 5})}, ops::Solve{}, "f32[2,3,5]"},
      {ops::solve,
       {square, type("f32", {2, 5, 3})},
       ops::Solve{},
       "ShapeError: solve: f32[2,3,3] and f32[2,5,3] disagree: 3 unknowns, 5 equations"},
      {ops::lu, {type("f32", {2, 5, 3})}, {}, "f32[2,5,3] i32[2,3] i32[2,5]"},
      {ops::lu, {s}, {}, "ShapeError: lu: f32[] is not a matrix"},
      {ops::qr, {type("f32", {2, 5, 3})}, ops::Qr{}, "f32[2,5,3] f32[2,3,3]"},
      {ops::qr, {type("f32", {2, 5, 3})}, ops::Qr{true}, "f32[2,5,5] f32[2,5,3]"},
      {ops::qr, {wide}, ops::Qr{}, "c64[2,2] c64[2,3]"},
      {ops::eigh, {type("c64", {2, 3, 3})}, ops::Eigh{}, "f32[2,3] c64[2,3,3]"},
      {ops::eigh, {type("c64", {2, 3, 3})}, ops::Eigh{false}, "f32[2,3]"},
      {ops::eigh, {f}, ops::Eigh{}, "ShapeError: eigh: f32[2,3] is not square: 2 rows, 3 columns"},
      {ops::svd, {wide}, ops::Svd{}, "c64[2,2] f32[2] c64[2,3]"},
      {ops::svd, {wide}, ops::Svd{.full = true}, "c64[2,2] f32[2] c64[3,3]"},
      {ops::svd, {wide}, ops::Svd{.vectors = false}, "f32[2]"},
      {ops::pinv, {wide}, ops::Pinv{}, "c64[3,2]"},
      {ops::svd, {i}, ops::Svd{}, "DtypeError: svd: takes f32, f64, c64 and c128, not i32[2,3]"},
      {ops::qr, {key}, ops::Qr{}, "DtypeError: qr: takes f32, f64, c64 and c128, not key[2,3]"},
  };
  check(table);
}
}  // namespace

}  // namespace uni
