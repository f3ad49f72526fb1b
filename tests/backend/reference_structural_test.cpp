// Making, moving, indexing and sorting elements; element dtypes of 1 to 16 bytes.
#include <limits>

#include "golden.hpp"
#include "ops/structural.hpp"

namespace uni {
namespace {

using namespace backend_test;

HostArray eval(const ir::Op& op, const HostArrays& in, const ir::Params& params = {}) {
  return run_op(runtime::reference_client(), op, in, params);
}
constexpr Dtype widths[] = {Dtype::u8, Dtype::i16, Dtype::f32, Dtype::i64, Dtype::c128};

TEST(ReferenceStructural, FullAndIota) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    const ir::Scalar v{dtype, 1, itemsize(dtype) == 16 ? 2u : 0u};
    const HostArray got = eval(ops::full, {}, ops::Full{v, {2, 2}, false});
    for (i64 k = 0; k < 4; ++k) EXPECT_EQ(got.element(k), v) << name(dtype);
    if (is_bool(dtype) || dtype == Dtype::key) continue;
    EXPECT_EQ(eval(ops::iota, {}, ops::Iota{dtype, {2, 3}, 1}), host(dtype, {2, 3}, {0, 1, 2, 0, 1, 2})) << name(dtype);
    EXPECT_EQ(eval(ops::iota, {}, ops::Iota{dtype, {2, 3}, 0}), host(dtype, {2, 3}, {0, 0, 0, 1, 1, 1})) << name(dtype);
  }
  EXPECT_EQ(eval(ops::iota, {}, ops::Iota{Dtype::i8, {200}, 0}).at<std::int8_t>(199), -57);
}
TEST(ReferenceStructural, Broadcast) {
  for (const Dtype d : widths) {
    const HostArray x = ramp(d, {2, 1});
    EXPECT_EQ(eval(ops::broadcast_in_dim, {x}, ops::BroadcastInDim{{2, 2, 3}, {0, 2}}),
              host(d, {2, 2, 3}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(eval(ops::broadcast_in_dim, {ramp(d, {3})}, ops::BroadcastInDim{{2, 3}, {1}}),
              host(d, {2, 3}, {0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(eval(ops::broadcast_in_dim, {host(d, {}, {7})}, ops::BroadcastInDim{{2}, {}}), host(d, {2}, {7, 7}));
    EXPECT_EQ(eval(ops::broadcast_in_dim, {host(d, {1}, {7})}, ops::BroadcastInDim{{0, 4}, {0}}), host(d, {0, 4}, {}));
  }
}
TEST(ReferenceStructural, MovesOfAMatrix) {
  for (const Dtype d : widths) {
    const HostArray x = ramp(d, {2, 3});
    EXPECT_EQ(eval(ops::reshape, {x}, ops::Reshape{{3, 2}}), ramp(d, {3, 2}));
    EXPECT_EQ(eval(ops::transpose, {x}, ops::Transpose{{1, 0}}), host(d, {3, 2}, {0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(eval(ops::reverse, {x}, ops::Reverse{{1}}), host(d, {2, 3}, {2, 1, 0, 5, 4, 3}));
    EXPECT_EQ(eval(ops::reverse, {x}, ops::Reverse{{0, 1}}), host(d, {2, 3}, {5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(eval(ops::slice, {x}, ops::SliceParams{{0, 0}, {2, 3}, {1, 2}}), host(d, {2, 2}, {0, 2, 3, 5}));
    EXPECT_EQ(eval(ops::slice, {x}, ops::SliceParams{{1, 2}, {2, 2}, {1, 1}}), host(d, {1, 0}, {}));
    EXPECT_EQ(eval(ops::concatenate, {x, host(d, {2, 1}, {8, 9}), host(d, {2, 0}, {})}, ops::Concatenate{1}),
              host(d, {2, 4}, {0, 1, 2, 8, 3, 4, 5, 9}));
    EXPECT_EQ(eval(ops::concatenate, {x, host(d, {1, 3}, {7, 8, 9})}, ops::Concatenate{0}),
              host(d, {3, 3}, {0, 1, 2, 3, 4, 5, 7, 8, 9}));
  }
  EXPECT_EQ(eval(ops::transpose, {ramp(Dtype::i32, {2, 2, 3})}, ops::Transpose{{2, 0, 1}}),
            host(Dtype::i32, {3, 2, 2}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
}
TEST(ReferenceStructural, PadSpreadsThenCrops) {
  for (const Dtype d : widths) {
    const HostArray x = host(d, {3}, {1, 2, 3}), fill = host(d, {}, {9});
    EXPECT_EQ(eval(ops::pad, {x, fill}, ops::Pad{{1}, {2}, {0}}), host(d, {6}, {9, 1, 2, 3, 9, 9}));
    EXPECT_EQ(eval(ops::pad, {x, fill}, ops::Pad{{0}, {0}, {2}}), host(d, {7}, {1, 9, 9, 2, 9, 9, 3}));
    EXPECT_EQ(eval(ops::pad, {x, fill}, ops::Pad{{-1}, {1}, {1}}), host(d, {5}, {9, 2, 9, 3, 9}));
    EXPECT_EQ(eval(ops::pad, {x, fill}, ops::Pad{{-2}, {-1}, {0}}), host(d, {0}, {}));
    EXPECT_EQ(eval(ops::pad, {host(d, {0}, {}), fill}, ops::Pad{{1}, {1}, {0}}), host(d, {2}, {9, 9}));
  }
}
TEST(ReferenceStructural, DynamicSlicesClamp) {
  const HostArray x = ramp(Dtype::f32, {3, 4});
  const auto start = [](Dtype d, double v) { return host(d, {}, {v}); };
  EXPECT_EQ(eval(ops::dynamic_slice, {x, start(Dtype::i32, 2), start(Dtype::i32, -5)}, ops::DynamicSlice{{2, 2}}),
            host(Dtype::f32, {2, 2}, {4, 5, 8, 9}));
  const HostArray huge = raw(Dtype::u64, {}, std::vector<std::uint64_t>{~std::uint64_t{0}});
  EXPECT_EQ(eval(ops::dynamic_slice, {x, huge, raw(Dtype::u64, {}, std::vector<std::uint64_t>{0})},
                 ops::DynamicSlice{{1, 4}}),
            host(Dtype::f32, {1, 4}, {8, 9, 10, 11}));
  EXPECT_EQ(eval(ops::dynamic_update_slice,
                 {x, host(Dtype::f32, {1, 2}, {-1, -2}), start(Dtype::i64, 1), start(Dtype::i64, 9)}),
            host(Dtype::f32, {3, 4}, {0, 1, 2, 3, 4, 5, -1, -2, 8, 9, 10, 11}));
}

TEST(ReferenceStructural, GatherClipsOrFills) {
  for (const Dtype d : widths) {
    const HostArray x = ramp(d, {3, 2});
    const HostArray rows = host(Dtype::i64, {4, 1}, {2, -1, 3, 0});
    const ir::Scalar fill = ir::Scalar::of_int(d, 7);
    EXPECT_EQ(eval(ops::gather, {x, rows}, ops::Gather{ops::IndexMode::clip, fill}),
              host(d, {4, 2}, {4, 5, 0, 1, 4, 5, 0, 1}));
  }
  const HostArray x = ramp(Dtype::i32, {3, 2}), rows = host(Dtype::i32, {4, 1}, {2, -1, 3, 0});
  EXPECT_EQ(eval(ops::gather, {x, rows}, ops::Gather{ops::IndexMode::fill, ir::Scalar::of_int(Dtype::i32, 7)}),
            host(Dtype::i32, {4, 2}, {4, 5, 7, 7, 7, 7, 0, 1}));
  EXPECT_EQ(eval(ops::gather, {x, host(Dtype::i32, {2, 2}, {1, 1, 9, -9})},
                 ops::Gather{ops::IndexMode::clip, ir::Scalar::of_int(Dtype::i32, 0)}),
            host(Dtype::i32, {2}, {3, 4}));
  EXPECT_EQ(eval(ops::gather, {host(Dtype::i32, {0, 2}, {}), host(Dtype::i32, {1, 1}, {0})},
                 ops::Gather{ops::IndexMode::fill, ir::Scalar::of_int(Dtype::i32, 7)}),
            host(Dtype::i32, {1, 2}, {7, 7}));
}
TEST(ReferenceStructural, ScatterInOrder) {
  const HostArray x = host(Dtype::i32, {4}, {10, 20, 30, 40}), at = host(Dtype::i32, {5, 1}, {1, 1, -1, 4, 3});
  const HostArray updates = host(Dtype::i32, {5}, {2, 3, 5, 6, 7});
  const auto scattered = [&](ops::Combine combine, ops::IndexMode mode) {
    return values(eval(ops::scatter, {x, at, updates}, ops::Scatter{combine, mode}));
  };
  using ops::Combine, ops::IndexMode;
  EXPECT_EQ(scattered(Combine::set, IndexMode::fill), (std::vector<double>{10, 3, 30, 7}));
  EXPECT_EQ(scattered(Combine::set, IndexMode::clip), (std::vector<double>{5, 3, 30, 7}));
  EXPECT_EQ(scattered(Combine::add, IndexMode::fill), (std::vector<double>{10, 25, 30, 47}));
  EXPECT_EQ(scattered(Combine::mul, IndexMode::fill), (std::vector<double>{10, 120, 30, 280}));
  EXPECT_EQ(scattered(Combine::min, IndexMode::clip), (std::vector<double>{5, 2, 30, 6}));
  EXPECT_EQ(scattered(Combine::max, IndexMode::clip), (std::vector<double>{10, 20, 30, 40}));
  EXPECT_EQ(
      eval(ops::scatter, {ramp(Dtype::f64, {2, 2}), host(Dtype::i64, {1, 1}, {1}), host(Dtype::f64, {1, 2}, {5, 6})},
           ops::Scatter{Combine::add, IndexMode::fill}),
      host(Dtype::f64, {2, 2}, {0, 1, 7, 9}));
  EXPECT_EQ(eval(ops::scatter, {vec(Dtype::b8, {0, 1}), host(Dtype::i32, {1, 1}, {0}), vec(Dtype::b8, {1})},
                 ops::Scatter{Combine::max, IndexMode::fill}),
            vec(Dtype::b8, {1, 1}));
}

TEST(ReferenceStructural, SortIsStableWithNanLast) {
  for (const json& row : golden_rows("numerics", "sort"))
    EXPECT_EQ(difference(eval(ops::sort, {from_golden(row["inputs"])}, ops::Sort{0, 1}), from_golden(row["expected"])),
              "");
  for (const json& row : golden_rows("numerics", "argsort")) {
    if (row["params"].contains("descending")) continue;
    const HostArray x = from_golden(row["inputs"]), order = ramp(Dtype::i32, x.shape);
    const ir::Program p = one_op(ops::sort, {x.type(), order.type()}, ops::Sort{0, 1});
    EXPECT_EQ(run(runtime::reference_client(), p, {x, order})[1], from_golden(row["expected"])) << row["name"];
  }
}
TEST(ReferenceStructural, SortByTwoKeysAlongEachAxis) {
  const HostArray a = host(Dtype::u8, {2, 3}, {2, 1, 2, 0, 255, 0}), b = host(Dtype::f16, {2, 3}, {5, 4, 3, 1, 2, -1});
  const ir::Program rows = one_op(ops::sort, {a.type(), b.type()}, ops::Sort{1, 2});
  EXPECT_EQ(run(runtime::reference_client(), rows, {a, b}),
            (HostArrays{host(Dtype::u8, {2, 3}, {1, 2, 2, 0, 0, 255}), host(Dtype::f16, {2, 3}, {4, 3, 5, -1, 1, 2})}));
  const ir::Program columns = one_op(ops::sort, {a.type(), b.type()}, ops::Sort{0, 1});
  EXPECT_EQ(run(runtime::reference_client(), columns, {a, b}),
            (HostArrays{host(Dtype::u8, {2, 3}, {0, 1, 0, 2, 255, 2}), host(Dtype::f16, {2, 3}, {1, 4, -1, 5, 2, 3})}));
  EXPECT_EQ(eval(ops::sort, {host(Dtype::f32, {0, 2}, {})}, ops::Sort{0, 1}), host(Dtype::f32, {0, 2}, {}));
}

}  // namespace
}  // namespace uni
