// Pointwise kernels with several dtypes, parameters or three operands.
#include <unordered_map>

#include "backend/native/f32_loops.hpp"
#include "backend/native/pointwise_math.hpp"
#include "backend/native/pointwise_table.hpp"
#include "ops/elementwise.hpp"

namespace uni::native {

namespace {
template <class T>
const T* operand(const FlatArgs& a, int i) {
  return reinterpret_cast<const T*>(a.in[i]);
}
template <class T>
T* result(const FlatArgs& a) {
  return reinterpret_cast<T*>(a.out);
}

template <class T>
void abs_loop(const FlatArgs& a) {
  const T* x = operand<T>(a, 0);
  if constexpr (is_complex_like<T>) {
    for (i64 i = 0; i < a.count; ++i) result<Real<T>>(a)[i] = std::abs(to_std(x[i]));
  } else if constexpr (is_float_like<T>) {
    for (i64 i = 0; i < a.count; ++i) result<T>(a)[i] = T(std::fabs(static_cast<Work<T>>(x[i])));
  } else if constexpr (is_int_like<T>) {
    for (i64 i = 0; i < a.count; ++i)
      result<T>(a)[i] = x[i] < T(0) ? static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(x[i])) : x[i];
  }
}
FlatFn choose_abs(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return abs_loop<T>; });
}

void copy_loop(const FlatArgs& a, std::size_t size) {
  std::memmove(a.out, a.in[0], static_cast<std::size_t>(a.count) * size);
}
template <std::size_t Size>
void copy_sized(const FlatArgs& a) {
  copy_loop(a, Size);
}
FlatFn choose_copy(std::span<const ir::Type>, const ir::Type& out) {
  switch (itemsize(out.dtype)) {
    case 1:
      return copy_sized<1>;
    case 2:
      return copy_sized<2>;
    case 4:
      return copy_sized<4>;
    case 8:
      return copy_sized<8>;
    default:
      return copy_sized<16>;
  }
}

template <class T>
void finite_loop(const FlatArgs& a) {
  const T* x = operand<T>(a, 0);
  for (i64 i = 0; i < a.count; ++i) {
    if constexpr (is_complex_like<T>)
      result<bool>(a)[i] = std::isfinite(x[i].re) && std::isfinite(x[i].im);
    else if constexpr (is_float_like<T>)
      result<bool>(a)[i] = std::isfinite(static_cast<Work<T>>(x[i]));
  }
}
FlatFn choose_finite(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return finite_loop<T>; });
}

template <class T, bool Imaginary>
void part_loop(const FlatArgs& a) {
  if constexpr (is_complex_like<T>)
    for (i64 i = 0; i < a.count; ++i) {
      const T z = operand<T>(a, 0)[i];
      result<Real<T>>(a)[i] = Imaginary ? z.im : z.re;
    }
}
FlatFn choose_real(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return part_loop<T, false>; });
}
FlatFn choose_imag(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return part_loop<T, true>; });
}
template <class T>
void complex_loop(const FlatArgs& a) {
  if constexpr (is_complex_like<T>)
    for (i64 i = 0; i < a.count; ++i) result<T>(a)[i] = {operand<Real<T>>(a, 0)[i], operand<Real<T>>(a, 1)[i]};
}
FlatFn choose_complex(std::span<const ir::Type>, const ir::Type& out) {
  return dispatch(out.dtype, []<class T>(T) -> FlatFn { return complex_loop<T>; });
}

template <class T>
void integer_pow_loop(const FlatArgs& a) {
  if constexpr (is_float_like<T> || is_int_like<T> || is_complex_like<T>) {
    const int n = a.params.as<ops::IntegerPow>().exponent;
    for (i64 i = 0; i < a.count; ++i) result<T>(a)[i] = T(power_of(static_cast<Work<T>>(operand<T>(a, 0)[i]), n));
  }
}
FlatFn choose_integer_pow(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return integer_pow_loop<T>; });
}

template <class T>
void nextafter_loop(const FlatArgs& a) {
  if constexpr (std::is_floating_point_v<T>) {
    for (i64 i = 0; i < a.count; ++i) result<T>(a)[i] = std::nextafter(operand<T>(a, 0)[i], operand<T>(a, 1)[i]);
  } else if constexpr (is_small_float<T>) {
    for (i64 i = 0; i < a.count; ++i) {
      T x = operand<T>(a, 0)[i];
      const T y = operand<T>(a, 1)[i];
      const float fx = x, fy = y;
      if (fx != fx || fy != fy) {
        x = T(fx + fy);
      } else if (fx == fy) {
        x = y;
      } else if (fx == 0) {
        x.bits = static_cast<std::uint16_t>(fy < 0 ? 0x8001 : 1);
      } else {
        x.bits = static_cast<std::uint16_t>((fy > fx) == (fx > 0) ? x.bits + 1 : x.bits - 1);
      }
      result<T>(a)[i] = x;
    }
  }
}
FlatFn choose_nextafter(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return nextafter_loop<T>; });
}

template <class T>
void fma_loop(const FlatArgs& a) {
  const T *x = operand<T>(a, 0), *y = operand<T>(a, 1), *z = operand<T>(a, 2);
  if constexpr (std::is_floating_point_v<T>)
    for (i64 i = 0; i < a.count; ++i) result<T>(a)[i] = std::fma(x[i], y[i], z[i]);
  else if constexpr (is_small_float<T>)
    for (i64 i = 0; i < a.count; ++i) {
      const double product = static_cast<double>(static_cast<float>(x[i])) * static_cast<float>(y[i]);  // exact
      result<T>(a)[i] = T(odd_rounded(odd_sum(product, static_cast<float>(z[i]))));
    }
}
FlatFn choose_fma(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return fma_loop<T>; });
}

template <class T, class Test>
void compare_with(const FlatArgs& a, Test test) {
  const T *x = operand<T>(a, 0), *y = operand<T>(a, 1);
  bool* r = result<bool>(a);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) r[i] = test(static_cast<Work<T>>(x[i]), static_cast<Work<T>>(y[i]));
}
template <class T>
void compare_loop(const FlatArgs& a) {
  using D = ops::Compare::Direction;
  const D d = a.params.as<ops::Compare>().direction;
  if constexpr (is_complex_like<T>) {
    compare_with<T>(a, [d](T x, T y) { return (x.re == y.re && x.im == y.im) == (d == D::eq); });
  } else if constexpr (std::is_same_v<T, KeyWords>) {
    compare_with<T>(a, [d](T x, T y) { return (x.a == y.a && x.b == y.b) == (d == D::eq); });
  } else {
    using W = Work<T>;
    switch (d) {
      case D::eq:
        return compare_with<T>(a, [](W x, W y) { return x == y; });
      case D::ne:
        return compare_with<T>(a, [](W x, W y) { return x != y; });
      case D::lt:
        return compare_with<T>(a, [](W x, W y) { return x < y; });
      case D::le:
        return compare_with<T>(a, [](W x, W y) { return x <= y; });
      case D::gt:
        return compare_with<T>(a, [](W x, W y) { return x > y; });
      case D::ge:
        return compare_with<T>(a, [](W x, W y) { return x >= y; });
    }
  }
}
FlatFn choose_compare(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return compare_loop<T>; });
}

template <class T>
void select_loop(const FlatArgs& a) {
  const bool* p = operand<bool>(a, 0);
  const T *x = operand<T>(a, 1), *y = operand<T>(a, 2);
  T* r = result<T>(a);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) r[i] = p[i] ? x[i] : y[i];
}
FlatFn choose_select(std::span<const ir::Type>, const ir::Type& out) {
  switch (itemsize(out.dtype)) {
    case 1:
      return select_loop<std::uint8_t>;
    case 2:
      return select_loop<std::uint16_t>;
    case 4:
      return select_loop<std::uint32_t>;
    case 8:
      return select_loop<std::uint64_t>;
    default:
      return select_loop<C128>;
  }
}

template <class T>
void clamp_loop(const FlatArgs& a) {
  if constexpr (is_float_like<T> || std::is_integral_v<T>) {
    const T *low = operand<T>(a, 0), *x = operand<T>(a, 1), *high = operand<T>(a, 2);
    for (i64 i = 0; i < a.count; ++i) {
      using W = Work<T>;
      result<T>(a)[i] = T(min_of(max_of(static_cast<W>(x[i]), static_cast<W>(low[i])), static_cast<W>(high[i])));
    }
  }
}
FlatFn choose_clamp(std::span<const ir::Type> in, const ir::Type&) {
  return dispatch(in[0].dtype, []<class T>(T) -> FlatFn { return clamp_loop<T>; });
}

template <class From, class To>
void convert_loop(const FlatArgs& a) {
  const From* x = operand<From>(a, 0);
  To* y = result<To>(a);
#pragma GCC ivdep
  for (i64 i = 0; i < a.count; ++i) {
    if constexpr (std::is_same_v<From, To>)
      y[i] = x[i];
    else if constexpr (is_small_float<To> && std::is_same_v<From, C128>)
      y[i] = To(odd_rounded(x[i].re));
    else if constexpr (is_small_float<To> && is_int_like<From> && sizeof(From) == 8)
      y[i] = To(odd_rounded(odd_integer(x[i])));
    else if constexpr (is_small_float<To> && (std::is_same_v<From, double> || (is_int_like<From> && sizeof(From) > 2)))
      y[i] = To(odd_rounded(static_cast<double>(x[i])));
    else
      y[i] = To(convert_value<Work<To>>(static_cast<Work<From>>(x[i])));
  }
}
FlatFn choose_convert(std::span<const ir::Type> in, const ir::Type& out) {
  return dispatch(in[0].dtype, [&]<class From>(From) -> FlatFn {
    return dispatch(out.dtype, []<class To>(To) -> FlatFn { return convert_loop<From, To>; });
  });
}

constexpr PointwiseRow rows[] = {{&ops::abs, choose_abs},
                                 {&ops::stop_gradient, choose_copy},
                                 {&ops::bitcast, choose_copy},
                                 {&ops::is_finite, choose_finite},
                                 {&ops::real, choose_real},
                                 {&ops::imag, choose_imag},
                                 {&ops::complex, choose_complex},
                                 {&ops::integer_pow, choose_integer_pow},
                                 {&ops::nextafter, choose_nextafter},
                                 {&ops::fma, choose_fma},
                                 {&ops::compare, choose_compare},
                                 {&ops::select, choose_select},
                                 {&ops::clamp, choose_clamp},
                                 {&ops::convert, choose_convert}};
}  // namespace

std::span<const PointwiseRow> mixed_rows() { return rows; }

FlatFn pointwise_kernel(const ir::Op& op, const ir::Params& params, std::span<const ir::Type> in, const ir::Type& out) {
  if (!in.empty() && in.back().dtype == Dtype::f32)
    if (const FlatFn fast = f32_loop(op, params)) return fast;
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, const PointwiseRow*>;
    for (const auto family : {uniform_rows(), mixed_rows()})
      for (const PointwiseRow& row : family) all->emplace(row.op, &row);
    return all;
  }();
  const auto it = table->find(&op);
  return it == table->end() ? nullptr : it->second->choose(in, out);
}

}  // namespace uni::native
