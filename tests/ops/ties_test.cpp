// Structural and contracting rows where values tie, indices repeat or elements are NaN: exact values and derivatives.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include "row_values.hpp"

namespace uni {

namespace {
using contract::Values;
using ops::Combine, ops::IndexMode;
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

Array vector(const std::vector<double>& values) {
  return contract::make(Dtype::f64, {static_cast<i64>(values.size())}, Values(values.begin(), values.end()));
}
Array indices(const std::vector<double>& values) {
  return contract::make(Dtype::i32, {static_cast<i64>(values.size()), 1}, Values(values.begin(), values.end()));
}
std::vector<double> numbers(const Array& a) {
  std::vector<double> out;
  for (const contract::Value& v : contract::read(a)) out.push_back(static_cast<double>(v.real()));
  return out;
}
// The gradients of sum(weights * f(x)); weights 1, 10, 100, ...
std::vector<std::vector<double>> gradients(const std::function<Array(std::span<const Array>)>& f, const Arrays& x) {
  const auto outputs = [&](std::span<const Array> in) { return Arrays{f(in)}; };
  const interp::LinearMap map = interp::linearize(outputs, x, std::vector<bool>(x.size(), true));
  std::vector<core::Operand> operands;
  for (const Array& a : x) operands.push_back({Array(), core::type_of(a)});
  for (const Array& r : map.residuals) operands.push_back({r, core::type_of(r)});
  Values weights;
  for (i64 i = 0; i < map.out[0].size(); ++i) weights.push_back(std::pow(10.0L, i));
  const Arrays ct{contract::make(Dtype::f64, map.out[0].shape(), weights)};
  const Arrays back = interp::transpose(*map.program, operands, ct);
  std::vector<std::vector<double>> out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.push_back(back[i].defined() ? numbers(back[i]) : std::vector<double>(numbers(x[i]).size()));
  return out;
}
void expect_same(const std::vector<double>& got, const std::vector<double>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
        << what << "[" << i << "]: " << got[i] << " instead of " << want[i];
}

TEST(Ties, RunningTotals) {
  const auto of = [](Array (*running)(const Array&, int, bool), const std::vector<double>& x) {
    return gradients([&](std::span<const Array> in) { return running(in[0], 0, false); }, {vector(x)})[0];
  };
  expect_same(of(lax::cummax, {1, 3, 3, 2}), {1, 560, 550, 0}, "cummax");
  expect_same(of(lax::cummax, {0, 0, 0}), {31, 30, 50}, "cummax of equal elements");
  expect_same(of(lax::cummax, {0, -0.0, 0, -0.0}), {281, 280, 300, 250}, "cummax of zeros");
  expect_same(of(lax::cummin, {3, 1, 2, 1}), {1, 610, 0, 500}, "cummin");
  expect_same(of(lax::cumprod, {2, 0, 3}), {1, 620, 0}, "cumprod");
  expect_same(of(lax::cumprod, {0, 0, 0}), {1, 0, 0}, "cumprod of zeros");
  expect_same(of(lax::cumlogsumexp, {-inf, -inf}), {6, 5}, "cumlogsumexp of nothing");
}

TEST(Ties, ReductionsShareEqually) {
  const auto of = [](Array (*reduce)(const Array&, const std::vector<int>&), const std::vector<double>& x) {
    return gradients([&](std::span<const Array> in) { return reduce(in[0], {0}); }, {vector(x)})[0];
  };
  expect_same(of(lax::reduce_max, {1, 3, 2, 3}), {0, 0.5, 0, 0.5}, "max");
  expect_same(of(lax::reduce_min, {1, 3, 1}), {0.5, 0, 0.5}, "min");
  expect_same(of(lax::reduce_max, {1, nan, 3}), {nan, nan, nan}, "max of NaN");
  expect_same(of(lax::reduce_prod, {2, 0, 3, 4}), {0, 24, 0, 0}, "prod");
  expect_same(of(lax::reduce_prod, {2, 0, 3, 0}), {0, 0, 0, 0}, "prod of two zeros");
  expect_same(of(lax::reduce_prod, {-inf, 0, -inf, 1}), {nan, inf, nan, nan}, "prod of infinities");
  expect_same(of(lax::reduce_prod, {1, inf, 2}), {inf, 2, inf}, "prod of infinity");
}

TEST(Ties, SortFollowsTheStablePermutation) {
  const auto sorted = [](std::span<const Array> in) { return lax::sort(in, 0, 1)[0]; };
  expect_same(gradients(sorted, {vector({2, 2, 1, 3})})[0], {10, 100, 1, 1000}, "sort");
  expect_same(gradients(sorted, {vector({nan, 0, nan, -0.0})})[0], {100, 1, 1000, 10}, "sort of NaN");
  const auto largest = [](std::span<const Array> in) { return lax::top_k(in[0], 3)[0]; };
  expect_same(gradients(largest, {vector({2, 2, 1, 3})})[0], {10, 100, 0, 1}, "top_k");
  expect_same(gradients(largest, {vector({0, nan, -0.0, nan})})[0], {100, 1, 0, 10}, "top_k of NaN");
}

TEST(Ties, TheFirstMaximumOfAWindowGetsAll) {
  const ops::Window pairs{{2}, {2}, {0}, {0}}, sliding{{3}, {1}, {1}, {1}};
  const auto pooled = [](const ops::Window& w) {
    return [&w](std::span<const Array> in) { return lax::reduce_window_max(in[0], w); };
  };
  expect_same(gradients(pooled(pairs), {vector({1, 1, 3, 2})})[0], {1, 0, 10, 0}, "max of pairs");
  expect_same(gradients(pooled(sliding), {vector({5, 5, 0, 0})})[0], {11, 100, 1000, 0}, "sliding max");
}

TEST(Ties, ScattersWithRepeatedIndices) {
  const Arrays x{vector({10, 11, 12, 13}), vector({10, 11, 12})};
  const auto of = [&](Combine combine, const Arrays& operands) {
    return gradients(
        [&](std::span<const Array> in) {
          return lax::scatter(in[0], indices({0, 0, 2}), in[1], combine, IndexMode::fill);
        },
        operands);
  };
  const auto expect = [&](Combine combine, const std::vector<double>& dx, const std::vector<double>& du,
                          const char* what) {
    const auto g = of(combine, x);
    expect_same(g[0], dx, what);
    expect_same(g[1], du, what);
  };
  expect(Combine::set, {0, 10, 0, 1000}, {0, 1, 100}, "set");
  expect(Combine::add, {1, 10, 100, 1000}, {1, 1, 100}, "add");
  expect(Combine::mul, {110, 10, 1200, 1000}, {110, 100, 1200}, "mul");
  expect(Combine::min, {0.5, 10, 50, 1000}, {0.5, 0, 50}, "min");
  expect(Combine::max, {0, 10, 50, 1000}, {0, 1, 50}, "max");
  const auto untouched = of(Combine::max, {vector({1, nan, 1, 1}), vector({2, 2, 2})});
  expect_same(untouched[0], {0, 10, 0, 1000}, "max beside an untouched NaN");
  expect_same(untouched[1], {0.5, 0.5, 100}, "max of tied updates");
}

TEST(Ties, IndicesOutOfRange) {
  const Array x = vector({1, 2, 3}), at = indices({0, 0, 2, -1, 7});
  const ir::Scalar fill = ir::Scalar::of_double(Dtype::f64, nan);
  const auto read = [&](IndexMode mode) {
    return [&at, &fill, mode](std::span<const Array> in) { return lax::gather(in[0], at, mode, fill); };
  };
  expect_same(numbers(lax::gather(x, at, IndexMode::clip, fill)), {1, 1, 3, 1, 3}, "clip");
  expect_same(numbers(lax::gather(x, at, IndexMode::fill, fill)), {1, 1, 3, nan, nan}, "fill");
  expect_same(gradients(read(IndexMode::clip), {x})[0], {1011, 0, 10100}, "gradient of clip");
  expect_same(gradients(read(IndexMode::fill), {x})[0], {11, 0, 100}, "gradient of fill");
  const Array ones = vector({1, 1, 1, 1, 1});
  expect_same(numbers(lax::scatter(x, at, ones, Combine::add, IndexMode::clip)), {4, 2, 5}, "add, clip");
  expect_same(numbers(lax::scatter(x, at, ones, Combine::add, IndexMode::fill)), {3, 2, 4}, "add, drop");
}

TEST(Ties, DynamicSlicesClampAndDoNotWrap) {
  const Array x = vector({0, 1, 2, 3});
  const auto from = [&](i64 start) {
    const Arrays starts{lax::full_int(start, Dtype::i32, {})};
    return numbers(lax::dynamic_slice(x, starts, {2}));
  };
  expect_same(from(-1), {0, 1}, "before");
  expect_same(from(1), {1, 2}, "inside");
  expect_same(from(9), {2, 3}, "behind");
}
}  // namespace

}  // namespace uni
