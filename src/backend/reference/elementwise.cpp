// Element by element.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/reference/eval.hpp"
#include "backend/reference/special.hpp"
#include "ops/elementwise.hpp"
#include <unisono/error.hpp>

namespace uni::reference {

namespace {
[[noreturn]] void no_kernel(const Call& c) {
  throw InternalError("reference: " + std::string(c.eqn.op->name) + " has no evaluator for " +
                      ir::to_string(c.in.empty() ? c.out[0].type : c.in[0].type));
}

// f(x) on every element for which f accepts the type.
template <class F>
void unary(const Call& c, const F& f) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (std::is_invocable_v<F, Compute<T>>) {
      const T* x = c.in[0].as<T>();
      T* y = c.out[0].as<T>();
      for (i64 i = 0; i < c.out[0].count(); ++i) y[i] = T(f(load(x[i])));
    } else {
      no_kernel(c);
    }
  });
}
template <class F>
void binary(const Call& c, const F& f) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (std::is_invocable_v<F, Compute<T>, Compute<T>>) {
      const T *x = c.in[0].as<T>(), *y = c.in[1].as<T>();
      T* z = c.out[0].as<T>();
      for (i64 i = 0; i < c.out[0].count(); ++i) z[i] = T(f(load(x[i]), load(y[i])));
    } else {
      no_kernel(c);
    }
  });
}
template <class T>
concept Real = std::is_floating_point_v<T>;
template <class T>
concept Inexact = std::is_floating_point_v<T> || is_cplx<T>;
template <class T>
concept Integer = is_int<T>;
template <class T>
concept Ordered = Real<T> || Integer<T> || std::is_same_v<T, bool>;

#define REAL_UNARY(name, expr) \
  void eval_##name(const Call& c) { unary(c, []<Real T>(T x) { return expr; }); }
#define INEXACT_UNARY(name, expr) \
  void eval_##name(const Call& c) { unary(c, []<Inexact T>(T x) { return expr; }); }

void eval_neg(const Call& c) {
  unary(c, []<class T>(T x) requires(is_number<T>) {
    if constexpr (Integer<T>)
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else
      return -x;
  });
}
void eval_abs(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    const T* x = c.in[0].as<T>();
    if constexpr (is_cplx<T>) {
      auto* y = c.out[0].as<typename complex_part<T>::type>();
      for (i64 i = 0; i < c.out[0].count(); ++i) y[i] = std::abs(x[i]);
    } else if constexpr (is_real<T>) {
      T* y = c.out[0].as<T>();
      for (i64 i = 0; i < c.out[0].count(); ++i) y[i] = T(std::fabs(load(x[i])));
    } else if constexpr (is_int<T>) {
      T* y = c.out[0].as<T>();
      for (i64 i = 0; i < c.out[0].count(); ++i)
        y[i] = x[i] < T{} ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x[i])) : x[i];
    } else {
      no_kernel(c);
    }
  });
}
void eval_sign(const Call& c) {
  unary(c, []<class T>(T x) requires(is_number<T>) {
    if constexpr (is_cplx<T>)
      return x == T{} ? x : x / std::abs(x);
    else if constexpr (Real<T>)
      return x > 0 ? T(1) : x < 0 ? T(-1) : x;
    else
      return static_cast<T>((x > T{}) - (x < T{}));
  });
}
REAL_UNARY(floor, std::floor(x))
REAL_UNARY(ceil, std::ceil(x))
REAL_UNARY(round, std::nearbyint(x))
void eval_not(const Call& c) {
  unary(c, []<class T>(T x) requires(Integer<T> || std::is_same_v<T, bool>) {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  });
}
INEXACT_UNARY(exp, std::exp(x))
void eval_expm1(const Call& c) {
  unary(c, []<Inexact T>(T x) {
    if constexpr (is_cplx<T>) {
      const auto s = std::sin(x.imag() / 2);
      const auto e = std::expm1(x.real());
      return T(e * std::cos(x.imag()) - 2 * s * s, std::exp(x.real()) * std::sin(x.imag()));
    } else {
      return std::expm1(x);
    }
  });
}
INEXACT_UNARY(log, std::log(x))
void eval_log1p(const Call& c) {
  unary(c, []<Inexact T>(T x) {
    if constexpr (is_cplx<T>) {
      const auto re = x.real(), im = x.imag();
      return T(std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re));
    } else {
      return std::log1p(x);
    }
  });
}
INEXACT_UNARY(sqrt, std::sqrt(x))
INEXACT_UNARY(rsqrt, T(1) / std::sqrt(x))
REAL_UNARY(cbrt, std::cbrt(x))
INEXACT_UNARY(sin, std::sin(x))
INEXACT_UNARY(cos, std::cos(x))
INEXACT_UNARY(tan, std::tan(x))
INEXACT_UNARY(asin, std::asin(x))
INEXACT_UNARY(acos, std::acos(x))
INEXACT_UNARY(atan, std::atan(x))
INEXACT_UNARY(sinh, std::sinh(x))
INEXACT_UNARY(cosh, std::cosh(x))
INEXACT_UNARY(tanh, std::tanh(x))
INEXACT_UNARY(asinh, std::asinh(x))
INEXACT_UNARY(acosh, std::acosh(x))
INEXACT_UNARY(atanh, std::atanh(x))
INEXACT_UNARY(logistic, T(1) / (T(1) + std::exp(-x)))
REAL_UNARY(erf, std::erf(x))
REAL_UNARY(erfc, std::erfc(x))
REAL_UNARY(erf_inv, erf_inv(x))
REAL_UNARY(lgamma, lgamma(x))
REAL_UNARY(digamma, digamma(x))
void eval_identity(const Call& c) {
  std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(c.out[0].type.bytes()));
}
void eval_is_finite(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_real<T>) {
      for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<bool>()[i] = std::isfinite(load(c.in[0].as<T>()[i]));
    } else if constexpr (is_cplx<T>) {
      for (i64 i = 0; i < c.out[0].count(); ++i) {
        const T v = c.in[0].as<T>()[i];
        c.out[0].as<bool>()[i] = std::isfinite(v.real()) && std::isfinite(v.imag());
      }
    } else {
      no_kernel(c);
    }
  });
}
template <class F>
void complex_part_of(const Call& c, const F& f) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_cplx<T>) {
      auto* y = c.out[0].as<typename complex_part<T>::type>();
      for (i64 i = 0; i < c.out[0].count(); ++i) y[i] = f(c.in[0].as<T>()[i]);
    } else {
      no_kernel(c);
    }
  });
}
void eval_real(const Call& c) { complex_part_of(c, [](auto z) { return z.real(); }); }
void eval_imag(const Call& c) { complex_part_of(c, [](auto z) { return z.imag(); }); }
void eval_conj(const Call& c) {
  unary(c, []<class T>(T z) requires(is_cplx<T>) { return std::conj(z); });
}
void eval_integer_pow(const Call& c) {
  const int n = c.params<ops::IntegerPow>().exponent;
  unary(c, [n]<class T>(T x) requires(is_number<T>) {
    T base = x, result = T(1);
    for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k; k >>= 1) {
      if (k & 1) result = wrap_mul(result, base);
      base = wrap_mul(base, base);
    }
    if constexpr (!Integer<T>)
      if (n < 0) result = T(1) / result;
    return result;
  });
}

void eval_add(const Call& c) {
  binary(c, []<class T>(T x, T y) requires(is_number<T> || std::is_same_v<T, bool>) {
    if constexpr (std::is_same_v<T, bool>)
      return x || y;
    else
      return wrap_add(x, y);
  });
}
void eval_sub(const Call& c) {
  binary(c, []<class T>(T x, T y) requires(is_number<T>) {
    if constexpr (Integer<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) - static_cast<std::make_unsigned_t<T>>(y));
    else
      return x - y;
  });
}
void eval_mul(const Call& c) {
  binary(c, []<class T>(T x, T y) requires(is_number<T> || std::is_same_v<T, bool>) {
    if constexpr (std::is_same_v<T, bool>)
      return x && y;
    else
      return wrap_mul(x, y);
  });
}
void eval_div(const Call& c) {
  binary(c, []<class T>(T x, T y) requires(is_number<T>) {
    if constexpr (Integer<T>) {
      if (y == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>)
        if (y == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
      return static_cast<T>(x / y);
    } else {
      return x / y;
    }
  });
}
void eval_rem(const Call& c) {
  binary(c, []<class T>(T x, T y) requires(Real<T> || Integer<T>) {
    if constexpr (Integer<T>) {
      if (y == 0) return x;
      if constexpr (std::is_signed_v<T>)
        if (y == -1) return T{};
      return static_cast<T>(x % y);
    } else {
      return std::fmod(x, y);
    }
  });
}
void eval_pow(const Call& c) {
  binary(c, []<Inexact T>(T x, T y) { return T(std::pow(x, y)); });
}
void eval_maximum(const Call& c) {
  binary(c, []<Ordered T>(T x, T y) {
    if constexpr (Real<T>) {
      if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
      if (x == y) return std::signbit(x) ? y : x;
    }
    return x > y ? x : y;
  });
}
void eval_minimum(const Call& c) {
  binary(c, []<Ordered T>(T x, T y) {
    if constexpr (Real<T>) {
      if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
      if (x == y) return std::signbit(x) ? x : y;
    }
    return x < y ? x : y;
  });
}
void eval_atan2(const Call& c) {
  binary(c, []<Real T>(T y, T x) { return std::atan2(y, x); });
}
template <class T, class Bits>
void next_bits(const Call& c) {
  // By bits, so that 16-bit floats step in their own type.
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (i64 i = 0; i < c.out[0].count(); ++i) {
    const auto x = load(c.in[0].as<T>()[i]), y = load(c.in[1].as<T>()[i]);
    Bits b = c.in[0].as<Bits>()[i];
    if (std::isnan(x) || std::isnan(y))
      c.out[0].as<T>()[i] = T(x + y);
    else if (x == y)
      c.out[0].as<T>()[i] = c.in[1].as<T>()[i];
    else if (x == 0)
      c.out[0].as<Bits>()[i] = static_cast<Bits>((y < 0 ? sign : 0) | 1);
    else
      c.out[0].as<Bits>()[i] = static_cast<Bits>((x < y) == (x > 0) ? b + 1 : b - 1);
  }
}
void eval_nextafter(const Call& c) {
  switch (c.in[0].type.dtype) {
    case Dtype::f16: return next_bits<f16, std::uint16_t>(c);
    case Dtype::bf16: return next_bits<bf16, std::uint16_t>(c);
    case Dtype::f32: return next_bits<float, std::uint32_t>(c);
    case Dtype::f64: return next_bits<double, std::uint64_t>(c);
    default: no_kernel(c);
  }
}
template <class F>
void bitwise(const Call& c, const F& f) {
  binary(c, [&]<class T>(T x, T y) requires(Integer<T> || std::is_same_v<T, bool>) { return static_cast<T>(f(x, y)); });
}
void eval_and(const Call& c) { bitwise(c, [](auto x, auto y) { return x & y; }); }
void eval_or(const Call& c) { bitwise(c, [](auto x, auto y) { return x | y; }); }
void eval_xor(const Call& c) { bitwise(c, [](auto x, auto y) { return x ^ y; }); }
template <class T>
bool in_width(T count) {
  return !(count < T{}) && static_cast<std::uint64_t>(count) < 8 * sizeof(T);
}
void eval_shift_left(const Call& c) {
  binary(c, []<Integer T>(T x, T n) {
    return in_width(n) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << n) : T{};
  });
}
void eval_shift_right_logical(const Call& c) {
  binary(c, []<Integer T>(T x, T n) {
    return in_width(n) ? static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> n) : T{};
  });
}
void eval_shift_right_arithmetic(const Call& c) {
  binary(c, []<Integer T>(T x, T n) {
    if (in_width(n)) return static_cast<T>(x >> n);
    return static_cast<T>(x < T{} ? -1 : 0);
  });
}
void eval_complex(const Call& c) {
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_cplx<T>) {
      using R = typename complex_part<T>::type;
      for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<T>()[i] = T(c.in[0].as<R>()[i], c.in[1].as<R>()[i]);
    }
  });
}
void eval_fma(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_real<T>) {
      for (i64 i = 0; i < c.out[0].count(); ++i) {
        // A double holds the exact product of two halves, so that the result is rounded to half only.
        using W = std::conditional_t<is_half<T>, double, T>;
        const W r = std::fma(static_cast<W>(load(c.in[0].as<T>()[i])), static_cast<W>(load(c.in[1].as<T>()[i])),
                             static_cast<W>(load(c.in[2].as<T>()[i])));
        c.out[0].as<T>()[i] = T(static_cast<Compute<T>>(r));
      }
    } else {
      no_kernel(c);
    }
  });
}
void eval_compare(const Call& c) {
  using D = ops::Compare::Direction;
  const D d = c.params<ops::Compare>().direction;
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    for (i64 i = 0; i < c.out[0].count(); ++i) {
      const auto x = load(c.in[0].as<T>()[i]), y = load(c.in[1].as<T>()[i]);
      bool r = d == D::eq ? x == y : x != y;
      if constexpr (!is_cplx<T> && !std::is_same_v<T, Key>) {
        if (d == D::lt) r = x < y;
        if (d == D::le) r = x <= y;
        if (d == D::gt) r = x > y;
        if (d == D::ge) r = x >= y;
      }
      c.out[0].as<bool>()[i] = r;
    }
  });
}
void eval_select(const Call& c) {
  const auto size = static_cast<std::size_t>(itemsize(c.out[0].type.dtype));
  for (i64 i = 0; i < c.out[0].count(); ++i) {
    const Value& from = c.in[0].as<bool>()[i] ? c.in[1] : c.in[2];
    const auto at = static_cast<std::size_t>(i) * size;
    std::memcpy(c.out[0].data + at, from.data + at, size);
  }
}
void eval_clamp(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
    if constexpr (Ordered<Compute<T>>) {
      for (i64 i = 0; i < c.out[0].count(); ++i) {
        const auto low = load(c.in[0].as<T>()[i]), high = load(c.in[2].as<T>()[i]);
        auto x = load(c.in[1].as<T>()[i]);
        if constexpr (is_real<T>) {
          if (std::isnan(low) || std::isnan(high) || std::isnan(x)) {
            c.out[0].as<T>()[i] = T(std::numeric_limits<Compute<T>>::quiet_NaN());
            continue;
          }
        }
        x = x < low ? low : x;
        c.out[0].as<T>()[i] = T(x > high ? high : x);
      }
    } else {
      no_kernel(c);
    }
  });
}

template <class To, class From>
To converted(From v) {
  if constexpr (std::is_same_v<From, Key> || std::is_same_v<To, Key>) {
    return To{};
  } else if constexpr (is_cplx<From>) {
    if constexpr (is_cplx<To>)
      return To(v);
    else if constexpr (std::is_same_v<To, bool>)
      return v != From{};
    else
      return converted<To>(v.real());
  } else if constexpr (is_cplx<To>) {
    return To(static_cast<typename complex_part<To>::type>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From{};
  } else if constexpr (Real<From> && Integer<To>) {
    if (std::isnan(v)) return To{};
    const From t = std::trunc(v);
    if (t < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    // 2^bits, exactly, lies one above the largest value.
    if (t >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    return static_cast<To>(t);
  } else {
    return static_cast<To>(v);
  }
}
// Values that a float between would round twice go to the 16-bit type from double by way of an odd-rounded float.
template <class Half>
Half half_from_double(double v) {
  float f = static_cast<float>(v);
  if (std::isfinite(f) && static_cast<double>(f) != v) {
    std::uint32_t u;
    std::memcpy(&u, &f, 4);
    const bool away = std::fabs(static_cast<double>(f)) > std::fabs(v);
    if (away) --u;  // towards zero
    u |= 1;         // sticky
    std::memcpy(&f, &u, 4);
  }
  return Half(f);
}
void eval_convert(const Call& c) {
  with_dtype(c.in[0].type.dtype, [&]<class F>(F) {
    with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
      for (i64 i = 0; i < c.out[0].count(); ++i) {
        const F v = c.in[0].as<F>()[i];
        if constexpr (is_half<T> && (std::is_same_v<F, double> || (is_int<F> && sizeof(F) >= 4)))
          c.out[0].as<T>()[i] = half_from_double<T>(static_cast<double>(v));
        else if constexpr (std::is_same_v<F, T>)
          c.out[0].as<T>()[i] = v;
        else
          c.out[0].as<T>()[i] = T(converted<Compute<T>>(load(v)));
      }
    });
  });
}

using ops::Primitive;
constexpr Evaluator table[] = {{&ops::neg, eval_neg},
                               {&ops::abs, eval_abs},
                               {&ops::sign, eval_sign},
                               {&ops::floor, eval_floor},
                               {&ops::ceil, eval_ceil},
                               {&ops::round, eval_round},
                               {&ops::not_, eval_not},
                               {&ops::exp, eval_exp},
                               {&ops::expm1, eval_expm1},
                               {&ops::log, eval_log},
                               {&ops::log1p, eval_log1p},
                               {&ops::sqrt, eval_sqrt},
                               {&ops::rsqrt, eval_rsqrt},
                               {&ops::cbrt, eval_cbrt},
                               {&ops::sin, eval_sin},
                               {&ops::cos, eval_cos},
                               {&ops::tan, eval_tan},
                               {&ops::asin, eval_asin},
                               {&ops::acos, eval_acos},
                               {&ops::atan, eval_atan},
                               {&ops::sinh, eval_sinh},
                               {&ops::cosh, eval_cosh},
                               {&ops::tanh, eval_tanh},
                               {&ops::asinh, eval_asinh},
                               {&ops::acosh, eval_acosh},
                               {&ops::atanh, eval_atanh},
                               {&ops::logistic, eval_logistic},
                               {&ops::erf, eval_erf},
                               {&ops::erfc, eval_erfc},
                               {&ops::erf_inv, eval_erf_inv},
                               {&ops::lgamma, eval_lgamma},
                               {&ops::digamma, eval_digamma},
                               {&ops::is_finite, eval_is_finite},
                               {&ops::real, eval_real},
                               {&ops::imag, eval_imag},
                               {&ops::conj, eval_conj},
                               {&ops::stop_gradient, eval_identity},
                               {&ops::bitcast, eval_identity},
                               {&ops::integer_pow, eval_integer_pow},
                               {&ops::add, eval_add},
                               {&ops::sub, eval_sub},
                               {&ops::mul, eval_mul},
                               {&ops::div, eval_div},
                               {&ops::rem, eval_rem},
                               {&ops::pow, eval_pow},
                               {&ops::maximum, eval_maximum},
                               {&ops::minimum, eval_minimum},
                               {&ops::atan2, eval_atan2},
                               {&ops::nextafter, eval_nextafter},
                               {&ops::and_, eval_and},
                               {&ops::or_, eval_or},
                               {&ops::xor_, eval_xor},
                               {&ops::shift_left, eval_shift_left},
                               {&ops::shift_right_logical, eval_shift_right_logical},
                               {&ops::shift_right_arithmetic, eval_shift_right_arithmetic},
                               {&ops::complex, eval_complex},
                               {&ops::fma, eval_fma},
                               {&ops::compare, eval_compare},
                               {&ops::select, eval_select},
                               {&ops::clamp, eval_clamp},
                               {&ops::convert, eval_convert}};
}  // namespace

std::span<const Evaluator> elementwise_evaluators() { return table; }

}  // namespace uni::reference
