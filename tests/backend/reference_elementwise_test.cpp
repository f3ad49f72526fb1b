// Element-wise rows: expected values, all pairs of 8-bit integers, rounding of 16-bit floats.
#include <complex>
#include <functional>
#include <limits>

#include "golden.hpp"
#include "ops/elementwise.hpp"

namespace uni {
namespace {

using namespace backend_test;
using ir::Op;

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

HostArray eval(const Op& op, const HostArrays& in, const ir::Params& params = {}) {
  return run_op(runtime::reference_client(), op, in, params);
}
HostArrays inputs_of(const json& row) {
  HostArrays out;
  if (is_array(row["inputs"])) return {from_golden(row["inputs"])};
  for (const json& value : row["inputs"]) out.push_back(from_golden(value));
  return out;
}
// The value of a row that may hold derivatives beside it.
HostArray value_of(const json& row) {
  const json& e = row["expected"];
  if (is_array(e)) return from_golden(e);
  return from_golden(e.is_array() ? e[0] : e["value"]);
}

// Names of the rows' operations that are ours one to one.
const std::map<std::string, const Op*>& direct_ops() {
  static const std::map<std::string, const Op*> ops = {{"abs", &ops::abs},
                                                       {"sign", &ops::sign},
                                                       {"sqrt", &ops::sqrt},
                                                       {"rsqrt", &ops::rsqrt},
                                                       {"cbrt", &ops::cbrt},
                                                       {"log", &ops::log},
                                                       {"log1p", &ops::log1p},
                                                       {"exp", &ops::exp},
                                                       {"expm1", &ops::expm1},
                                                       {"tanh", &ops::tanh},
                                                       {"sin", &ops::sin},
                                                       {"cos", &ops::cos},
                                                       {"tan", &ops::tan},
                                                       {"arcsin", &ops::asin},
                                                       {"arccos", &ops::acos},
                                                       {"arctan", &ops::atan},
                                                       {"sinh", &ops::sinh},
                                                       {"cosh", &ops::cosh},
                                                       {"arcsinh", &ops::asinh},
                                                       {"arccosh", &ops::acosh},
                                                       {"arctanh", &ops::atanh},
                                                       {"erf", &ops::erf},
                                                       {"erfc", &ops::erfc},
                                                       {"erf_inv", &ops::erf_inv},
                                                       {"floor", &ops::floor},
                                                       {"ceil", &ops::ceil},
                                                       {"round", &ops::round},
                                                       {"rint", &ops::round},
                                                       {"gammaln", &ops::lgamma},
                                                       {"lgamma", &ops::lgamma},
                                                       {"digamma", &ops::digamma},
                                                       {"sigmoid", &ops::logistic},
                                                       {"expit", &ops::logistic},
                                                       {"maximum", &ops::maximum},
                                                       {"minimum", &ops::minimum},
                                                       {"power", &ops::pow},
                                                       {"arctan2", &ops::atan2},
                                                       {"rem", &ops::rem},
                                                       {"lax_rem", &ops::rem},
                                                       {"fmod", &ops::rem},
                                                       {"lax_div", &ops::div},
                                                       {"divide", &ops::div},
                                                       {"nextafter", &ops::nextafter},
                                                       {"clamp", &ops::clamp},
                                                       {"left_shift", &ops::shift_left},
                                                       {"right_shift", &ops::shift_right_arithmetic},
                                                       {"right_logical", &ops::shift_right_logical},
                                                       {"shift_left", &ops::shift_left},
                                                       {"shift_right_logical", &ops::shift_right_logical},
                                                       {"shift_right_arithmetic", &ops::shift_right_arithmetic},
                                                       {"add", &ops::add},
                                                       {"subtract", &ops::sub},
                                                       {"multiply", &ops::mul},
                                                       {"neg", &ops::neg},
                                                       {"invert", &ops::not_}};
  return ops;
}
// Runs the rows of a group whose operation is ours; returns how many ran.
int run_group(const std::string& file, const std::string& group, double ulp) {
  int count = 0;
  for (const json& row : golden_rows(file, group)) {
    const auto op = direct_ops().find(row["op"]);
    if (op == direct_ops().end()) continue;
    const HostArrays in = inputs_of(row);
    const bool twice = row["op"] == "add" && in.size() == 1;  // x + x
    const HostArray want = value_of(row);
    if (row["op"] == "power" && !is_inexact(in[0].dtype)) continue;  // composed of multiplications
    // Here an unsigned number has no sign to fill with.
    if (row["op"] == "shift_right_arithmetic" && is_unsigned(in[0].dtype)) continue;
    const HostArray got = eval(*op->second, twice ? HostArrays{in[0], in[0]} : in);
    // Near the zeros of lgamma the error in ULP of the result has no bound; the rows have denormals flushed to zero.
    const bool gamma = op->second == &ops::lgamma || op->second == &ops::digamma;
    EXPECT_EQ(difference(got, want, ulp,
                         gamma                      ? 1e-6
                         : want.dtype == Dtype::f32 ? 0x1p-126
                                                    : 0),
              "")
        << file << " " << row["name"];
    ++count;
  }
  return count;
}

TEST(ReferenceElementwise, ExpectedValues) {
  EXPECT_GE(run_group("derivatives", "unary", 8), 30);
  EXPECT_GE(run_group("kinks", "unary", 8), 25);
  EXPECT_GE(run_group("kinks", "binary", 8), 6);
  EXPECT_GE(run_group("numerics", "shift", 0), 9);
  EXPECT_GE(run_group("numerics", "int", 0), 2);
  EXPECT_GE(run_group("numerics", "float", 0), 1);
  EXPECT_GE(run_group("numerics", "round", 0), 1);
  EXPECT_GE(run_group("numerics", "zero_sign", 0), 5);
  EXPECT_GE(run_group("numerics", "overflow", 0), 3);
  EXPECT_GE(run_group("casts", "shift", 0), 130);
  EXPECT_GE(run_group("casts", "wrap", 0), 24);
  EXPECT_GE(run_group("random", "erf_inv", 2), 1);
}

// All pairs of 8-bit integers, against arithmetic on wide integers.
void expect_all_pairs(const Op& op, Dtype dtype, const std::function<i64(i64, i64)>& want) {
  const i64 low = dtype == Dtype::i8 ? -128 : 0;
  std::vector<double> x, y, expected;
  for (i64 a = low; a < low + 256; ++a)
    for (i64 b = low; b < low + 256; ++b) {
      x.push_back(static_cast<double>(a));
      y.push_back(static_cast<double>(b));
      expected.push_back(static_cast<double>(want(a, b)));
    }
  EXPECT_EQ(eval(op, {vec(dtype, x), vec(dtype, y)}), vec(dtype, expected)) << op.name << " " << name(dtype);
}
TEST(ReferenceElementwise, AllPairsOfEightBitIntegers) {
  for (const Dtype d : {Dtype::i8, Dtype::u8}) {
    const bool s = d == Dtype::i8;
    expect_all_pairs(ops::add, d, [](i64 a, i64 b) { return a + b; });
    expect_all_pairs(ops::sub, d, [](i64 a, i64 b) { return a - b; });
    expect_all_pairs(ops::mul, d, [](i64 a, i64 b) { return a * b; });
    expect_all_pairs(ops::div, d, [](i64 a, i64 b) { return b == 0 ? -1 : a / b; });
    expect_all_pairs(ops::rem, d, [](i64 a, i64 b) { return b == 0 ? a : a % b; });
    expect_all_pairs(ops::maximum, d, [](i64 a, i64 b) { return std::max(a, b); });
    expect_all_pairs(ops::minimum, d, [](i64 a, i64 b) { return std::min(a, b); });
    expect_all_pairs(ops::xor_, d, [](i64 a, i64 b) { return a ^ b; });
    const auto in_width = [](i64 n) { return n >= 0 && n < 8; };
    expect_all_pairs(ops::shift_left, d, [&](i64 a, i64 n) { return in_width(n) ? a * (i64{1} << n) : 0; });
    expect_all_pairs(ops::shift_right_logical, d, [&](i64 a, i64 n) { return in_width(n) ? (a & 255) >> n : 0; });
    expect_all_pairs(ops::shift_right_arithmetic, d, [&](i64 a, i64 n) {
      return in_width(n) ? a >> n : s && a < 0 ? -1 : 0;
    });
  }
}
TEST(ReferenceElementwise, IntegersAtTheEdges) {
  const std::vector<i64> low = {std::numeric_limits<i64>::min()}, minus_one = {-1};
  const HostArray x = raw(Dtype::i64, {1}, low), y = raw(Dtype::i64, {1}, minus_one);
  EXPECT_EQ(eval(ops::div, {x, y}), x);
  EXPECT_EQ(eval(ops::rem, {x, y}).at<i64>(0), 0);
  EXPECT_EQ(eval(ops::neg, {x}), x);
  EXPECT_EQ(eval(ops::abs, {x}), x);
  EXPECT_EQ(eval(ops::sign, {x}).at<i64>(0), -1);
  EXPECT_EQ(eval(ops::mul, {x, y}), x);
  EXPECT_EQ(eval(ops::integer_pow, {vec(Dtype::i32, {3, -2, 7, 0})}, ops::IntegerPow{40}),
            vec(Dtype::i32, {689956897, 0, -142118463, 0}));
  EXPECT_EQ(eval(ops::integer_pow, {vec(Dtype::u8, {3, 0})}, ops::IntegerPow{0}), vec(Dtype::u8, {1, 1}));
  EXPECT_EQ(eval(ops::integer_pow, {vec(Dtype::f32, {2, -0.0, infinity, nan})}, ops::IntegerPow{-3}).at<float>(1),
            -infinity);
}
TEST(ReferenceElementwise, BoolsAddAsOrAndMultiplyAsAnd) {
  const HostArray x = vec(Dtype::b8, {0, 0, 1, 1}), y = vec(Dtype::b8, {0, 1, 0, 1});
  EXPECT_EQ(eval(ops::add, {x, y}), vec(Dtype::b8, {0, 1, 1, 1}));
  EXPECT_EQ(eval(ops::mul, {x, y}), vec(Dtype::b8, {0, 0, 0, 1}));
  EXPECT_EQ(eval(ops::xor_, {x, y}), vec(Dtype::b8, {0, 1, 1, 0}));
  EXPECT_EQ(eval(ops::not_, {x}), vec(Dtype::b8, {1, 1, 0, 0}));
  EXPECT_EQ(eval(ops::maximum, {x, y}), vec(Dtype::b8, {0, 1, 1, 1}));
}

TEST(ReferenceElementwise, ComparisonsWithNan) {
  using Direction = ops::Compare::Direction;
  const HostArray x = vec(Dtype::f32, {1, nan, 2, -0.0}), y = vec(Dtype::f32, {2, 1, 2, 0});
  const std::map<Direction, std::vector<double>> want = {{Direction::eq, {0, 0, 1, 1}}, {Direction::ne, {1, 1, 0, 0}},
                                                         {Direction::lt, {1, 0, 0, 0}}, {Direction::le, {1, 0, 1, 1}},
                                                         {Direction::gt, {0, 0, 0, 0}}, {Direction::ge, {0, 0, 1, 1}}};
  for (const auto& [direction, expected] : want)
    EXPECT_EQ(eval(ops::compare, {x, y}, ops::Compare{direction}), vec(Dtype::b8, expected));
  const std::vector<std::complex<float>> z = {{1, 2}, {1, 3}};
  const HostArray a = raw(Dtype::c64, {2}, z), b = raw(Dtype::c64, {2}, std::vector<std::complex<float>>(2, {1, 2}));
  EXPECT_EQ(eval(ops::compare, {a, b}, ops::Compare{Direction::eq}), vec(Dtype::b8, {1, 0}));
  const HostArray large = raw(Dtype::u64, {1}, std::vector<std::uint64_t>{~std::uint64_t{0}});
  EXPECT_EQ(eval(ops::compare, {large, vec(Dtype::u64, {1})}, ops::Compare{Direction::gt}), vec(Dtype::b8, {1}));
}
TEST(ReferenceElementwise, SelectMovesBitsOfEveryDtype) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    const auto bytes = static_cast<std::size_t>(2 * itemsize(dtype));
    HostArray x{dtype, {2}, std::vector<std::byte>(bytes, std::byte{1})};
    HostArray y{dtype, {2}, std::vector<std::byte>(bytes, std::byte{0})};
    HostArray want = x;
    std::fill(want.bytes.begin() + itemsize(dtype), want.bytes.end(), std::byte{0});
    EXPECT_EQ(eval(ops::select, {vec(Dtype::b8, {1, 0}), x, y}), want) << name(dtype);
    EXPECT_EQ(eval(ops::stop_gradient, {x}), x) << name(dtype);
  }
}
TEST(ReferenceElementwise, ClampIsMinimumOfMaximum) {
  const HostArray low = vec(Dtype::f32, {0.0, nan, 0, 3, 0}), x = vec(Dtype::f32, {-0.0, 1, nan, 2, 5}),
                  high = vec(Dtype::f32, {1, 2, 1, 1, -0.0});
  EXPECT_EQ(difference(eval(ops::clamp, {low, x, high}), vec(Dtype::f32, {0.0, nan, nan, 1, -0.0})), "");
  EXPECT_EQ(eval(ops::clamp, {vec(Dtype::u8, {3}), vec(Dtype::u8, {9}), vec(Dtype::u8, {7})}), vec(Dtype::u8, {7}));
}

std::vector<double> all_halves(Dtype dtype) {
  std::vector<double> out;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) out.push_back(ir::Scalar{dtype, bits, 0}.to_double());
  return out;
}
// One operation is rounded once: the result of double arithmetic, rounded to the 16-bit type.
TEST(ReferenceElementwise, SixteenBitFloatsRoundOnce) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const std::vector<double> x = all_halves(dtype);
    std::vector<double> y, sums, products, roots;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y.push_back(x[(i * 40503u + 12345u) % 65536u]);
      sums.push_back(x[i] + y[i]);
      products.push_back(x[i] * y[i]);
      roots.push_back(std::sqrt(x[i]));
    }
    EXPECT_EQ(difference(eval(ops::add, {vec(dtype, x), vec(dtype, y)}), vec(dtype, sums)), "") << name(dtype);
    EXPECT_EQ(difference(eval(ops::mul, {vec(dtype, x), vec(dtype, y)}), vec(dtype, products)), "") << name(dtype);
    EXPECT_EQ(difference(eval(ops::sqrt, {vec(dtype, x)}), vec(dtype, roots)), "") << name(dtype);
    EXPECT_EQ(difference(eval(ops::neg, {eval(ops::neg, {vec(dtype, x)})}), vec(dtype, x)), "") << name(dtype);
  }
}
TEST(ReferenceElementwise, FmaRoundsOnce) {
  // The product lies halfway between two numbers; the addend, far below it, decides.
  const HostArray x = vec(Dtype::bf16, {1.5, 1.5, 1.5, -1.5, -1.5}), y = vec(Dtype::bf16, std::vector(5, 1.0078125));
  const HostArray z = vec(Dtype::bf16, {0x1p-100, -0x1p-100, 0, 0x1p-100, -0x1p-100});
  EXPECT_EQ(values(eval(ops::fma, {x, y, z})),
            (std::vector<double>{1.515625, 1.5078125, 1.515625, -1.5078125, -1.515625}));
  const HostArray big = vec(Dtype::f32, {0x1p12 + 1}), one = vec(Dtype::f32, {-0x1p24});
  EXPECT_EQ(eval(ops::fma, {big, big, one}).at<float>(0), 0x1p13f + 1);
  EXPECT_EQ(eval(ops::fma, {vec(Dtype::f16, {300}), vec(Dtype::f16, {300}), vec(Dtype::f16, {-60000})}),
            vec(Dtype::f16, {30000}));
}
TEST(ReferenceElementwise, NextafterStepsInTheOwnType) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const HostArray zero = vec(dtype, {0, -0.0}), up = vec(dtype, {1, -1});
    EXPECT_EQ(eval(ops::nextafter, {zero, up}), raw(dtype, {2}, std::vector<std::uint16_t>{1, 0x8001}));
  }
  EXPECT_EQ(eval(ops::nextafter, {vec(Dtype::f64, {1}), vec(Dtype::f64, {2})}).at<double>(0), std::nextafter(1.0, 2.0));
  EXPECT_EQ(eval(ops::nextafter, {vec(Dtype::f32, {infinity}), vec(Dtype::f32, {0})}).at<float>(0),
            std::numeric_limits<float>::max());
}

TEST(ReferenceElementwise, DenormalsAreKept) {
  EXPECT_EQ(eval(ops::mul, {vec(Dtype::f32, {1e-30}), vec(Dtype::f32, {1e-10})}).at<float>(0), 1e-30f * 1e-10f);
  EXPECT_GT(eval(ops::exp, {vec(Dtype::f32, {-100})}).at<float>(0), 0);
  EXPECT_GT(eval(ops::logistic, {vec(Dtype::f32, {-100})}).at<float>(0), 0);
}

TEST(ReferenceElementwise, ErfInvInvertsErf) {
  std::vector<double> x;
  for (int i = -999; i <= 999; ++i) x.push_back(i / 1000.0);
  for (int k = 4; k < 50; ++k) x.push_back(1 - std::ldexp(1.0, -k));
  for (int k = 10; k < 1000; k += 50) x.push_back(std::ldexp(1.0, -k));
  const std::vector<double> y = values(eval(ops::erf_inv, {vec(Dtype::f64, x)}));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double v = y[i], a = std::fabs(x[i]);
    // The step that Newton's method would still take, in long double.
    const long double error = a < 0.5L ? std::erf(std::fabs(v)) - a : (1 - a) - std::erfc(std::fabs(v));
    const long double step = error / (1.128379167095512573896L * std::exp(-v * v));
    EXPECT_LE(std::fabs(step), 4e-16L * std::fabs(v)) << x[i];
  }
  EXPECT_EQ(difference(eval(ops::erf_inv, {vec(Dtype::f64, {1, -1, 1.5, 0, -0.0, nan})}),
                       vec(Dtype::f64, {infinity, -infinity, nan, 0, -0.0, nan})),
            "");
}
TEST(ReferenceElementwise, DigammaIsTheDerivativeOfLgamma) {
  const std::vector<double> x = {0.1, 0.5, 1, 1.5, 2, 3.25, 9.75, 10, 40, 1e6, -0.25, -2.5};
  const std::vector<double> got = values(eval(ops::digamma, {vec(Dtype::f64, x)}));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double h = 1e-5L * std::max(1.0L, std::fabs(static_cast<long double>(x[i])));
    const auto f = [](long double v) { return std::lgamma(v); };
    const long double v = x[i];
    const long double slope = (8 * (f(v + h) - f(v - h)) - (f(v + 2 * h) - f(v - 2 * h))) / (12 * h);
    EXPECT_NEAR(got[i], static_cast<double>(slope), 1e-11 * std::max(1.0, std::fabs(got[i]))) << x[i];
  }
  // Closed forms: -euler_gamma and -euler_gamma - 2 log 2.
  EXPECT_NEAR(got[2], -0.57721566490153286, 1e-15);
  EXPECT_NEAR(got[1], -1.9635100260214235, 1e-15);
  EXPECT_TRUE(std::isnan(eval(ops::digamma, {vec(Dtype::f32, {0})}).at<float>(0)));
}

TEST(ReferenceElementwise, ComplexFunctions) {
  using Z = std::complex<double>;
  const std::vector<Z> z = {{0.3, -0.7}, {1e-9, 1e-9}, {-3, 0.5}, {20, 3}};
  const HostArray x = raw(Dtype::c128, {4}, z);
  const auto expect = [&](const Op& op, const std::function<Z(Z)>& f) {
    const HostArray got = eval(op, {x});
    for (i64 i = 0; i < 4; ++i) {
      const Z want = f(z[static_cast<std::size_t>(i)]);
      EXPECT_LE(std::abs(got.at<Z>(i) - want), 1e-14 * std::abs(want)) << op.name << " " << i;
    }
  };
  expect(ops::exp, [](Z v) { return std::exp(v); });
  expect(ops::tanh, [](Z v) { return std::tanh(v); });
  expect(ops::sign, [](Z v) { return v / std::abs(v); });
  expect(ops::log1p, [](Z v) { return std::abs(v) < 1e-6 ? v - v * v / 2.0 : std::log(1.0 + v); });
  expect(ops::expm1, [](Z v) { return std::abs(v) < 1e-6 ? v + v * v / 2.0 : std::exp(v) - 1.0; });
  expect(ops::conj, [](Z v) { return std::conj(v); });
  EXPECT_EQ(eval(ops::abs, {raw(Dtype::c64, {1}, std::vector<std::complex<float>>{{3, 4}})}), vec(Dtype::f32, {5}));
  EXPECT_EQ(eval(ops::imag, {x}).at<double>(2), 0.5);
  EXPECT_EQ(eval(ops::complex, {eval(ops::real, {x}), eval(ops::imag, {x})}), x);
  const HostArray zero = raw(Dtype::c64, {2}, std::vector<std::complex<float>>(2)),
                  powers = raw(Dtype::c64, {2}, std::vector<std::complex<float>>{{0, 0}, {2, 0}});
  EXPECT_EQ(eval(ops::pow, {zero, powers}), raw(Dtype::c64, {2}, std::vector<std::complex<float>>{{1, 0}, {0, 0}}));
  // 1e30 squared does not fit f32.
  const HostArray large = eval(ops::log1p, {raw(Dtype::c64, {1}, std::vector<std::complex<float>>{{1e30f, 0}})});
  EXPECT_NEAR(large.at<float>(0), 69.0776f, 1e-3f);
}

}  // namespace
}  // namespace uni
