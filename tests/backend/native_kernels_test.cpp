// Kernels that take different ways for different shapes, against the reference backend on shapes that reach all of
// them. Values are small integers, so that sums are exact in any order.
#include <random>

#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"
#include "runtime/client.hpp"

namespace uni {
namespace {

using runtime::BufferPtr;

class Kernels : public testing::Test {
 protected:
  std::mt19937 random{7};
  i64 pick(std::vector<i64> from) { return from[random() % from.size()]; }

  BufferPtr operand(const ir::Type& t) {
    BufferPtr b = runtime::native_client().allocate(t.dtype, t.shape, 0);
    for (i64 i = 0; i < t.shape.count(); ++i) {
      const int v = static_cast<int>(random() % 7) - 3;
      if (t.dtype == Dtype::f64)
        reinterpret_cast<double*>(b->data())[i] = v;
      else if (t.dtype == Dtype::f32)
        reinterpret_cast<float*>(b->data())[i] = static_cast<float>(v);
      else if (t.dtype == Dtype::bf16)
        reinterpret_cast<bf16*>(b->data())[i] = bf16(static_cast<float>(v));
      else if (t.dtype == Dtype::f16)
        reinterpret_cast<f16*>(b->data())[i] = f16(static_cast<float>(v));
      else if (t.dtype == Dtype::c64)
        reinterpret_cast<Complex<float>*>(b->data())[i] = {static_cast<float>(v), static_cast<float>(v / 2)};
      else if (t.dtype == Dtype::i32)
        reinterpret_cast<std::int32_t*>(b->data())[i] = v * 4;  // indices, some out of range
      else
        std::fill_n(b->data() + i * itemsize(t.dtype), itemsize(t.dtype), static_cast<std::byte>(random() % 256));
    }
    return b;
  }
  static runtime::LocalProgram program(const ir::Op& op, const ir::Types& in, const ir::Params& params) {
    ir::Program p;
    ir::Eqn e{&op, {}, {}, params, {}};
    for (const ir::Type& t : in) e.in.push_back(p.add(t));
    p.inputs = static_cast<int>(in.size());
    for (const ir::Type& t : ir::infer(op, in, params)) e.out.push_back(p.add(t));
    p.outputs = e.out;
    p.eqns.push_back(std::move(e));
    return {std::make_shared<const ir::Program>(p), Mesh({}, {0}), std::vector<P>(in.size()),
            std::vector<P>(p.outputs.size())};
  }
  void expect_same(const ir::Op& op, const ir::Types& in, const ir::Params& params) {
    const runtime::LocalProgram local = program(op, in, params);
    std::vector<runtime::Shards> args;
    for (const ir::Type& t : in) args.push_back({operand(t)});
    const auto got = runtime::native_client().compile(local)->execute(args, {});
    const auto want = runtime::reference_client().compile(local)->execute(args, {});
    for (std::size_t o = 0; o < got.size(); ++o)
      for (i64 i = 0; i < got[o][0]->shape().count(); ++i) {
        const i64 size = itemsize(got[o][0]->dtype());
        ASSERT_EQ(
            std::memcmp(got[o][0]->data() + i * size, want[o][0]->data() + i * size, static_cast<std::size_t>(size)), 0)
            << ir::print(*local.program) << "result " << o << " element " << i;
      }
  }
  static ir::Type type(Dtype d, Dims shape) { return {d, std::move(shape), false, {}}; }
};

TEST_F(Kernels, DotProducts) {
  using D = ops::DotGeneral;
  for (const Dtype d : {Dtype::f32, Dtype::f64, Dtype::bf16})
    for (int i = 0; i < 40; ++i) {
      const i64 m = pick({1, 2, 17, 130, 300}), n = pick({1, 3, 16, 129, 280}), k = pick({0, 1, 5, 33}),
                b = pick({1, 3});
      expect_same(ops::dot_general, {type(d, {m, k}), type(d, {k, n})}, D{{1}, {0}, {}, {}});
      expect_same(ops::dot_general, {type(d, {k, m}), type(d, {n, k})}, D{{0}, {1}, {}, {}});
      expect_same(ops::dot_general, {type(d, {k, m}), type(d, {k, n})}, D{{0}, {0}, {}, {}});
      expect_same(ops::dot_general, {type(d, {b, m, k}), type(d, {b, n, k})}, D{{2}, {2}, {0}, {0}});
      expect_same(ops::dot_general, {type(d, {m, b, k}), type(d, {n, k, b})}, D{{2}, {1}, {1}, {2}});
      expect_same(ops::dot_general, {type(d, {2, m, k}), type(d, {k, 2, n})}, D{{0, 2}, {1, 0}, {}, {}});
    }
}

TEST_F(Kernels, LargeDotProducts) {
  using D = ops::DotGeneral;
  for (const Dtype d : {Dtype::f32, Dtype::f16, Dtype::i32, Dtype::c64}) {
    expect_same(ops::dot_general, {type(d, {300, 700}), type(d, {700, 290})}, D{{1}, {0}, {}, {}});
    expect_same(ops::dot_general, {type(d, {5, 20000}), type(d, {33, 20000})}, D{{1}, {1}, {}, {}});
    expect_same(ops::dot_general, {type(d, {9000, 40}), type(d, {9000, 70})}, D{{0}, {0}, {}, {}});
    expect_same(ops::dot_general, {type(d, {1, 3000}), type(d, {3000, 600})}, D{{1}, {0}, {}, {}});
  }
}

TEST_F(Kernels, SortsAreStableAtAnyLength) {
  for (const Dtype d : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64,
                        Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64, Dtype::b8})
    for (const i64 n : {1, 2, 100, 2047, 2048, 5000}) {
      expect_same(ops::sort, {type(d, {n}), type(Dtype::u32, {n})}, ops::Sort{0, 1});
      expect_same(ops::sort, {type(d, {2, n, 3}), type(Dtype::f32, {2, n, 3}), type(Dtype::u8, {2, n, 3})},
                  ops::Sort{1, 2});
    }
}

TEST_F(Kernels, Convolutions) {
  for (int i = 0; i < 300; ++i) {
    ops::Conv p;
    const int spatial = static_cast<int>(pick({0, 1, 2, 2, 3}));
    const i64 groups = pick({1, 1, 1, 2, 3});
    const bool batch_groups = groups > 1 && pick({0, 1}) == 1;
    const i64 channels = pick({1, 2, 7, 8, 17}), features = groups * pick({1, 2, 5});
    (batch_groups ? p.batch_groups : p.groups) = groups;
    Dims x{(batch_groups ? groups : 1) * pick({1, 2, 3})}, kernel;
    for (int d = 0; d < spatial; ++d) {
      x.push_back(pick({1, 4, 7}));
      kernel.push_back(pick({1, 2, 3}));
      p.stride.push_back(pick({1, 1, 2, 3}));
      p.low.push_back(pick({0, 1, 2, -1}));
      p.high.push_back(pick({0, 1, 2, 8}));
      p.input_dilation.push_back(pick({1, 1, 2}));
      p.kernel_dilation.push_back(pick({1, 1, 2}));
    }
    x.push_back(batch_groups ? channels : groups * channels);
    kernel.push_back(channels);
    kernel.push_back(features);
    const ir::Types in{type(Dtype::f32, x), type(Dtype::f32, kernel)};
    try {
      ir::infer(ops::conv, in, p);
    } catch (const Error&) {
      continue;  // padding cut away more than there is
    }
    expect_same(ops::conv, in, p);
  }
}

TEST_F(Kernels, Windows) {
  for (int i = 0; i < 200; ++i) {
    ops::Window w;
    Dims x;
    const int rank = static_cast<int>(pick({0, 1, 2, 3, 4}));
    for (int d = 0; d < rank; ++d) {
      x.push_back(pick({1, 3, 6}));
      w.size.push_back(pick({1, 1, 2, 3}));
      w.stride.push_back(pick({1, 1, 2, 3}));
      w.low.push_back(pick({0, 0, 1, 2}));
      w.high.push_back(pick({0, 0, 2, 4}));
    }
    for (const Dtype d : {Dtype::f32, Dtype::bf16}) {
      const ir::Type in = type(d, x);
      ir::Type out;
      try {
        out = ir::infer(ops::reduce_window_max, std::vector{in}, w)[0];
      } catch (const Error&) {
        continue;
      }
      expect_same(ops::reduce_window_sum, {in}, w);
      expect_same(ops::reduce_window_max, {in}, w);
      expect_same(ops::window_gather_max, {in, in}, w);
      expect_same(ops::window_scatter_max, {out, in}, w);
    }
  }
}

// Time follows the elements that windows meet, not their sizes. Two windows: one of padding and x, one of x and
// padding.
TEST_F(Kernels, LargeWindowsOfFewPositions) {
  for (const Dtype d : {Dtype::f32, Dtype::bf16, Dtype::i32})
    for (const i64 stride : {1, 2, 3}) {
      const ops::Window p{{1, 2, 3, 1}, {1, stride, 2, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}};
      expect_same(ops::reduce_window_sum, {type(d, {3, 31, 64, 17})}, p);
      expect_same(ops::reduce_window_max, {type(d, {3, 31, 64, 17})}, p);
    }
}

TEST_F(Kernels, WindowsFarLargerThanTheirOperand) {
  const i64 far = i64{1} << 38;
  const ir::Type x = type(Dtype::f32, {3, 2});
  const ops::Window w{{far, 1}, {3, 1}, {far - 1, 0}, {1, 0}};
  const runtime::LocalProgram local = program(ops::reduce_window_sum, {x}, w);
  const BufferPtr in = operand(x);
  const BufferPtr out = runtime::native_client().compile(local)->execute(std::vector<runtime::Shards>{{in}}, {})[0][0];
  ASSERT_EQ(out->shape(), (Dims{2, 2}));
  const auto* v = reinterpret_cast<const float*>(in->data());
  const auto* sums = reinterpret_cast<const float*>(out->data());
  for (int c = 0; c < 2; ++c) {
    EXPECT_EQ(sums[c], v[c]);
    EXPECT_EQ(sums[2 + c], v[c] + v[2 + c] + v[4 + c]);
  }
}

TEST_F(Kernels, TransposesSlicesAndPads) {
  for (int i = 0; i < 100; ++i) {
    const Dtype d = std::vector{Dtype::b8, Dtype::u16, Dtype::f32, Dtype::f64, Dtype::c128}[random() % 5];
    const int rank = static_cast<int>(pick({1, 2, 3, 4}));
    Dims x, start, limit, stride, low, high, interior;
    std::vector<int> permutation;
    for (int a = 0; a < rank; ++a) {
      x.push_back(pick({1, 2, 5, 19, 37}));
      permutation.push_back(a);
      start.push_back(pick({0, 0, x[a] - 1}));
      limit.push_back(x[a]);
      stride.push_back(pick({1, 1, 2, 3}));
      low.push_back(pick({0, 1, -1}));
      high.push_back(pick({0, 2, -1}));
      interior.push_back(pick({0, 0, 2}));
    }
    std::shuffle(permutation.begin(), permutation.end(), random);
    if (d != Dtype::b8) expect_same(ops::transpose, {type(d, x)}, ops::Transpose{permutation});
    expect_same(ops::slice, {type(Dtype::f32, x)}, ops::SliceParams{start, limit, stride});
    expect_same(ops::reverse, {type(Dtype::f32, x)}, ops::Reverse{{rank - 1}});
    try {
      ir::infer(ops::pad, std::vector{type(Dtype::f32, x), type(Dtype::f32, {})}, ops::Pad{low, high, interior});
    } catch (const Error&) {
      continue;
    }
    expect_same(ops::pad, {type(Dtype::f32, x), type(Dtype::f32, {})}, ops::Pad{low, high, interior});
  }
}

TEST_F(Kernels, ReductionsOverAnyAxes) {
  for (int i = 0; i < 60; ++i) {
    Dims x;
    std::vector<int> axes;
    for (int a = 0; a < 4; ++a) {
      x.push_back(pick({1, 2, 5, 33}));
      if (random() % 2) axes.push_back(a);
    }
    if (axes.empty()) continue;
    for (const Dtype d : {Dtype::f32, Dtype::f64}) {
      expect_same(ops::reduce_sum, {type(d, x)}, ops::Reduce{axes});
      expect_same(ops::reduce_max, {type(d, x)}, ops::Reduce{axes});
      expect_same(ops::argmax, {type(d, x)}, ops::ArgReduce{axes[0], Dtype::i32});
    }
  }
  expect_same(ops::reduce_sum, {type(Dtype::f32, {100003})}, ops::Reduce{{0}});
}

TEST_F(Kernels, GathersAndScatters) {
  using ops::Combine, ops::IndexMode;
  for (const Dtype d : {Dtype::f32, Dtype::bf16, Dtype::u16})
    for (const i64 block : {0, 1, 3, 200})
      for (const i64 rows : {0, 1, 150})
        for (const IndexMode mode : {IndexMode::clip, IndexMode::fill}) {
          const ir::Type x = type(d, {9, block}), indices = type(Dtype::i32, {rows, 1}),
                         updates = type(d, {rows, block});
          expect_same(ops::gather, {x, indices}, ops::Gather{mode, ir::Scalar::of_int(d, 5)});
          for (const Combine c : {Combine::set, Combine::add, Combine::mul, Combine::min, Combine::max}) {
            if (d != Dtype::u16 && c == Combine::mul && rows > 1) continue;  // products of many round differently
            expect_same(ops::scatter, {x, indices, updates}, ops::Scatter{c, mode});
          }
        }
}

TEST_F(Kernels, RandomBitsOfSeveralKeys) {
  for (const int width : {8, 16, 32, 64})
    for (const Dims& shape : {Dims{}, Dims{3, 1001}, Dims{0}})
      expect_same(ops::random_bits, {type(Dtype::key, {3})}, ops::RandomBits{width, shape});
  expect_same(ops::random_split, {type(Dtype::key, {2})}, ops::RandomSplit{{777}});
}

}  // namespace
}  // namespace uni
