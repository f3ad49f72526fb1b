// Derivatives of element-wise rows where calculus gives none or several: the conventions, signs of zeros included.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

namespace {
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

struct Kink {
  const core::Primitive& row;
  std::vector<double> x;     // one value per operand
  std::vector<double> want;  // the derivative by each operand
  core::Params params = {};
};

std::string text(double v) { return std::isnan(v) ? "nan" : base::cat(v); }

TEST(Kinks, FollowTheConventions) {
  using namespace ops;
  using ops::logistic, ops::maximum, ops::minimum, ops::rem, ops::rsqrt, ops::sign, ops::stop_gradient;
  const IntegerPow zeroth{0}, first{1}, inverse{-1};
  const Kink table[] = {
      {ops::abs, {0}, {1}},
      {ops::abs, {-0.0}, {1}},
      {ops::abs, {nan}, {-1}},
      {ops::abs, {-inf}, {-1}},
      {sign, {0}, {0}},
      {ops::floor, {2}, {0}},
      {ops::ceil, {nan}, {0}},
      {ops::round, {0.5}, {0}},
      {ops::sqrt, {0}, {inf}},
      {ops::sqrt, {-0.0}, {-inf}},
      {ops::sqrt, {inf}, {0}},
      {rsqrt, {0}, {-inf}},
      {rsqrt, {inf}, {-0.0}},
      {ops::cbrt, {-0.0}, {inf}},
      {ops::cbrt, {-inf}, {0}},
      {ops::log, {0}, {inf}},
      {ops::log, {-2}, {-0.5}},
      {ops::log, {inf}, {0}},
      {ops::log1p, {-1}, {inf}},
      {ops::exp, {-inf}, {0}},
      {ops::cos, {0}, {-0.0}},
      {ops::asin, {1}, {inf}},
      {ops::acos, {-1}, {-inf}},
      {ops::acosh, {1}, {inf}},
      {ops::acosh, {-1}, {inf}},
      {ops::acosh, {-3}, {1 / std::sqrt(8.0)}},
      {ops::acosh, {0}, {nan}},
      {ops::atanh, {-1}, {inf}},
      {ops::atanh, {inf}, {-0.0}},
      {ops::tanh, {inf}, {0}},
      {ops::erfc, {inf}, {-0.0}},
      {logistic, {-inf}, {0}},
      {stop_gradient, {3}, {0}},
      {integer_pow, {0}, {0}, zeroth},
      {integer_pow, {nan}, {0}, zeroth},
      {integer_pow, {0}, {1}, first},
      {integer_pow, {0}, {-inf}, inverse},
      {maximum, {2, 2}, {0.5, 0.5}},
      {maximum, {0.0, -0.0}, {0.5, 0.5}},
      {maximum, {inf, inf}, {0.5, 0.5}},
      {maximum, {1, nan}, {0, 0}},
      {maximum, {3, 2}, {1, 0}},
      {minimum, {2, 2}, {0.5, 0.5}},
      {minimum, {nan, 1}, {0, 0}},
      {minimum, {3, 2}, {0, 1}},
      {ops::div, {0, 0}, {inf, nan}},
      {ops::div, {0, 2}, {0.5, -0.0}},
      {ops::div, {-1, 2}, {0.5, 0.25}},
      {rem, {7, 3}, {1, -2}},
      {rem, {-7, 3}, {1, 2}},
      {rem, {0, 0}, {1, nan}},
      {ops::pow, {0, 0}, {nan, 0}},
      {ops::pow, {0, 2}, {0, 0}},
      {ops::pow, {0, -1}, {-inf, nan}},
      {ops::pow, {-1, 2}, {-2, nan}},
      {ops::pow, {1, nan}, {nan, 0}},
      {ops::atan2, {0, 0}, {nan, nan}},
      {ops::atan2, {0, 2}, {0.5, -0.0}},
      {clamp, {-1, 1, 1}, {0, 0, 0}},
      {clamp, {-1, -1, 1}, {0, 0, 0}},
      {clamp, {-1, 0, 1}, {0, 1, 0}},
      {clamp, {-1, 3, 1}, {0, 0, 1}},
      {clamp, {-1, -3, 1}, {1, 0, 0}},
      {clamp, {-1, nan, 1}, {0, 0, 0}},
  };
  for (const Kink& k : table) {
    Arrays x;
    for (const double v : k.x) x.push_back(lax::full(v, Dtype::f32, {}));
    for (std::size_t i = 0; i < x.size(); ++i) {
      Arrays t(x.size());
      t[i] = lax::full(1, Dtype::f32, {});
      const Array tangent = k.row.jvp.fn(x, t, k.params).tangent[0];
      const double got = tangent.defined() ? tangent.item<float>() : 0;
      const std::string where =
          base::cat(k.row.name, "(", text(k.x[0]), k.x.size() > 1 ? ", ..." : "", ") by operand ", i);
      if (std::isnan(k.want[i])) {
        EXPECT_TRUE(std::isnan(got)) << where << " is " << got;
        continue;
      }
      EXPECT_FLOAT_EQ(static_cast<float>(got), static_cast<float>(k.want[i])) << where;
      EXPECT_EQ(std::signbit(got), std::signbit(k.want[i])) << where;
    }
  }
}

TEST(Kinks, AClampedInfiniteTangentDoesNotLeak) {
  const Arrays x = {lax::full(-1, Dtype::f32, {}), lax::full(3, Dtype::f32, {}), lax::full(1, Dtype::f32, {})};
  const Arrays t = {Array(), lax::full(inf, Dtype::f32, {}), Array()};
  EXPECT_EQ(ops::clamp.jvp.fn(x, t, {}).tangent[0].item<float>(), 0);
}
}  // namespace

}  // namespace uni
