// What evaluators share: operands as host memory, typed loops, index arithmetic.
#pragma once
#include <complex>
#include <concepts>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/client.hpp"
#include <unisono/dtype.hpp>

namespace uni::reference {

struct Key {
  std::uint32_t a = 0, b = 0;
};

// An array on one device.
struct Value {
  ir::Type type;
  std::byte* data = nullptr;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  const Dims& shape() const { return type.shape; }
  i64 count() const { return type.count(); }
  std::size_t bytes() const { return static_cast<std::size_t>(type.bytes()); }
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
std::span<const Evaluator> convert_evaluators();
std::span<const Evaluator> structural_evaluators();
std::span<const Evaluator> index_evaluators();
std::span<const Evaluator> reduce_evaluators();
std::span<const Evaluator> window_evaluators();
std::span<const Evaluator> contract_evaluators();
std::span<const Evaluator> linalg_evaluators();
std::span<const Evaluator> spectral_evaluators();
std::span<const Evaluator> random_evaluators();

// One equation on all devices at once; in[device] is the operand there, `in` is empty for axis_index.
struct CollectiveCall {
  const ir::Eqn& eqn;
  const Mesh& mesh;
  std::span<const Value> in, out;
};
struct CollectiveEvaluator {
  const ir::Op* op;
  void (*run)(const CollectiveCall&);
};
std::span<const CollectiveEvaluator> collective_evaluators();

// The C++ types of elements, by kind.
template <class T>
concept Half = std::same_as<T, f16> || std::same_as<T, bf16>;
template <class T>
concept Real = std::floating_point<T> || Half<T>;
template <class T>
concept ComplexNumber = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept Inexact = Real<T> || ComplexNumber<T>;
template <class T>
concept Number = Integer<T> || Inexact<T>;
template <class T>
concept Bits = std::integral<T>;  // bool and integers
template <class T>
concept Ordered = std::integral<T> || Real<T>;

[[noreturn]] void no_evaluator(const ir::Eqn& eqn, Dtype dtype);

// Calls f with an element of the C++ type of the dtype; InternalError when f does not take that type.
template <class F>
void with_dtype(const ir::Eqn& eqn, Dtype dtype, const F& f) {
  const auto call = [&]<class T>(T element) {
    if constexpr (std::is_invocable_v<const F&, T>)
      f(element);
    else
      no_evaluator(eqn, dtype);
  };
  switch (dtype) {
    case Dtype::b8:
      return call(bool{});
    case Dtype::i8:
      return call(std::int8_t{});
    case Dtype::i16:
      return call(std::int16_t{});
    case Dtype::i32:
      return call(std::int32_t{});
    case Dtype::i64:
      return call(std::int64_t{});
    case Dtype::u8:
      return call(std::uint8_t{});
    case Dtype::u16:
      return call(std::uint16_t{});
    case Dtype::u32:
      return call(std::uint32_t{});
    case Dtype::u64:
      return call(std::uint64_t{});
    case Dtype::f16:
      return call(f16{});
    case Dtype::bf16:
      return call(bf16{});
    case Dtype::f32:
      return call(float{});
    case Dtype::f64:
      return call(double{});
    case Dtype::c64:
      return call(std::complex<float>{});
    case Dtype::c128:
      return call(std::complex<double>{});
    case Dtype::key:
      return call(Key{});
  }
}

// The type that one operation computes in before it rounds: float for the 16-bit floats.
template <class T>
using Compute = std::conditional_t<Half<T>, float, T>;
template <class T>
Compute<T> load(const T& v) {
  return static_cast<Compute<T>>(v);
}

// The type that sums and products of many elements are kept in: one step wider, so that the oracle's own rounding does
// not grow with the number of elements.
template <class T>
struct accumulator {
  using type = T;
};
template <Half T>
struct accumulator<T> {
  using type = float;
};
template <>
struct accumulator<float> {
  using type = double;
};
template <>
struct accumulator<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using Accumulator = typename accumulator<T>::type;

// Integers wrap. Complex products are the textbook ones, without the recovery of infinities that C adds.
template <Number T>
T plus(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <Number T>
T minus(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <Number T>
T times(T a, T b) {
  if constexpr (Integer<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else if constexpr (ComplexNumber<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return a * b;
}

inline std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// Row-major positions of a shape, one after another.
class Odometer {
 public:
  explicit Odometer(const Dims& shape) : shape_(shape), at_(at(shape.rank()), 0) {}
  i64 operator[](int d) const { return at_[at(d)]; }
  void next() {
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      if (++at_[at(d)] < shape_[d]) return;
      at_[at(d)] = 0;
    }
  }

 private:
  Dims shape_;
  std::vector<i64> at_;
};

using Steps = std::vector<i64>;  // by dimension: how far apart neighbours lie, in elements
inline Steps strides(const Dims& shape) {
  Steps s(at(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d) s[at(d)] = s[at(d) + 1] * shape[d + 1];
  return s;
}
// Visits the row-major positions of a shape: fn(i, offset), offset = start + the sum of position[d] * step[d].
template <class Fn>
void walk(const Dims& shape, i64 start, const Steps& step, const Fn& fn) {
  Odometer o(shape);
  for (i64 i = 0; i < shape.count(); ++i, o.next()) {
    i64 offset = start;
    for (int d = 0; d < shape.rank(); ++d) offset += o[d] * step[at(d)];
    fn(i, offset);
  }
}

// Copies one element of the array's size, whatever its dtype.
inline void copy_element(const Value& from, i64 i, const Value& to, i64 k) {
  const i64 size = itemsize(to.type.dtype);
  std::memcpy(to.data + k * size, from.data + i * size, at(size));
}
inline void copy_all(const Value& from, const Value& to) { std::memcpy(to.data, from.data, to.bytes()); }

// A nested program on all devices.
using Nested = std::function<std::vector<runtime::Shards>(const std::vector<runtime::Shards>&)>;
// cond, while_loop, scan: the results; `out` are fresh buffers for them.
std::vector<runtime::Shards> run_control(const ir::Eqn& e, const Mesh& mesh, const std::vector<runtime::Shards>& in,
                                         std::span<const Nested> programs, const std::vector<runtime::Shards>& out);

}  // namespace uni::reference
