// Values of any dtype as C++ stores them, and a hash to draw them by: shared by the tests.
#pragma once
#include <cstdint>

#include <unisono/dtype.hpp>

namespace uni {

// Calls f with a value of the C++ type that stores real elements of the dtype.
template <class F>
auto with_storage(Dtype d, const F& f) {
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

// SplitMix64's step (Steele, Lea, Flood 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace uni
