// Unary and binary pointwise kernels. Each table row names an operation and the function that picks its loop by dtype.
#include "backend/native/pointwise_math.hpp"
#include "backend/native/pointwise_table.hpp"
#include "ops/elementwise.hpp"

namespace uni::native {

namespace {
template <class F, class T>
void unary_loop(const FlatArgs& a) {
  const T* x = reinterpret_cast<const T*>(a.in[0]);
  T* y = reinterpret_cast<T*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) y[i] = T(F::of(static_cast<Work<T>>(x[i])));
}
template <class F, class T>
void binary_loop(const FlatArgs& a) {
  const T *x = reinterpret_cast<const T*>(a.in[0]), *y = reinterpret_cast<const T*>(a.in[1]);
  T* z = reinterpret_cast<T*>(a.out);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) z[i] = T(F::of(static_cast<Work<T>>(x[i]), static_cast<Work<T>>(y[i])));
}
// F::of for the dtype, or null where F does not take it.
template <class F>
FlatFn unary(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn {
    if constexpr (F::template takes<Work<T>>)
      return unary_loop<F, T>;
    else
      return nullptr;
  });
}
template <class F>
FlatFn binary(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn {
    if constexpr (F::template takes<Work<T>>)
      return binary_loop<F, T>;
    else
      return nullptr;
  });
}

template <class T>
inline constexpr bool floating = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool inexact = floating<T> || is_complex_like<T>;
template <class T>
inline constexpr bool number = inexact<T> || is_int_like<T>;
template <class T>
inline constexpr bool bits = is_int_like<T> || std::is_same_v<T, bool>;
template <class T>
inline constexpr bool ordered = floating<T> || bits<T>;

#define UNARY(name, domain, real_expr)       \
  struct name {                              \
    template <class T>                       \
    static constexpr bool takes = domain<T>; \
    template <class T>                       \
    static T of(T x) {                       \
      return real_expr;                      \
    }                                        \
  };
// Complex values go through the standard library.
#define UNARY_COMPLEX(name, real_expr, complex_expr) \
  struct name {                                      \
    template <class T>                               \
    static constexpr bool takes = inexact<T>;        \
    template <class T>                               \
    static T of(T x) {                               \
      if constexpr (is_complex_like<T>) {            \
        const auto z = to_std(x);                    \
        return from_std(complex_expr);               \
      } else {                                       \
        return real_expr;                            \
      }                                              \
    }                                                \
  };
#define BINARY(name, domain, expr)           \
  struct name {                              \
    template <class T>                       \
    static constexpr bool takes = domain<T>; \
    template <class T>                       \
    static T of(T x, T y) {                  \
      return expr;                           \
    }                                        \
  };

struct Neg {
  template <class T>
  static constexpr bool takes = number<T>;
  template <class T>
  static T of(T x) {
    if constexpr (is_complex_like<T>)
      return {-x.re, -x.im};
    else if constexpr (is_int_like<T>)
      return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x));
    else
      return -x;
  }
};
struct Sign {
  template <class T>
  static constexpr bool takes = number<T>;
  template <class T>
  static T of(T x) {
    if constexpr (is_complex_like<T>) {
      const auto m = std::abs(to_std(x));
      return m == 0 ? x : T{x.re / m, x.im / m};
    } else if constexpr (floating<T>) {
      return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    } else {
      return static_cast<T>(static_cast<int>(x > T(0)) - static_cast<int>(x < T(0)));
    }
  }
};
UNARY(Floor, floating, std::floor(x))
UNARY(Ceil, floating, std::ceil(x))
UNARY(Round, floating, std::nearbyint(x))
struct Not {
  template <class T>
  static constexpr bool takes = bits<T>;
  template <class T>
  static T of(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};
UNARY_COMPLEX(Exp, std::exp(x), std::exp(z))
UNARY_COMPLEX(Expm1, std::expm1(x), complex_expm1(z))
UNARY_COMPLEX(Log, std::log(x), std::log(z))
UNARY_COMPLEX(Log1p, std::log1p(x), complex_log1p(z))
UNARY_COMPLEX(Sqrt, std::sqrt(x), std::sqrt(z))
UNARY_COMPLEX(Rsqrt, T(1) / std::sqrt(x), Real<T>(1) / std::sqrt(z))
UNARY(Cbrt, floating, std::cbrt(x))
UNARY_COMPLEX(Sin, std::sin(x), std::sin(z))
UNARY_COMPLEX(Cos, std::cos(x), std::cos(z))
UNARY_COMPLEX(Tan, std::tan(x), std::tan(z))
UNARY_COMPLEX(Asin, std::asin(x), std::asin(z))
UNARY_COMPLEX(Acos, std::acos(x), std::acos(z))
UNARY_COMPLEX(Atan, std::atan(x), std::atan(z))
UNARY_COMPLEX(Sinh, std::sinh(x), std::sinh(z))
UNARY_COMPLEX(Cosh, std::cosh(x), std::cosh(z))
UNARY_COMPLEX(Tanh, std::tanh(x), std::tanh(z))
UNARY_COMPLEX(Asinh, std::asinh(x), std::asinh(z))
UNARY_COMPLEX(Acosh, std::acosh(x), std::acosh(z))
UNARY_COMPLEX(Atanh, std::atanh(x), std::atanh(z))
UNARY(Logistic, floating, logistic_of(x))
UNARY(Erf, floating, std::erf(x))
UNARY(Erfc, floating, std::erfc(x))
UNARY(ErfInv, floating, inverse_erf(x))
UNARY(Lgamma, floating, log_gamma(x))
UNARY(Digamma, floating, digamma_of(x))
UNARY(Conj, is_complex_like, (T{x.re, -x.im}))

BINARY(Sub, number, plus(x, Neg::of(y)))
BINARY(Div, number, divide(x, y))
template <class T>
inline constexpr bool divisible = floating<T> || is_int_like<T>;
BINARY(Rem, divisible, remainder_of(x, y))
BINARY(Maximum, ordered, max_of(x, y))
BINARY(Minimum, ordered, min_of(x, y))
BINARY(Atan2, floating, std::atan2(x, y))
BINARY(And, bits, static_cast<T>(x& y))
BINARY(Or, bits, static_cast<T>(x | y))
BINARY(Xor, bits, static_cast<T>(x ^ y))
struct Add {
  template <class T>
  static constexpr bool takes = number<T> || std::is_same_v<T, bool>;
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_same_v<T, bool>)
      return x || y;
    else
      return plus(x, y);
  }
};
struct Mul {
  template <class T>
  static constexpr bool takes = number<T> || std::is_same_v<T, bool>;
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_same_v<T, bool>)
      return x && y;
    else
      return times(x, y);
  }
};
struct Pow {
  template <class T>
  static constexpr bool takes = inexact<T>;
  template <class T>
  static T of(T x, T y) {
    if constexpr (is_complex_like<T>)
      return from_std(complex_pow(to_std(x), to_std(y)));
    else
      return std::pow(x, y);
  }
};
template <class T>
bool shiftable(T n) {
  return n >= T(0) && static_cast<std::uint64_t>(n) < 8 * sizeof(T);
}
BINARY(ShiftLeft, is_int_like, shiftable(y) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << y) : T(0))
BINARY(ShiftRightLogical, is_int_like,
       shiftable(y) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> y) : T(0))
BINARY(ShiftRightArithmetic, is_int_like,
       shiftable(y) ? static_cast<T>(x >> y)
       : x < T(0)   ? static_cast<T>(~T(0))
                    : T(0))

constexpr PointwiseRow rows[] = {{&ops::neg, unary<Neg>},
                                 {&ops::sign, unary<Sign>},
                                 {&ops::floor, unary<Floor>},
                                 {&ops::ceil, unary<Ceil>},
                                 {&ops::round, unary<Round>},
                                 {&ops::not_, unary<Not>},
                                 {&ops::exp, unary<Exp>},
                                 {&ops::expm1, unary<Expm1>},
                                 {&ops::log, unary<Log>},
                                 {&ops::log1p, unary<Log1p>},
                                 {&ops::sqrt, unary<Sqrt>},
                                 {&ops::rsqrt, unary<Rsqrt>},
                                 {&ops::cbrt, unary<Cbrt>},
                                 {&ops::sin, unary<Sin>},
                                 {&ops::cos, unary<Cos>},
                                 {&ops::tan, unary<Tan>},
                                 {&ops::asin, unary<Asin>},
                                 {&ops::acos, unary<Acos>},
                                 {&ops::atan, unary<Atan>},
                                 {&ops::sinh, unary<Sinh>},
                                 {&ops::cosh, unary<Cosh>},
                                 {&ops::tanh, unary<Tanh>},
                                 {&ops::asinh, unary<Asinh>},
                                 {&ops::acosh, unary<Acosh>},
                                 {&ops::atanh, unary<Atanh>},
                                 {&ops::logistic, unary<Logistic>},
                                 {&ops::erf, unary<Erf>},
                                 {&ops::erfc, unary<Erfc>},
                                 {&ops::erf_inv, unary<ErfInv>},
                                 {&ops::lgamma, unary<Lgamma>},
                                 {&ops::digamma, unary<Digamma>},
                                 {&ops::conj, unary<Conj>},
                                 {&ops::add, binary<Add>},
                                 {&ops::sub, binary<Sub>},
                                 {&ops::mul, binary<Mul>},
                                 {&ops::div, binary<Div>},
                                 {&ops::rem, binary<Rem>},
                                 {&ops::pow, binary<Pow>},
                                 {&ops::maximum, binary<Maximum>},
                                 {&ops::minimum, binary<Minimum>},
                                 {&ops::atan2, binary<Atan2>},
                                 {&ops::and_, binary<And>},
                                 {&ops::or_, binary<Or>},
                                 {&ops::xor_, binary<Xor>},
                                 {&ops::shift_left, binary<ShiftLeft>},
                                 {&ops::shift_right_logical, binary<ShiftRightLogical>},
                                 {&ops::shift_right_arithmetic, binary<ShiftRightArithmetic>}};
}  // namespace

std::span<const PointwiseRow> uniform_rows() { return rows; }

}  // namespace uni::native
