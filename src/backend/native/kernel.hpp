// What kernels share: element types, tables from operation to kernel.
#pragma once
#include <cstring>
#include <span>
#include <vector>

#include "ir/program.hpp"
#include <unisono/dtype.hpp>

namespace uni::native {

// Flat loops over contiguous elements. `params` are the equation's.
struct FlatArgs {
  std::byte* out;
  const std::byte* const* in;
  i64 count;
  const ir::Params& params;
};
using FlatFn = void (*)(const FlatArgs&);
// The kernel of a pointwise operation for these operand and result types; null when it is none.
FlatFn pointwise_kernel(const ir::Op& op, const ir::Params& params, std::span<const ir::Type> in, const ir::Type& out);

// An operand or result on one device.
struct View {
  const ir::Type* type = nullptr;
  std::byte* data = nullptr;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  const Dims& shape() const { return type->shape; }
  i64 count() const { return type->count(); }
};
struct KernelArgs {
  std::span<const View> in, out;
  const ir::Params& params;
};
// Work that is no flat loop. It may use parallel_for.
using KernelFn = void (*)(const KernelArgs&);
struct KernelEntry {
  const ir::Op* op;
  KernelFn run;
};
std::span<const KernelEntry> structural_kernels();
std::span<const KernelEntry> index_kernels();
std::span<const KernelEntry> sort_kernels();
std::span<const KernelEntry> reduce_kernels();
std::span<const KernelEntry> cumulative_kernels();
std::span<const KernelEntry> window_kernels();
std::span<const KernelEntry> linalg_kernels();
std::span<const KernelEntry> spectral_kernels();
std::span<const KernelEntry> random_kernels();

// ---- element types
struct C64 {
  float re = 0, im = 0;
};
struct C128 {
  double re = 0, im = 0;
};
struct KeyWords {
  std::uint32_t a = 0, b = 0;
};
template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
inline constexpr bool is_float_like = std::is_floating_point_v<T> || is_small_float<T>;
template <class T>
inline constexpr bool is_complex_like = std::is_same_v<T, C64> || std::is_same_v<T, C128>;
template <class T>
inline constexpr bool is_int_like = std::is_integral_v<T> && !std::is_same_v<T, bool>;
// 16-bit floats compute as float.
template <class T>
struct WorkOf {
  using type = T;
};
template <>
struct WorkOf<f16> {
  using type = float;
};
template <>
struct WorkOf<bf16> {
  using type = float;
};
template <class T>
using Work = typename WorkOf<T>::type;

template <class F>
auto dispatch(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::b8:
      return f(bool{});
    case Dtype::i8:
      return f(std::int8_t{});
    case Dtype::i16:
      return f(std::int16_t{});
    case Dtype::i32:
      return f(std::int32_t{});
    case Dtype::i64:
      return f(std::int64_t{});
    case Dtype::u8:
      return f(std::uint8_t{});
    case Dtype::u16:
      return f(std::uint16_t{});
    case Dtype::u32:
      return f(std::uint32_t{});
    case Dtype::u64:
      return f(std::uint64_t{});
    case Dtype::f16:
      return f(f16{});
    case Dtype::bf16:
      return f(bf16{});
    case Dtype::f32:
      return f(float{});
    case Dtype::f64:
      return f(double{});
    case Dtype::c64:
      return f(C64{});
    case Dtype::c128:
      return f(C128{});
    case Dtype::key:
      break;
  }
  return f(KeyWords{});
}

// Sum and product of one step; integers wrap.
template <class T>
T plus(T a, T b) {
  if constexpr (is_complex_like<T>)
    return {a.re + b.re, a.im + b.im};
  else if constexpr (is_int_like<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
T times(T a, T b) {
  if constexpr (is_complex_like<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else if constexpr (is_int_like<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

inline std::vector<i64> row_strides(const Dims& shape) {
  std::vector<i64> s(static_cast<std::size_t>(shape.rank()), 1);
  for (std::size_t d = s.size(); d-- > 1;) s[d - 1] = s[d] * shape[static_cast<int>(d)];
  return s;
}

}  // namespace uni::native
