#include "values.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace uni::random_programs {

namespace {
template <class T>
T rounded(long double x) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
}  // namespace

Number Block::get(i64 i) const {
  return with_storage(dtype, [&]<class T>(T) {
    const auto part = [&](std::size_t k) {
      T x;
      std::memcpy(&x, bytes.data() + i * itemsize(dtype) + k * sizeof(T), sizeof(T));
      return static_cast<long double>(x);
    };
    return Number(part(0), is_complex(dtype) ? part(1) : 0);
  });
}
void Block::set(i64 i, Number value) {
  with_storage(dtype, [&]<class T>(T) {
    const auto put = [&](std::size_t k, long double part) {
      const T x = rounded<T>(part);
      std::memcpy(bytes.data() + i * itemsize(dtype) + k * sizeof(T), &x, sizeof(T));
    };
    put(0, value.real());
    if (is_complex(dtype)) put(1, value.imag());
  });
}

long double roundoff(Dtype dtype) {
  switch (real_part(dtype)) {
    case Dtype::f16:
      return 0x1p-11L;
    case Dtype::bf16:
      return 0x1p-8L;
    case Dtype::f32:
      return 0x1p-24L;
    default:
      return 0x1p-53L;
  }
}
long double smallest(Dtype dtype) {
  switch (real_part(dtype)) {
    case Dtype::f16:
      return 0x1p-24L;
    case Dtype::bf16:
      return 0x1p-133L;
    case Dtype::f32:
      return 0x1p-149L;
    default:
      return 0x1p-1074L;
  }
}
long double largest(Dtype dtype) {
  switch (real_part(dtype)) {
    case Dtype::f16:
      return 65504;
    case Dtype::bf16:
      return 0x1.fep127L;
    case Dtype::f32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

namespace {
// What an array's elements are drawn from.
struct Source {
  double low = -2, high = 2;
  bool coarse = false;    // halves only, so that there are ties
  bool powers = false;    // sizes of all orders
  bool specials = false;  // some infinite, NaN, subnormal, zero of either sign, the largest

  long double real(Random& random, Dtype dtype) const {
    if (specials && random.chance(25)) {
      const long double infinity = std::numeric_limits<long double>::infinity(), most = largest(dtype);
      const long double all[] = {
          0,    -0.0L, infinity,        -infinity,        std::numeric_limits<long double>::quiet_NaN(),
          most, -most, smallest(dtype), -smallest(dtype), 1,
          -1};
      return random.of(all);
    }
    const double x = low + (high - low) * random.unit();
    if (powers) return std::copysign(std::exp2(std::fabs(x)) / 1e6, x);
    return coarse ? std::nearbyint(2 * x) / 2 : x;
  }
  long double integer(Random& random, Dtype dtype) const {
    const long double most = std::exp2l(static_cast<long double>(8 * itemsize(dtype) - is_signed(dtype))) - 1;
    if (specials && random.chance(25)) {
      const long double all[] = {0, most, is_signed(dtype) ? -most - 1 : 0, 1, most - 1};
      return random.of(all);
    }
    const long double x = std::floor(low + (high - low) * random.unit());
    return is_unsigned(dtype) ? std::fabs(x) : x;
  }
};
}  // namespace

Block drawn(Random& random, Dtype dtype, const Dims& shape) {
  constexpr Source sources[] = {{-2, 2},
                                {-2, 2},
                                {0.1, 0.9},
                                {1, 3},
                                {-1, 1},
                                {-20, 20},
                                {-100, 100},
                                {-1e-3, 1e-3},
                                {-4, 4, true},
                                {-20, 20, true},
                                {-30, 30, false, true},
                                {-3, 3, false, false, true}};
  const Source source = random.of(sources);
  Block out(dtype, shape);
  for (i64 i = 0; i < out.count(); ++i) {
    if (dtype == Dtype::key) {
      out.set(i, static_cast<long double>(random.bits()));
    } else if (is_bool(dtype)) {
      out.set(i, static_cast<long double>(random.bits() & 1));
    } else if (is_integer(dtype)) {
      out.set(i, source.integer(random, dtype));
    } else {
      const long double re = source.real(random, dtype);
      out.set(i, is_complex(dtype) ? Number(re, source.real(random, dtype)) : Number(re));
    }
  }
  return out;
}

}  // namespace uni::random_programs
