// The float functions of the native backend: largest errors over a sample of all floats, and the same bits on every
// instruction set that this processor has.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "backend/native/f32_loops.hpp"

namespace uni::native {
namespace {

constexpr i64 count = 1 << 20;
// Floats of all exponents and signs, NaN and infinities among them.
const std::vector<float>& sample() {
  static const auto* const all = [] {
    auto* out = new std::vector<float>;
    for (i64 i = 0; i < count; ++i) out->push_back(std::bit_cast<float>(static_cast<std::uint32_t>(i * 4099)));
    const float inf = std::numeric_limits<float>::infinity();
    const float edges[] = {0.0f, -0.0f, inf, -inf, 88.72284f, 88.7229f, -103.97f, -104.0f, -87.4f, 1.0f, -1.0f};
    std::copy(std::begin(edges), std::end(edges), out->begin());
    return out;
  }();
  return *all;
}
std::vector<float> apply(FlatFn loop, int shift = 0) {
  std::vector<float> second = sample(), out(sample().size());
  std::rotate(second.begin(), second.begin() + shift, second.end());
  const std::byte* in[] = {reinterpret_cast<const std::byte*>(sample().data()),
                           reinterpret_cast<const std::byte*>(second.data())};
  loop({reinterpret_cast<std::byte*>(out.data()), in, count, ir::Params()});
  return out;
}

// In units of the last place of the float next to `want`.
double error(float got, double want) {
  const float nearest = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (got == nearest) return 0;
  if (std::isinf(nearest) || std::isinf(got)) return 1e30;
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct Function {
  const char* name;
  FlatFn F32Loops::*loop;
  std::function<double(double)> exact;
  double bound;
};
const std::vector<Function>& functions() {
  static const auto* const all =
      new std::vector<Function>{{"exp", &F32Loops::exp, [](double x) { return std::exp(x); }, 1.0},
                                {"expm1", &F32Loops::expm1, [](double x) { return std::expm1(x); }, 1.7},
                                {"log", &F32Loops::log, [](double x) { return std::log(x); }, 0.9},
                                {"log1p", &F32Loops::log1p, [](double x) { return std::log1p(x); }, 2.5},
                                {"tanh", &F32Loops::tanh, [](double x) { return std::tanh(x); }, 1.5},
                                {"sqrt", &F32Loops::sqrt, [](double x) { return std::sqrt(x); }, 0.5},
                                {"rsqrt", &F32Loops::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5},
                                {"sign", &F32Loops::sign, [](double x) { return x > 0   ? 1
                                                                                : x < 0 ? -1
                                                                                        : x; }, 0},
                                {"floor", &F32Loops::floor, [](double x) { return std::floor(x); }, 0},
                                {"ceil", &F32Loops::ceil, [](double x) { return std::ceil(x); }, 0},
                                {"round", &F32Loops::round, [](double x) { return std::nearbyint(x); }, 0}};
  return *all;
}

TEST(F32Loops, ErrorsAreBounded) {
  for (const Function& f : functions()) {
    const std::vector<float> got = apply(f32_loops_base.*f.loop);
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      if (const double e = error(got[i], f.exact(sample()[i])); e > worst) worst = e, at = sample()[i];
    EXPECT_LE(worst, f.bound) << f.name << " at " << at;
  }
}

TEST(F32Loops, ZerosKeepTheirSign) {
  for (const Function& f : functions())
    for (const float zero : {0.0f, -0.0f}) {
      if (std::string(f.name) == "exp" || std::string(f.name) == "log" || std::string(f.name) == "rsqrt") continue;
      float out = 1;
      const std::byte* in[] = {reinterpret_cast<const std::byte*>(&zero)};
      (f32_loops_base.*f.loop)({reinterpret_cast<std::byte*>(&out), in, 1, ir::Params()});
      EXPECT_EQ(out, 0.0f) << f.name;
      EXPECT_EQ(std::signbit(out), std::signbit(zero)) << f.name;
    }
}

// NaNs are equal whatever their bits.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  });
}
TEST(F32Loops, EveryInstructionSetGivesTheSameBits) {
  std::vector<const F32Loops*> sets;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(&f32_loops_avx2);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    sets.push_back(&f32_loops_avx512);
  for (const F32Loops* set : sets) {
    for (const Function& f : functions())
      EXPECT_TRUE(same(apply(set->*f.loop), apply(f32_loops_base.*f.loop))) << f.name;
    for (FlatFn F32Loops::*loop :
         {&F32Loops::logistic, &F32Loops::square, &F32Loops::cube, &F32Loops::abs, &F32Loops::neg})
      EXPECT_TRUE(same(apply(set->*loop), apply(f32_loops_base.*loop)));
    for (FlatFn F32Loops::*loop :
         {&F32Loops::add, &F32Loops::sub, &F32Loops::mul, &F32Loops::div, &F32Loops::maximum, &F32Loops::minimum})
      EXPECT_TRUE(same(apply(set->*loop, 12345), apply(f32_loops_base.*loop, 12345)));
  }
}

}  // namespace
}  // namespace uni::native
