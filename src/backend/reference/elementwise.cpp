// Element by element.
#include <bit>
#include <cmath>
#include <utility>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "backend/reference/rounding.hpp"
#include "backend/reference/special.hpp"
#include "ops/elementwise.hpp"

namespace uni::reference {

namespace {
template <class T, std::size_t>
using Repeat = T;
// Results have the operands' dtype, or are bool, or pass between complex numbers and their parts.
template <class R, class T>
concept ResultOf = std::same_as<R, Compute<T>> || std::same_as<R, bool> || ComplexNumber<R> ||
    (ComplexNumber<T>&& std::floating_point<R>);

// out[i] = f(in[0][i], in[1][i], ...) for the dtypes that f takes.
template <class F, std::size_t... I>
void pointwise(const Call& c, const F& f, std::index_sequence<I...>) {
  with_dtype(
      c.eqn, c.in[0].type.dtype, [&]<class T>(T) requires(std::is_invocable_v<F, Repeat<Compute<T>, I>...>) {
        using R = std::invoke_result_t<F, Repeat<Compute<T>, I>...>;
        static_assert(ResultOf<R, T>);
        using Out = std::conditional_t<std::same_as<R, Compute<T>>, T, R>;
        for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<Out>()[i] = Out(f(load(c.in[I].as<T>()[i])...));
      });
}
template <auto F>
void unary(const Call& c) {
  pointwise(c, F, std::make_index_sequence<1>{});
}
template <auto F>
void binary(const Call& c) {
  pointwise(c, F, std::make_index_sequence<2>{});
}
template <auto F>
void ternary(const Call& c) {
  pointwise(c, F, std::make_index_sequence<3>{});
}

template <Number T>
T absolute_or_same(T x) {
  if constexpr (std::floating_point<T>)
    return std::fabs(x);
  else
    return x < T{} ? minus(T{}, x) : x;
}
constexpr auto absolute = []<Number T>(T x) {
  if constexpr (ComplexNumber<T>)
    return std::abs(x);
  else
    return absolute_or_same(x);
};
constexpr auto negative = []<Number T>(T x) {
  if constexpr (Integer<T>)
    return minus(T{}, x);
  else
    return -x;
};
constexpr auto sign = []<Number T>(T x) {
  if constexpr (ComplexNumber<T>)
    return x == T{} ? x : x / std::abs(x);
  else if constexpr (std::floating_point<T>)
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
  else
    return static_cast<T>((x > T{}) - (x < T{}));
};
constexpr auto inverse_bits = []<Bits T>(T x) {
  if constexpr (std::same_as<T, bool>)
    return !x;
  else
    return static_cast<T>(~x);
};
// Either form overflows on one side.
constexpr auto logistic = []<std::floating_point T>(T x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T e = std::exp(x);
  return e / (1 + e);
};

void eval_integer_pow(const Call& c) {
  const int n = c.params<ops::IntegerPow>().exponent;
  const auto power = [n]<Number T>(T x) {
    T result = T(1), square = x;
    for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
      if (k & 1) result = times(result, square);
      square = times(square, square);
    }
    if constexpr (Inexact<T>)
      if (n < 0) result = T(1) / result;
    return result;
  };
  pointwise(c, power, std::make_index_sequence<1>{});
}

// Sum and product of bool are or and and.
constexpr auto sum = []<class T>(T x, T y) requires(Number<T> || std::same_as<T, bool>) {
  if constexpr (std::same_as<T, bool>)
    return x || y;
  else
    return plus(x, y);
};
constexpr auto product = []<class T>(T x, T y) requires(Number<T> || std::same_as<T, bool>) {
  if constexpr (std::same_as<T, bool>)
    return x && y;
  else
    return times(x, y);
};
constexpr auto quotient = []<Number T>(T x, T y) {
  if constexpr (Integer<T>) {
    if (y == 0) return static_cast<T>(-1);
    if (std::signed_integral<T> && y == static_cast<T>(-1)) return minus(T{}, x);
    return static_cast<T>(x / y);
  } else {
    return x / y;
  }
};
constexpr auto remainder = []<class T>(T x, T y) requires(Integer<T> || std::floating_point<T>) {
  if constexpr (Integer<T>) {
    if (y == 0) return x;
    if (std::signed_integral<T> && y == static_cast<T>(-1)) return T{};
    return static_cast<T>(x % y);
  } else {
    return std::fmod(x, y);
  }
};
template <class T>
bool in_width(T count) {
  return !(count < T{}) && static_cast<std::uint64_t>(count) < 8 * sizeof(T);
}
constexpr auto left_shift = []<Integer T>(T x, T n) {
  return in_width(n) ? static_cast<T>(static_cast<std::uint64_t>(x) << n) : T{};
};
constexpr auto logical_right_shift = []<Integer T>(T x, T n) {
  return in_width(n) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> n) : T{};
};
constexpr auto arithmetic_right_shift = []<Integer T>(T x, T n) {
  if (in_width(n)) return static_cast<T>(x >> n);
  return static_cast<T>(x < T{} ? -1 : 0);
};

// By bits, so that 16-bit floats step in their own type.
void eval_nextafter(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Real T>(T) {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr Bits sign_bit = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
    for (i64 i = 0; i < c.out[0].count(); ++i) {
      const auto x = load(c.in[0].as<T>()[i]), y = load(c.in[1].as<T>()[i]);
      const auto bits = std::bit_cast<Bits>(c.in[0].as<T>()[i]);
      T& out = c.out[0].as<T>()[i];
      if (is_nan(x) || is_nan(y))
        out = T(x + y);
      else if (x == y)
        out = c.in[1].as<T>()[i];
      else if (x == 0)
        out = std::bit_cast<T>(static_cast<Bits>((y < 0 ? sign_bit : 0) | 1));
      else
        out = std::bit_cast<T>(static_cast<Bits>((x < y) == (x > 0) ? bits + 1 : bits - 1));
    }
  });
}
void eval_fma(const Call& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Real T>(T) {
    for (i64 i = 0; i < c.out[0].count(); ++i) {
      const auto x = load(c.in[0].as<T>()[i]), y = load(c.in[1].as<T>()[i]), z = load(c.in[2].as<T>()[i]);
      if constexpr (Half<T>)
        c.out[0].as<T>()[i] = fma_half<T>(x, y, z);
      else
        c.out[0].as<T>()[i] = std::fma(x, y, z);
    }
  });
}
template <class Relation>
void compare(const Call& c, const Relation& relation) {
  pointwise(
      c, [&]<Ordered T>(T x, T y) { return bool(relation(x, y)); }, std::make_index_sequence<2>{});
}
void eval_compare(const Call& c) {
  using Direction = ops::Compare::Direction;
  switch (c.params<ops::Compare>().direction) {
    case Direction::eq:
      return binary < [](auto x, auto y) -> bool requires requires { x == y; }
      { return x == y; }
      > (c);
    case Direction::ne:
      return binary < [](auto x, auto y) -> bool requires requires { x != y; }
      { return x != y; }
      > (c);
    case Direction::lt:
      return compare(c, [](auto x, auto y) { return x < y; });
    case Direction::le:
      return compare(c, [](auto x, auto y) { return x <= y; });
    case Direction::gt:
      return compare(c, [](auto x, auto y) { return x > y; });
    case Direction::ge:
      return compare(c, [](auto x, auto y) { return x >= y; });
  }
}
void eval_select(const Call& c) {
  for (i64 i = 0; i < c.out[0].count(); ++i) copy_element(c.in[0].as<bool>()[i] ? c.in[1] : c.in[2], i, c.out[0], i);
}

constexpr Evaluator table[] = {
    {&ops::neg, unary<negative>},
    {&ops::abs, unary<absolute>},
    {&ops::sign, unary<sign>},
    {&ops::floor, unary<[](std::floating_point auto x) { return std::floor(x); }>},
    {&ops::ceil, unary<[](std::floating_point auto x) { return std::ceil(x); }>},
    {&ops::round, unary<[](std::floating_point auto x) { return std::nearbyint(x); }>},
    {&ops::not_, unary<inverse_bits>},
    {&ops::exp, unary<[](Inexact auto x) { return std::exp(x); }>},
    {&ops::expm1, unary<[](Inexact auto x) { return expm1(x); }>},
    {&ops::log, unary<[](Inexact auto x) { return std::log(x); }>},
    {&ops::log1p, unary<[](Inexact auto x) { return log1p(x); }>},
    {&ops::sqrt, unary<[](Inexact auto x) { return std::sqrt(x); }>},
    {&ops::rsqrt, unary<[]<Inexact T>(T x) { return T(1) / std::sqrt(x); }>},
    {&ops::cbrt, unary<[](std::floating_point auto x) { return std::cbrt(x); }>},
    {&ops::sin, unary<[](Inexact auto x) { return std::sin(x); }>},
    {&ops::cos, unary<[](Inexact auto x) { return std::cos(x); }>},
    {&ops::tan, unary<[](Inexact auto x) { return std::tan(x); }>},
    {&ops::asin, unary<[](Inexact auto x) { return std::asin(x); }>},
    {&ops::acos, unary<[](Inexact auto x) { return std::acos(x); }>},
    {&ops::atan, unary<[](Inexact auto x) { return std::atan(x); }>},
    {&ops::sinh, unary<[](Inexact auto x) { return std::sinh(x); }>},
    {&ops::cosh, unary<[](Inexact auto x) { return std::cosh(x); }>},
    {&ops::tanh, unary<[](Inexact auto x) { return std::tanh(x); }>},
    {&ops::asinh, unary<[](Inexact auto x) { return std::asinh(x); }>},
    {&ops::acosh, unary<[](Inexact auto x) { return std::acosh(x); }>},
    {&ops::atanh, unary<[](Inexact auto x) { return std::atanh(x); }>},
    {&ops::logistic, unary<logistic>},
    {&ops::erf, unary<[](std::floating_point auto x) { return std::erf(x); }>},
    {&ops::erfc, unary<[](std::floating_point auto x) { return std::erfc(x); }>},
    {&ops::erf_inv, unary<[](std::floating_point auto x) { return erf_inv(x); }>},
    {&ops::lgamma, unary<[](std::floating_point auto x) { return lgamma(x); }>},
    {&ops::digamma, unary<[](std::floating_point auto x) { return digamma(x); }>},
    {&ops::is_finite, unary<[](std::floating_point auto x) { return std::isfinite(x); }>},
    {&ops::real, unary<[](ComplexNumber auto x) { return x.real(); }>},
    {&ops::imag, unary<[](ComplexNumber auto x) { return x.imag(); }>},
    {&ops::conj, unary<[](ComplexNumber auto x) { return std::conj(x); }>},
    {&ops::stop_gradient, [](const Call& c) { copy_all(c.in[0], c.out[0]); }},
    {&ops::integer_pow, eval_integer_pow},
    {&ops::add, binary<sum>},
    {&ops::sub, binary<[]<Number T>(T x, T y) { return minus(x, y); }>},
    {&ops::mul, binary<product>},
    {&ops::div, binary<quotient>},
    {&ops::rem, binary<remainder>},
    {&ops::pow, binary<[]<Inexact T>(T x, T y) { return power(x, y); }>},
    {&ops::maximum, binary<[]<Ordered T>(T x, T y) { return larger(x, y); }>},
    {&ops::minimum, binary<[]<Ordered T>(T x, T y) { return smaller(x, y); }>},
    {&ops::atan2, binary<[]<std::floating_point T>(T y, T x) { return std::atan2(y, x); }>},
    {&ops::nextafter, eval_nextafter},
    {&ops::and_, binary<[]<Bits T>(T x, T y) { return static_cast<T>(x & y); }>},
    {&ops::or_, binary<[]<Bits T>(T x, T y) { return static_cast<T>(x | y); }>},
    {&ops::xor_, binary<[]<Bits T>(T x, T y) { return static_cast<T>(x ^ y); }>},
    {&ops::shift_left, binary<left_shift>},
    {&ops::shift_right_logical, binary<logical_right_shift>},
    {&ops::shift_right_arithmetic, binary<arithmetic_right_shift>},
    {&ops::complex, binary<[]<std::floating_point T>(T re, T im) { return std::complex<T>(re, im); }>},
    {&ops::fma, eval_fma},
    {&ops::compare, eval_compare},
    {&ops::select, eval_select},
    {&ops::clamp, ternary<[]<Ordered T>(T low, T x, T high) { return smaller(larger(x, low), high); }>}};
}  // namespace

std::span<const Evaluator> elementwise_evaluators() { return table; }

}  // namespace uni::reference
