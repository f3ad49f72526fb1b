#include <unisono/dtype.hpp>

#include <bit>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni {

namespace {
struct Info {
  std::string_view name;
  int size;
};
constexpr Info infos[dtype_count] = {{"bool", 1}, {"i8", 1},  {"i16", 2},   {"i32", 4}, {"i64", 8},  {"u8", 1},
                                     {"u16", 2},  {"u32", 4}, {"u64", 8},   {"f16", 2}, {"bf16", 2}, {"f32", 4},
                                     {"f64", 8},  {"c64", 8}, {"c128", 16}, {"key", 8}};
}  // namespace

int itemsize(Dtype dtype) { return infos[static_cast<int>(dtype)].size; }
std::string_view name(Dtype dtype) { return infos[static_cast<int>(dtype)].name; }

Dtype dtype_of(std::string_view text) {
  std::vector<std::string> names;
  for (int i = 0; i < dtype_count; ++i) {
    if (infos[i].name == text) return static_cast<Dtype>(i);
    names.emplace_back(infos[i].name);
  }
  for (std::string_view reserved : {"f8_e4m3", "f8_e5m2", "i4", "u4"})
    if (text == reserved) throw DtypeError(base::cat("dtype \"", text, "\" is reserved and not available"));
  throw DtypeError(base::cat("unknown dtype \"", text, "\"", base::did_you_mean(text, names)));
}

bool is_bool(Dtype d) { return d == Dtype::b8; }
bool is_signed(Dtype d) { return d >= Dtype::i8 && d <= Dtype::i64; }
bool is_unsigned(Dtype d) { return d >= Dtype::u8 && d <= Dtype::u64; }
bool is_integer(Dtype d) { return is_signed(d) || is_unsigned(d); }
bool is_float(Dtype d) { return d >= Dtype::f16 && d <= Dtype::f64; }
bool is_complex(Dtype d) { return d == Dtype::c64 || d == Dtype::c128; }
bool is_inexact(Dtype d) { return is_float(d) || is_complex(d); }
Dtype real_part(Dtype d) { return d == Dtype::c64 ? Dtype::f32 : d == Dtype::c128 ? Dtype::f64 : d; }

f16::f16(float value) {
  const std::uint32_t u = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    bits = static_cast<std::uint16_t>(sign | 0x7e00u);
  } else if (magnitude >= 0x47800000u) {  // 65536 and more
    bits = static_cast<std::uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  } else {  // rounding may carry into the exponent, up to infinity
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
  }
}

f16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude < 0x400u) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

}  // namespace uni
