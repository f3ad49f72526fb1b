#include "backend/codegen/math.hpp"

#include <initializer_list>
#include <limits>

namespace uni::codegen {

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double log2_high = 0.693359375, log2_low = -2.12194440e-4;

// Coefficients from the highest power to the lowest.
Val polynomial(const Val& x, std::initializer_list<double> coefficients) {
  auto it = coefficients.begin();
  Val p = constant(*it++, x);
  for (; it != coefficients.end(); ++it) p = fma(p, x, *it);
  return p;
}
// 2^n of 32-bit integers n in [-126, 127].
Val power_of_two(const Val& n) {
  return bitcast(shift_left(n + integer(127, n, Kind::i32), integer(23, n, Kind::i32)), Kind::f32);
}
// y * 2^n for n in [-252, 254], rounded once more where the result is subnormal.
Val scaled(const Val& y, const Val& n) {
  const Val half = shift_right(n, integer(1, n, Kind::i32), true);
  return y * power_of_two(half) * power_of_two(n - half);
}
// NaN passes.
Val limited(const Val& x, double low, double high) {
  const Val c = select(compare("ogt", x, constant(high, x)), constant(high, x), x);
  return select(compare("olt", c, constant(low, x)), constant(low, x), c);
}

// x = n log 2 + r with |r| <= log(2) / 2, for |x| < 2^20; the first part of log 2 has so few bits that its product with
// n is exact (Cody and Waite 1980).
struct ExpParts {
  Val n, r;
};
ExpParts exp_parts(const Val& x) {
  constexpr double shift = 12582912.0;  // 1.5 * 2^23: adding it rounds to an integer
  const Val t = fma(x, 1.44269504088896341, constant(shift, x));
  const Val k = t - shift;
  const Val r = fma(k, -log2_low, fma(k, -log2_high, x));
  return {bitcast(t, Kind::i32) - bitcast(constant(shift, x), Kind::i32), r};
}
// exp(r) - 1 for |r| <= log(2) / 2: minimax polynomial of degree 7.
Val expm1_near(const Val& r) {
  const Val p = polynomial(
      r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return fma(p, r * r, r);
}
}  // namespace

// Outside of [-104, 89] the result has reached 0 or infinity.
Val exp_f32(const Val& x) {
  const ExpParts e = exp_parts(limited(x, -104, 89));
  return scaled(expm1_near(e.r) + 1.0, e.n);
}
Val expm1_f32(const Val& x) {
  const ExpParts e = exp_parts(limited(x, -20, 89));
  const Val most = integer(126, e.n, Kind::i32);
  const Val n = select(compare("sgt", e.n, most), most, e.n);
  const Val one_less = 1.0 - power_of_two(-n);
  const Val y = scaled(expm1_near(e.r) + one_less, e.n);
  return select(compare("oeq", x, constant(0, x)), x, y);
}

// log x = e log 2 + log m with m in [sqrt(1/2), sqrt(2)): minimax polynomial in m - 1.
Val log_f32(const Val& x) {
  const Val subnormal = compare("olt", x, constant(std::numeric_limits<float>::min(), x));
  const Val b = bitcast(select(subnormal, x * 8388608.0, x), Kind::i32);
  const Val m = bitcast((b & integer(0x007fffff, b, Kind::i32)) | integer(0x3f000000, b, Kind::i32), Kind::f32);
  const Val low = compare("olt", m, constant(0.707106781186547524, x));
  const auto where = [&](const Val& c, i64 yes) {
    return select(c, integer(yes, b, Kind::i32), integer(0, b, Kind::i32));
  };
  const Val e = shift_right(b, integer(23, b, Kind::i32), false) - integer(126, b, Kind::i32) - where(subnormal, 23) -
                where(low, 1);
  const Val f = select(low, m + m, m) - 1.0, k = cast("sitofp", e, Kind::f32), z = f * f;
  const Val p = polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                               -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  const Val y = fma(z, -0.5, fma(k, log2_low, p * f * z));
  const Val inside = fma(k, log2_high, f + y);
  const Val finite = select(compare("oeq", x, constant(0, x)), constant(-infinity, x), inside);
  const Val real = select(compare("oeq", x, constant(infinity, x)), x, finite);
  return select(compare("oge", x, constant(0, x)), real, constant(nan, x));
}
// The error of u = 1 + x is undone by the factor x / (u - 1).
Val log1p_f32(const Val& x) {
  const Val u = x + 1.0, d = u - 1.0;
  const Val none = compare("oeq", d, constant(0, x));
  const Val y = log_f32(u) * (x / select(none, constant(1, x), d));
  return select(compare("oeq", u, constant(infinity, x)), u, select(none, x, y));
}

// A polynomial near 0, else 1 - 2 / (exp(2 |x|) + 1).
Val tanh_f32(const Val& x) {
  const Val a = absolute(x), z = a * a;
  const Val p =
      polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  const Val near = fma(p * z, a, a);
  const Val far = 1.0 - 2.0 / (exp_f32(a + a) + 1.0);
  return copysign(select(compare("olt", a, constant(0.625, x)), near, far), x);
}
// exp(-x) would overflow where the result is still above 0.
Val logistic_f32(const Val& x) {
  const Val e = exp_f32(-absolute(x));
  return select(compare("olt", x, constant(0, x)), e, constant(1, x)) / (e + 1.0);
}

// Minimax polynomials: erf(x) / x - 1 in x^2 for |x| < 1, log(1 - erf(x)) for 1 <= x < 4; from there on erf is 1.
Val erf_f32(const Val& x) {
  const Val a = absolute(x);
  const Val p = polynomial(a * a, {7.85383975579e-5, -0.000801018686244, 0.00518832688428, -0.0268538114939,
                                   0.112835851377, -0.376126258234, 0.12837916573});
  const Val near = fma(a, p, a);
  const Val c = limited(a, 0, 4);
  const Val q = polynomial(c, {0.00018557289149612188, -0.002939596539363265, 0.021805275231599808, -0.1030372828245163,
                               -0.638225793838501, -1.1270400285720825, -0.00035373331047594547});
  const Val far = 1.0 - exp_f32(q);
  const Val y = select(compare("olt", a, constant(1, x)), near, far);
  return copysign(y, x);
}
// M. Giles, Approximating the erfinv function, 2012.
Val erf_inv_f32(const Val& x) {
  const Val w = -log1p_f32(-(x * x));
  const Val near = compare("olt", w, constant(5, x));
  const Val root = x.writer->intrinsic("sqrt", Kind::f32, {w});
  const Val t = select(near, w - 2.5, root - 3.0);
  constexpr double a[9] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                           -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double b[9] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                           -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const auto pick = [&](int i) { return select(near, constant(a[i], x), constant(b[i], x)); };
  Val p = pick(0);
  for (int i = 1; i < 9; ++i) p = fma(p, t, pick(i));
  const Val edge = compare("oeq", absolute(x), constant(1, x));
  return select(edge, x * infinity, p * x);
}

namespace {
// x = k pi/2 + r with |r| <= pi/4 (pi/2 in three parts), then sin or cos of r by the quarter. Minimax polynomials.
Val wave(const Val& x, bool cosine) {
  constexpr double shift = 12582912.0;
  const Val t = fma(x, 0.636619772367581343, constant(shift, x));
  const Val k = t - shift;
  const Val r = fma(k, 1.7151245100058819e-15, fma(k, 4.371138828673793e-08, fma(k, -1.5707963705062866, x)));
  Val quarter = bitcast(t, Kind::i32);
  if (cosine) quarter = quarter + integer(1, quarter, Kind::i32);
  const Val z = r * r;
  const Val s = fma(z * r, polynomial(z, {-0.00019517297914717346, 0.008332177996635437, -0.16666655242443085}), r);
  const Val c = fma(z * z, polynomial(z, {2.4438451873720624e-05, -0.001388736767694354, 0.04166664555668831}),
                    fma(z, -0.5, constant(1, x)));
  const Val one = integer(1, quarter, Kind::i32);
  const Val odd = compare("ne", quarter & one, integer(0, quarter, Kind::i32));
  const Val sign = shift_left(quarter & integer(2, quarter, Kind::i32), integer(30, quarter, Kind::i32));
  return bitcast(bitcast(select(odd, c, s), Kind::i32) ^ sign, Kind::f32);
}
}  // namespace
Val sin_f32(const Val& x) { return select(compare("oeq", x, constant(0, x)), x, wave(x, false)); }
Val cos_f32(const Val& x) { return wave(x, true); }

}  // namespace uni::codegen
