#include "values.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace uni::random_programs {

namespace {
// Calls f with a value of the C++ type that stores real elements of the dtype.
template <class F>
auto with_type(Dtype d, const F& f) {
  switch (d) {
    case Dtype::b8:
    case Dtype::u8:
      return f(std::uint8_t{});
    case Dtype::i8:
      return f(std::int8_t{});
    case Dtype::i16:
      return f(std::int16_t{});
    case Dtype::i32:
      return f(std::int32_t{});
    case Dtype::i64:
      return f(std::int64_t{});
    case Dtype::u16:
      return f(std::uint16_t{});
    case Dtype::u32:
      return f(std::uint32_t{});
    case Dtype::u64:
    case Dtype::key:
      return f(std::uint64_t{});
    case Dtype::f16:
      return f(f16{});
    case Dtype::bf16:
      return f(bf16{});
    case Dtype::f32:
    case Dtype::c64:
      return f(float{});
    case Dtype::f64:
    case Dtype::c128:
      break;
  }
  return f(double{});
}
template <class T>
T rounded(long double x) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
}  // namespace

Number Block::get(i64 i) const {
  return with_type(dtype, [&]<class T>(T) {
    const auto part = [&](std::size_t k) {
      T x;
      std::memcpy(&x, bytes.data() + i * itemsize(dtype) + k * sizeof(T), sizeof(T));
      return static_cast<long double>(x);
    };
    return Number(part(0), is_complex(dtype) ? part(1) : 0);
  });
}
void Block::set(i64 i, Number value) {
  with_type(dtype, [&]<class T>(T) {
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

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Block drawn(Random& random, Dtype dtype, const Dims& shape) {
  struct Range {
    double low, high;
  };
  constexpr Range ranges[] = {{-2, 2}, {-2, 2}, {0.1, 0.9}, {1, 3}, {-1, 1}, {-20, 20}, {-100, 100}, {-1e-3, 1e-3}};
  Block out(dtype, shape);
  const Range range = random.of(ranges);
  const bool coarse = random.chance(20);
  const auto real = [&] {
    const double x = range.low + (range.high - range.low) * random.unit();
    return static_cast<long double>(coarse ? std::nearbyint(2 * x) / 2 : x);
  };
  for (i64 i = 0; i < out.count(); ++i) {
    if (dtype == Dtype::key) {
      out.set(i, static_cast<long double>(random.bits()));
    } else if (is_bool(dtype)) {
      out.set(i, static_cast<long double>(random.bits() & 1));
    } else if (is_integer(dtype)) {
      const long double x = std::floor(random.chance(5) ? 40 * real() : real());
      const long double most = itemsize(dtype) == 1 ? 127 : 1e9L;
      out.set(i, std::fmax(std::fmin(is_unsigned(dtype) ? std::fabs(x) : x, most), -most));
    } else {
      const long double re = real();
      out.set(i, is_complex(dtype) ? Number(re, real()) : Number(re));
    }
  }
  return out;
}

}  // namespace uni::random_programs
