// Element types of arrays, and the storage types of the two 16-bit floats.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace uni {
using i64 = std::int64_t;

enum class Dtype : std::uint8_t { b8, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128, key };
inline constexpr int dtype_count = 16;

// Number of bytes of one element; a random key takes 8.
int itemsize(Dtype dtype);
// The short name that types are printed with: "f32", "bool", "key".
std::string_view name(Dtype dtype);
// The dtype of that short name; throws DtypeError for an unknown one.
Dtype dtype_of(std::string_view name);

bool is_bool(Dtype dtype);
bool is_signed(Dtype dtype);
bool is_unsigned(Dtype dtype);
bool is_integer(Dtype dtype);  // signed or unsigned, not bool
bool is_float(Dtype dtype);    // f16, bf16, f32, f64
bool is_complex(Dtype dtype);
bool is_inexact(Dtype dtype);  // float or complex
// The float type of the parts of a complex type; any other type unchanged.
Dtype real_part(Dtype dtype);

// IEEE 754 half precision and bfloat16 as storage: computing happens in float, rounding is to nearest even.
struct f16 {
  std::uint16_t bits = 0;
  f16() = default;
  explicit f16(float value);
  operator float() const;
};
struct bf16 {
  std::uint16_t bits = 0;
  bf16() = default;
  explicit bf16(float value) {
    std::uint32_t u;
    std::memcpy(&u, &value, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<std::uint16_t>((u >> 16) | 0x40u);
      return;
    }
    bits = static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  operator float() const {
    const std::uint32_t u = static_cast<std::uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &u, 4);
    return f;
  }
};
template <class R>
struct Complex {  // plain pair; std::complex is not used in public headers, it costs compile time
  R re = 0, im = 0;
};

}  // namespace uni
