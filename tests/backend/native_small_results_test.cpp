// Results near 0 keep their digits, and large powers theirs: no difference of nearly equal numbers, no overflow on the
// way to a number that is not 0.
#include <gtest/gtest.h>

#include <complex>
#include <cstdlib>
#include <limits>

#include "build.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"

namespace uni::backend_test {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

// Many of each, as results of a compiled kernel and of one that is not.
std::vector<HostArray> results(const ir::Op& op, const HostArrays& few, const ir::Params& params = {}) {
  std::vector<HostArray> out;
  for (const char* from : {"0", "1000000"}) {
    setenv("UNISONO_COMPILE_FROM", from, 1);
    out.push_back(run_op(runtime::native_client(), op, few, params));
  }
  unsetenv("UNISONO_COMPILE_FROM");
  return out;
}
void expect_near(const ir::Op& op, Dtype dtype, const std::vector<double>& x, const std::vector<double>& want,
                 double relative, double absolute, const ir::Params& params = {}) {
  for (const HostArray& y : results(op, {vec(dtype, x)}, params)) {
    const std::vector<double> got = values(y);
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::isfinite(want[i]))
        EXPECT_NEAR(got[i], want[i], relative * std::fabs(want[i]) + absolute) << op.name << " of " << x[i];
      else
        EXPECT_EQ(got[i], want[i]) << op.name << " of " << x[i];
    }
  }
}
template <class R>
void expect_complex(const ir::Op& op, Dtype dtype, const std::vector<std::complex<R>>& x,
                    const std::vector<std::complex<double>>& want, double relative) {
  const i64 n = static_cast<i64>(want.size());
  HostArrays in;
  for (std::size_t k = 0; k < x.size(); k += want.size())
    in.push_back(
        raw<std::complex<R>>(dtype, {n}, {x.begin() + static_cast<i64>(k), x.begin() + static_cast<i64>(k) + n}));
  for (const HostArray& y : results(op, in))
    for (i64 i = 0; i < n; ++i) {
      const std::complex<double> got(y.at<std::complex<R>>(i)), expected = want[static_cast<std::size_t>(i)];
      EXPECT_LE(std::abs(got - expected), relative * std::abs(expected))
          << op.name << " element " << i << " is " << got;
    }
}
}  // namespace

TEST(NativeSmallResults, LogisticFarBelowZero) {
  const std::vector<double> x{-30, -87, -88.5, -90, -95, -infinity, 90, infinity}, want{9.3576229688392989e-14,
                                                                                        1.6458114310822737e-38,
                                                                                        3.6723016041176535e-39,
                                                                                        8.1940126239905157e-40,
                                                                                        5.5210822770285325e-42,
                                                                                        0,
                                                                                        1,
                                                                                        1};
  expect_near(ops::logistic, Dtype::f32, x, want, 1e-6, 3e-45);
  expect_near(ops::logistic, Dtype::bf16, x, want, 1e-2, 1e-40);
  expect_near(ops::logistic, Dtype::f64, {-720, -740, infinity}, {2.0322308024629422e-313, 4.1887e-322, 1}, 1e-9,
              1e-323);
  expect_near(ops::logistic, Dtype::f16, {-12, -16}, {6.1441746e-6, 1.1253516e-7}, 1e-3, 6e-8);
}

TEST(NativeSmallResults, CumulativeLogSumOfLittle) {
  const ops::Cumulative forward{0, false};
  expect_near(ops::cumlogsumexp, Dtype::f32, {0, -80, -infinity}, {0, 1.8048513878454153e-35, 1.8048513878454153e-35},
              1e-6, 0, forward);
  expect_near(ops::cumlogsumexp, Dtype::f64, {-50, 0, -700}, {-50, 1.9287498479639178e-22, 1.9287498479639178e-22},
              1e-14, 0, forward);
  expect_near(ops::cumlogsumexp, Dtype::f32, {-infinity, -infinity, 2, 2, infinity},
              {-infinity, -infinity, 2, 2.6931471805599454, infinity}, 1e-6, 0, forward);
}

TEST(NativeSmallResults, ComplexNearTheirZeros) {
  using C = std::complex<float>;
  // expm1 and log1p where the real part is a difference of equal terms, and log1p next to its pole.
  expect_complex<float>(ops::log1p, Dtype::c64, {C(-1 + 0x1p-20f, 0), C(1e20f, 1e20f), C(1e-8f, 1e-8f)},
                        {{-13.862943611198906, 0}, {46.398275, 0.78539816}, {1e-8, 1e-8}}, 2e-6);
  expect_complex<float>(ops::expm1, Dtype::c64, {C(1e-8f, 1e-8f), C(1e-6f, -1e-8f)},
                        {{1e-8, 1e-8}, {1.0000005e-6, -1e-8}}, 1e-6);
  expect_complex<double>(ops::log1p, Dtype::c128, {{-1 + 1e-12, 1e-12}}, {{-27.284447, 0.78537586}}, 1e-5);
}

TEST(NativeSmallResults, ComplexPowers) {
  using C = std::complex<float>;
  const std::vector<C> x{C(0, 0), C(0, 0), C(3, 4), C(1.5f, 0.5f)}, y{C(0, 0), C(2, 1), C(20, 0), C(0, 0)};
  std::vector<C> both = x;
  both.insert(both.end(), y.begin(), y.end());
  const std::complex<double> large = std::pow(std::complex<double>(3, 4), 20.0);
  expect_complex<float>(ops::pow, Dtype::c64, both, {{1, 0}, {0, 0}, large, {1, 0}}, 1e-6);
}

}  // namespace uni::backend_test
