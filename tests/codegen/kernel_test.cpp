// Kernels from loops written by hand: every form of loop, at sizes around the width of a vector.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backend/codegen/jit.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"

namespace uni::codegen {
namespace {

const ir::Params none;

struct Builder {
  Loop loop;
  int load(int argument, std::vector<i64> strides, i64 offset = 0, Dtype dtype = Dtype::f32) {
    loop.arguments = std::max(loop.arguments, argument + 1);
    Node n = make(Node::Kind::load, dtype);
    n.argument = argument;
    n.access = {std::move(strides), offset};
    return add(n);
  }
  int map(const ir::Op& op, std::vector<int> in, Dtype dtype = Dtype::f32, const ir::Params& params = none) {
    Node n = make(Node::Kind::map, dtype);
    n.in = std::move(in);
    n.op = &op;
    n.params = &params;
    return add(n);
  }
  int reduce(const ir::Op& op, int in) {
    Node n = make(Node::Kind::reduce, loop.nodes[static_cast<std::size_t>(in)].dtype);
    n.in = {in};
    n.op = &op;
    n.params = &none;
    return add(n);
  }
  int iota(std::vector<i64> strides, Dtype dtype) {
    Node n = make(Node::Kind::iota, dtype);
    n.access.strides = std::move(strides);
    return add(n);
  }
  void store(int node, int argument, std::vector<i64> strides) {
    loop.arguments = std::max(loop.arguments, argument + 1);
    loop.stores.push_back({node, argument, {std::move(strides), 0}});
  }
  static Node make(Node::Kind kind, Dtype dtype) {
    Node n;
    n.kind = kind;
    n.dtype = dtype;
    return n;
  }
  int add(const Node& n) {
    loop.nodes.push_back(n);
    return static_cast<int>(loop.nodes.size()) - 1;
  }
  KernelFn compiled() const {
    const KernelText text = emit(loop);
    return compile({&text, 1})[0];
  }
};
template <class T>
std::byte* bytes(std::vector<T>& v) {
  return reinterpret_cast<std::byte*>(v.data());
}
std::vector<float> ramp(i64 n, float scale = 0.37f) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<float>(i) * scale) * 3;
  return v;
}

TEST(Kernel, FlatMapsOfAnyLengthWriteTheirElementsOnly) {
  Builder b;
  b.loop.columns = 0;
  const int x = b.load(0, {1}), y = b.load(1, {0});
  b.store(b.map(ops::mul, {b.map(ops::exp, {x}), y}), 2, {1});
  const KernelFn k = b.compiled();
  for (i64 n : {0, 1, 7, 15, 16, 17, 64, 130}) {
    std::vector<float> in = ramp(n), scale{2}, out(static_cast<std::size_t>(n) + 2, -5);
    std::byte* arguments[] = {bytes(in), bytes(scale), bytes(out)};
    k(arguments, 0, 1, 0, n, 0);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_NEAR(out[i], 2 * std::exp(in[i]), 1e-6 * std::exp(in[i])) << n << " " << i;
    EXPECT_EQ(out[in.size()], -5);
  }
}

TEST(Kernel, SoftmaxIsOneKernel) {
  for (i64 c : {1, 3, 16, 20, 129, 1000}) {
    Builder b;
    const i64 rows = 5;
    b.loop.rows = {rows};
    b.loop.columns = c;
    const int x = b.load(0, {c, 1});
    const int e = b.map(ops::exp, {b.map(ops::sub, {x, b.reduce(ops::reduce_max, x)})});
    b.store(b.map(ops::div, {e, b.reduce(ops::reduce_sum, e)}), 1, {c, 1});
    std::vector<float> in = ramp(rows * c), out(in.size());
    std::byte* arguments[] = {bytes(in), bytes(out)};
    b.compiled()(arguments, 0, rows, 0, c, 0);
    for (i64 r = 0; r < rows; ++r) {
      double sum = 0;
      const auto at = [&](i64 i) { return static_cast<std::size_t>(r * c + i); };
      for (i64 i = 0; i < c; ++i) sum += std::exp(static_cast<double>(in[at(i)]));
      for (i64 i = 0; i < c; ++i) EXPECT_NEAR(out[at(i)], std::exp(in[at(i)]) / sum, 1e-6) << c << " " << r << " " << i;
    }
  }
}

TEST(Kernel, OperandsAreBroadcastTransposedAndReversed) {
  const i64 r = 6, c = 37;
  Builder b;
  b.loop.rows = {r};
  b.loop.columns = c;
  const int transposed = b.load(0, {1, r}), column = b.load(1, {0, 1}), row = b.load(2, {1, 0});
  const int reversed = b.load(3, {c, -1}, c - 1);
  b.store(b.map(ops::add, {b.map(ops::add, {transposed, column}), b.map(ops::add, {row, reversed})}), 4, {c, 1});
  std::vector<float> t = ramp(r * c), k = ramp(c, 0.1f), w = ramp(r, 0.2f), v = ramp(r * c, 0.3f), out(t.size());
  std::byte* arguments[] = {bytes(t), bytes(k), bytes(w), bytes(v), bytes(out)};
  const KernelFn kernel = b.compiled();
  for (i64 first = 0; first < c; first += column_step)
    kernel(arguments, 0, r, first, std::min(c, first + column_step), 0);
  for (i64 i = 0; i < r; ++i)
    for (i64 j = 0; j < c; ++j) {
      const auto at = [](i64 p) { return static_cast<std::size_t>(p); };
      EXPECT_FLOAT_EQ(out[at(i * c + j)], t[at(j * r + i)] + k[at(j)] + (w[at(i)] + v[at(i * c + c - 1 - j)]));
    }
}

TEST(Kernel, FoldsGiveOnePartialResultPerChunk) {
  const i64 r = 10, c = 21;
  Builder b;
  b.loop.rows = {r};
  b.loop.columns = c;
  const int x = b.load(0, {c, 1});
  b.loop.folds = {{x, 1, &ops::reduce_sum, true}, {b.reduce(ops::reduce_max, x), 2, &ops::reduce_max, false}};
  b.loop.arguments = 3;
  std::vector<float> in = ramp(r * c), sums(2 * c, 99), most(2, 99);
  std::byte* arguments[] = {bytes(in), bytes(sums), bytes(most)};
  const KernelFn k = b.compiled();
  k(arguments, 0, 4, 0, c, 0);
  k(arguments, 4, 10, 0, c, 1);
  for (std::size_t chunk : {0u, 1u}) {
    const i64 begin = chunk ? 4 : 0, end = chunk ? 10 : 4;
    float largest = -100;
    for (i64 j = 0; j < c; ++j) {
      float sum = 0;
      for (i64 i = begin; i < end; ++i) {
        sum += in[static_cast<std::size_t>(i * c + j)];
        largest = std::max(largest, in[static_cast<std::size_t>(i * c + j)]);
      }
      EXPECT_NEAR(sums[chunk * static_cast<std::size_t>(c) + static_cast<std::size_t>(j)], sum, 1e-5);
    }
    EXPECT_EQ(most[chunk], largest);
  }
}

TEST(Kernel, FlatReductionsGiveOnePartialResultPerRange) {
  Builder b;
  b.loop.columns = 0;
  const int x = b.load(0, {1});
  b.loop.folds = {{b.reduce(ops::reduce_sum, x), 1, &ops::reduce_sum, false}};
  b.loop.arguments = 2;
  std::vector<float> in(300, 0.5f), out(2);
  std::byte* arguments[] = {bytes(in), bytes(out)};
  const KernelFn k = b.compiled();
  k(arguments, 0, 1, 0, 256, 0);
  k(arguments, 0, 1, 256, 300, 1);
  EXPECT_EQ(out[0], 128);
  EXPECT_EQ(out[1], 22);
}

TEST(Kernel, CountersFollowThePosition) {
  const i64 r = 3, c = 18;
  Builder b;
  b.loop.rows = {r};
  b.loop.columns = c;
  b.store(b.iota({100, 1}, Dtype::i32), 0, {c, 1});
  b.store(b.iota({1, 0}, Dtype::f32), 1, {1, 0});
  std::vector<std::int32_t> out(r * c);
  std::vector<float> rows(r);
  std::byte* arguments[] = {bytes(out), bytes(rows)};
  b.compiled()(arguments, 0, r, 0, c, 0);
  for (i64 i = 0; i < r; ++i) {
    EXPECT_EQ(rows[static_cast<std::size_t>(i)], static_cast<float>(i));
    for (i64 j = 0; j < c; ++j) EXPECT_EQ(out[static_cast<std::size_t>(i * c + j)], 100 * i + j);
  }
}

TEST(Kernel, EqualLoopsAreCompiledOnce) {
  const auto make = [](double unused) {
    Builder b;
    b.loop.columns = 0;
    b.store(b.map(ops::tanh, {b.map(ops::tanh, {b.load(0, {1})})}), 1, {1});
    (void)unused;
    return b.loop;
  };
  const std::vector<KernelText> texts{emit(make(1)), emit(make(2))};
  const i64 before = compiled_count();
  const std::vector<KernelFn> first = compile(texts), again = compile(texts);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first, again);
  EXPECT_EQ(compiled_count(), before + 1);
}

}  // namespace
}  // namespace uni::codegen
