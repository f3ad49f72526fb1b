// What evaluators share: operands as host memory, typed loops, index arithmetic.
#pragma once
#include <complex>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/client.hpp"
#include <unisono/dtype.hpp>

namespace uni::reference {

struct Key {
  std::uint32_t a = 0, b = 0;
  bool operator==(const Key&) const = default;
};

// An array on one device.
struct Value {
  ir::Type type;
  std::byte* data = nullptr;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  i64 count() const { return type.count(); }
};

// One equation on one device.
struct Call {
  const ir::Eqn& eqn;
  std::span<const Value> in, out;
  template <class P>
  const P& params() const {
    return eqn.params.as<P>();
  }
};
struct Evaluator {
  const ir::Op* op;
  void (*run)(const Call&);
};
std::span<const Evaluator> elementwise_evaluators();
std::span<const Evaluator> structural_evaluators();
std::span<const Evaluator> index_evaluators();
std::span<const Evaluator> contract_evaluators();
std::span<const Evaluator> random_evaluators();

// Calls f with a value of the C++ type of the dtype.
template <class F>
void with_dtype(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::b8: return f(bool{});
    case Dtype::i8: return f(std::int8_t{});
    case Dtype::i16: return f(std::int16_t{});
    case Dtype::i32: return f(std::int32_t{});
    case Dtype::i64: return f(std::int64_t{});
    case Dtype::u8: return f(std::uint8_t{});
    case Dtype::u16: return f(std::uint16_t{});
    case Dtype::u32: return f(std::uint32_t{});
    case Dtype::u64: return f(std::uint64_t{});
    case Dtype::f16: return f(f16{});
    case Dtype::bf16: return f(bf16{});
    case Dtype::f32: return f(float{});
    case Dtype::f64: return f(double{});
    case Dtype::c64: return f(std::complex<float>{});
    case Dtype::c128: return f(std::complex<double>{});
    case Dtype::key: return f(Key{});
  }
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_half<T>;
template <class T>
struct complex_part {
  static constexpr bool value = false;
  using type = T;
};
template <class R>
struct complex_part<std::complex<R>> {
  static constexpr bool value = true;
  using type = R;
};
template <class T>
inline constexpr bool is_cplx = complex_part<T>::value;
template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_number = is_int<T> || is_real<T> || is_cplx<T>;

// The type that computing happens in: float for 16-bit floats.
template <class T>
using Compute = std::conditional_t<is_half<T>, float, T>;
template <class T>
Compute<T> load(const T& v) {
  return static_cast<Compute<T>>(v);
}
template <class T>
T store(const Compute<T>& v) {
  return T(v);
}
// Sums and products: at least float; integers wrap in unsigned arithmetic.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (is_int<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}
template <class T>
T wrap_mul(T a, T b) {
  if constexpr (is_int<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

// Row-major positions of a shape, one after another.
class Odometer {
 public:
  explicit Odometer(const Dims& shape) : shape_(shape), at_(static_cast<std::size_t>(shape.rank()), 0) {}
  const std::vector<i64>& at() const { return at_; }
  i64 operator[](int d) const { return at_[static_cast<std::size_t>(d)]; }
  void next() {
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      if (++at_[static_cast<std::size_t>(d)] < shape_[d]) return;
      at_[static_cast<std::size_t>(d)] = 0;
    }
  }

 private:
  Dims shape_;
  std::vector<i64> at_;
};
inline std::vector<i64> strides(const Dims& shape) {
  std::vector<i64> s(static_cast<std::size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d)
    s[static_cast<std::size_t>(d)] = s[static_cast<std::size_t>(d) + 1] * shape[d + 1];
  return s;
}
// Moves whole elements without looking at them: out[i] = in[source(i)], for every output position.
template <class Source>
void move_elements(const Value& in, const Value& out, const Source& source) {
  const i64 size = itemsize(out.type.dtype);
  Odometer o(out.type.shape);
  for (i64 i = 0; i < out.count(); ++i, o.next()) std::memcpy(out.data + i * size, in.data + source(o) * size, static_cast<std::size_t>(size));
}

}  // namespace uni::reference
