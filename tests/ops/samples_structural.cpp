// Samples of the rows that make, reshape and move elements: sizes 0 and 1, rank 0, every kind of dtype.
#include <limits>

#include "ops/structural.hpp"
#include "samples.hpp"

namespace uni::contract {

namespace {
// Public functions of the same names exist.
using core::Primitive;
using ir::Scalar;
using ops::broadcast_in_dim, ops::BroadcastInDim, ops::Combine, ops::concatenate, ops::Concatenate, ops::dynamic_slice,
    ops::dynamic_update_slice, ops::DynamicSlice, ops::full, ops::Full, ops::gather, ops::Gather, ops::IndexMode,
    ops::iota, ops::Iota, ops::pad, ops::Pad, ops::Reshape, ops::Reverse, ops::scatter, ops::Scatter, ops::SliceParams,
    ops::Sort, ops::Transpose;

const std::vector<Dtype> every_dtype = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::c128, Dtype::c64,
                                        Dtype::b8,  Dtype::i8,  Dtype::i16, Dtype::i32,  Dtype::i64,  Dtype::u8,
                                        Dtype::u16, Dtype::u32, Dtype::u64, Dtype::key};
const LinearSets nothing_linear = {{1}};  // operand 1 is an integer

void make(Samples& out) {
  for (const Dtype d : every_dtype) {
    out.add(full, {}, Full{Scalar::of_int(d, 3), {2, 3}});
    out.add(broadcast_in_dim, {{d, {2, 1}}}, BroadcastInDim{{3, 2, 4}, {1, 2}});
    out.add(ops::reshape, {{d, {2, 3}}}, Reshape{{3, 2}});
    if (d != Dtype::b8 && d != Dtype::key) out.add(iota, {}, Iota{d, {3, 4}, 1});
  }
  for (const Dims& shape : {Dims{}, Dims{0}, Dims{1}, Dims{4, 2}}) {
    out.add(full, {}, Full{Scalar::of_double(Dtype::f64, -0.5), shape, true});
    out.add(broadcast_in_dim, {{Dtype::f64, {}}}, BroadcastInDim{shape, {}});
    for (int axis = 0; axis < shape.rank(); ++axis) out.add(iota, {}, Iota{Dtype::i32, shape, axis});
  }
  out.add(broadcast_in_dim, {{Dtype::f64, {3}}}, BroadcastInDim{{3}, {0}});
  out.add(broadcast_in_dim, {{Dtype::f64, {3}}}, BroadcastInDim{{2, 3}, {1}});
  out.add(broadcast_in_dim, {{Dtype::f64, {3}}}, BroadcastInDim{{3, 0}, {0}});
  out.add(broadcast_in_dim, {{Dtype::f64, {1, 3, 1}}}, BroadcastInDim{{4, 2, 3, 1}, {0, 2, 3}});
  out.add(broadcast_in_dim, {{Dtype::f64, {1}}}, BroadcastInDim{{0}, {0}});
  const std::pair<Dims, Dims> reshapes[] = {{{}, {1, 1}},
                                            {{1}, {}},
                                            {{6}, {2, 3}},
                                            {{2, 3}, {6}},
                                            {{0}, {2, 0}},
                                            {{2, 3, 4}, {2, 12}},
                                            {{2, 3, 4}, {6, 4}},
                                            {{4, 1, 6}, {4, 2, 3}},
                                            {{2, 2, 2}, {2, 1, 2, 2}},
                                            {{2, 12, 5}, {2, 4, 3, 5}}};
  for (const auto& [from, to] : reshapes) out.add(ops::reshape, {{Dtype::f64, from}}, Reshape{to});
}

void move(Samples& out) {
  for (const Dtype d : every_dtype) {
    out.add(ops::transpose, {{d, {2, 3}}}, Transpose{{1, 0}});
    out.add(ops::slice, {{d, {4, 5}}}, SliceParams{{1, 0}, {4, 5}, {2, 3}});
    out.add(pad, {{d, {2, 3}}, {d, {}}}, Pad{{1, 0}, {0, 2}, {0, 1}}, {{0}, {1}, {0, 1}});
    out.add(concatenate, {{d, {2, 1}}, {d, {2, 3}}}, Concatenate{1}, {{0}, {1}, {0, 1}});
    out.add(ops::reverse, {{d, {3, 2}}}, Reverse{{0}});
  }
  out.add(ops::transpose, {{Dtype::f64, {}}}, Transpose{{}});
  out.add(ops::transpose, {{Dtype::f64, {2, 0}}}, Transpose{{1, 0}});
  out.add(ops::transpose, {{Dtype::f64, {2, 3, 4}}}, Transpose{{2, 0, 1}});
  out.add(ops::transpose, {{Dtype::f64, {2, 2, 2, 2}}}, Transpose{{3, 1, 0, 2}});
  out.add(ops::slice, {{Dtype::f64, {}}}, SliceParams{});
  out.add(ops::slice, {{Dtype::f64, {0}}}, SliceParams{{0}, {0}, {1}});
  out.add(ops::slice, {{Dtype::f64, {5}}}, SliceParams{{2}, {2}, {3}});
  out.add(ops::slice, {{Dtype::f64, {7, 4}}}, SliceParams{{1, 0}, {7, 4}, {4, 1}});
  out.add(ops::slice, {{Dtype::f64, {6, 3}}}, SliceParams{{0, 1}, {6, 2}, {1, 1}});
  const Pad pads[] = {{{1}, {2}, {0}},   {{-1}, {0}, {0}},  {{0}, {-2}, {0}}, {{0}, {0}, {2}},  {{-1}, {-2}, {1}},
                      {{2}, {-3}, {1}},  {{-2}, {2}, {0}},  {{-4}, {1}, {1}}, {{-5}, {0}, {0}}, {{3}, {-4}, {0}},
                      {{-3}, {-2}, {0}}, {{1}, {-10}, {1}}, {{0}, {0}, {0}}};
  for (const Pad& p : pads) out.add(pad, {{Dtype::f64, {5}}, {Dtype::f64, {}}}, p, {{0}, {1}, {0, 1}});
  out.add(pad, {{Dtype::f64, {}}, {Dtype::f64, {}}}, Pad{}, {{0}, {1}, {0, 1}});
  out.add(pad, {{Dtype::f64, {0}}, {Dtype::f64, {}}}, Pad{{2}, {1}, {3}}, {{0}, {1}, {0, 1}});
  out.add(pad, {{Dtype::f64, {3, 2}}, {Dtype::f64, {}}}, Pad{{0, 1}, {0, -1}, {0, 0}}, {{0}, {1}, {0, 1}});
  out.add(concatenate, {{Dtype::f64, {3}}}, Concatenate{0});
  out.add(concatenate, {{Dtype::f64, {2}}, {Dtype::f64, {0}}, {Dtype::f64, {3}}}, Concatenate{0},
          {{0}, {2}, {0, 1, 2}});
  out.add(concatenate, {{Dtype::f64, {2, 2}}, {Dtype::f64, {1, 2}}}, Concatenate{0}, {{1}, {0, 1}});
  out.add(ops::reverse, {{Dtype::f64, {}}}, Reverse{});
  out.add(ops::reverse, {{Dtype::f64, {0, 2}}}, Reverse{{0, 1}});
  out.add(ops::reverse, {{Dtype::f64, {2, 3, 4}}}, Reverse{{2, 0}});
}

void dynamic(Samples& out) {
  for (const Dtype d : every_dtype) {
    const OperandSpec start{Dtype::i32, {}, -2, 5};
    out.add(dynamic_slice, {{d, {4, 3}}, start, start}, DynamicSlice{{2, 3}});
    out.add(dynamic_update_slice, {{d, {4, 3}}, {d, {4, 2}}, start, start}, {}, {{0}, {1}, {0, 1}});
  }
  for (const Dtype d : {Dtype::i8, Dtype::i16, Dtype::i64, Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64}) {
    const OperandSpec start{d, {}, -3, 5};
    out.add(dynamic_slice, {{Dtype::f64, {4}}, start}, DynamicSlice{{2}});
    out.add(dynamic_update_slice, {{Dtype::f64, {4}}, {Dtype::f64, {3}}, start}, {}, {{0}, {1}, {0, 1}});
  }
  const OperandSpec wide{Dtype::i64, {}, 0, 0, {9e15, -9e15, 1}}, natural{Dtype::u64, {}, 0, 0, {18e18, 2, 0}};
  const OperandSpec small{Dtype::u8, {}, 0, 0, {255, 128, 3}};
  for (const OperandSpec& start : {wide, natural, small}) {
    out.add(dynamic_slice, {{Dtype::f64, {300}}, start}, DynamicSlice{{2}});
    out.add(dynamic_update_slice, {{Dtype::f64, {300}}, {Dtype::f64, {1}}, start}, {}, {{0}, {1}, {0, 1}});
  }
  out.add(dynamic_slice, {{Dtype::f64, {}}}, DynamicSlice{{}});
  out.add(dynamic_update_slice, {{Dtype::f64, {}}, {Dtype::f64, {}}}, {}, {{0}, {1}, {0, 1}});
  const OperandSpec at{Dtype::i32, {}, -2, 6};
  const std::pair<Dims, Dims> windows[] = {{{0}, {0}},
                                           {{3}, {0}},
                                           {{3}, {3}},
                                           {{3, 0}, {2, 0}},
                                           {{1, 4}, {1, 2}},
                                           {{3, 2, 4}, {2, 2, 1}},
                                           {{2, 3, 2}, {2, 1, 2}},
                                           {{3, 4}, {2, 3}}};
  for (const auto& [shape, sizes] : windows) {
    std::vector<OperandSpec> slice{{Dtype::f64, shape}}, update{{Dtype::f64, shape}, {Dtype::f64, sizes}};
    slice.insert(slice.end(), static_cast<std::size_t>(shape.rank()), at);
    update.insert(update.end(), static_cast<std::size_t>(shape.rank()), at);
    out.add(dynamic_slice, slice, DynamicSlice{sizes});
    out.add(dynamic_update_slice, update, {}, {{0}, {1}, {0, 1}});
  }
}

struct Indexing {
  Dims x, indices, updates;
};
const Indexing indexings[] = {{{4}, {3, 1}, {3}},          {{4, 2}, {3, 1}, {3, 2}},
                              {{3, 4}, {5, 2}, {5}},       {{3, 2, 2}, {2, 2, 1}, {2, 2, 2, 2}},
                              {{3, 2, 2}, {4, 2}, {4, 2}}, {{4}, {1}, {}},
                              {{3, 2}, {0, 1}, {0, 2}},    {{3, 0}, {2, 1}, {2, 0}},
                              {{2, 2}, {3, 0}, {3, 2, 2}}, {{}, {0}, {}},
                              {{2, 3}, {2}, {}},           {{3, 2}, {8, 1}, {8, 2}}};

void index(Samples& out) {
  const IndexMode modes[] = {IndexMode::clip, IndexMode::fill};
  for (const IndexMode mode : modes) {
    for (const Dtype d : every_dtype) {
      out.add(gather, {{d, {3, 2}}, {Dtype::i32, {4, 1}, -1, 5}}, Gather{mode, Scalar::of_int(d, 1)});
      out.add(scatter, {{d, {3, 2}}, {Dtype::i32, {4, 1}, -1, 5}, {d, {4, 2}}}, Scatter{Combine::set, mode},
              {{0}, {2}, {0, 2}});
      if (d == Dtype::key) continue;
      if (d != Dtype::b8) {
        for (const Combine c : {Combine::add, Combine::mul})
          out.add(scatter, {{d, {3, 2}}, {Dtype::i64, {4, 1}, -1, 5}, {d, {4, 2}}}, Scatter{c, mode},
                  c == Combine::add ? LinearSets{{0}, {2}, {0, 2}} : LinearSets{{0}});
      }
      if (is_complex(d)) continue;
      for (const Combine c : {Combine::min, Combine::max})
        out.add(scatter, {{d, {3, 2}}, {Dtype::i64, {4, 1}, -1, 5}, {d, {4, 2}}}, Scatter{c, mode}, nothing_linear);
    }
    for (const Indexing& i : indexings) {
      const OperandSpec indices{Dtype::i32, i.indices, -2, 6};
      out.add(gather, {{Dtype::f64, i.x}, indices}, Gather{mode, Scalar::of_double(Dtype::f64, 0.5)});
      for (const Combine c : {Combine::set, Combine::add, Combine::mul, Combine::min, Combine::max}) {
        const bool both = c == Combine::set || c == Combine::add;
        out.add(scatter, {{Dtype::f64, i.x}, indices, {Dtype::f64, i.updates}}, Scatter{c, mode},
                both                ? LinearSets{{0}, {2}, {0, 2}}
                : c == Combine::mul ? LinearSets{{0}}
                                    : nothing_linear);
      }
    }
  }
  out.add(gather, {{Dtype::f64, {0, 2}}, {Dtype::i32, {3, 1}, -1, 2}},
          Gather{IndexMode::fill, Scalar::of_double(Dtype::f64, 7)});
  out.add(scatter, {{Dtype::f64, {0, 2}}, {Dtype::i32, {3, 1}, -1, 2}, {Dtype::f64, {3, 2}}},
          Scatter{Combine::set, IndexMode::fill}, {{0}, {2}, {0, 2}});
  // Products of zeros: the derivative is the product of the others.
  for (const std::vector<double>& u : {std::vector<double>{2, 0, 3, 5}, {0, 0, 3, 2}, {0, 4, 0, 7}})
    out.add(scatter, {{Dtype::f64, {2}}, {Dtype::i32, {6, 1}, 0, 0, {0, 0, 1, 0, 1, 1}}, {Dtype::f64, {6}, 0, 0, u}},
            Scatter{Combine::mul, IndexMode::clip}, {{0}});
}

void sorting(Samples& out) {
  for (const Dtype d : every_dtype) {
    if (is_complex(d) || d == Dtype::key) continue;
    out.add(ops::sort, {{d, {2, 5}}}, Sort{1, 1});
  }
  for (const Dtype d : every_dtype) out.add(ops::sort, {{Dtype::i32, {4, 2}, 0, 3}, {d, {4, 2}}}, Sort{0, 1});
  for (const Dims& shape : {Dims{0}, Dims{1}, Dims{6}, Dims{3, 4}, Dims{2, 3, 2}, Dims{0, 3}, Dims{3, 0}})
    for (int axis = 0; axis < shape.rank(); ++axis) {
      out.add(ops::sort, {{Dtype::f64, shape}}, Sort{axis, 1});
      out.add(ops::sort, {{Dtype::i32, shape, 0, 2}, {Dtype::f64, shape}, {Dtype::f64, shape}}, Sort{axis, 2});
    }
  for (const Dtype d : every_dtype)
    if (!is_complex(d) && d != Dtype::key) out.add(ops::top_k, {{d, {2, 5}}}, ops::TopK{3});
  for (const Dims& shape : {Dims{0}, Dims{1}, Dims{6}, Dims{3, 4}, Dims{2, 3, 2}, Dims{0, 3}, Dims{3, 0}})
    for (const i64 k : {i64{0}, shape[-1] / 2, shape[-1]}) out.add(ops::top_k, {{Dtype::f64, shape}}, ops::TopK{k});
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const Dtype d : {Dtype::f32, Dtype::f16, Dtype::bf16})
    out.add(ops::top_k, {{d, {2, 8}, 0, 0, {0.0, -0.0, nan, -inf, 1, -nan, inf, 1}}}, ops::TopK{5});
  // Long enough to be selected in several rounds.
  for (const Dtype d : {Dtype::i32, Dtype::i64}) out.add(ops::top_k, {{d, {700}, 0, 50}}, ops::TopK{20});
}

const SampleFamily family([] {
  Samples out;
  make(out);
  move(out);
  dynamic(out);
  index(out);
  sorting(out);
  return out.take();
});
}  // namespace

}  // namespace uni::contract
