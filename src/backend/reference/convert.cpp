// Conversion between dtypes.
#include <cmath>
#include <limits>

#include "backend/reference/eval.hpp"
#include "backend/reference/rounding.hpp"
#include "ops/elementwise.hpp"

namespace uni::reference {

namespace {
template <Integer To, std::floating_point From>
To saturated(From v) {
  if (std::isnan(v)) return To{};
  const From t = std::trunc(v);
  if (t < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  // 2^digits, a float exactly, lies one above the largest value.
  if (t >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
  return static_cast<To>(t);
}

template <class To, class From>
To converted(From v) {
  if constexpr (std::same_as<To, From>)
    return v;
  else if constexpr (Half<From>)
    return converted<To>(static_cast<float>(v));
  else if constexpr (std::same_as<To, bool>)
    return v != From{};
  else if constexpr (ComplexNumber<From> && ComplexNumber<To>)
    return To(v);
  else if constexpr (ComplexNumber<From>)
    return converted<To>(v.real());
  else if constexpr (ComplexNumber<To>)
    return To(converted<typename To::value_type>(v));
  else if constexpr (Half<To> && std::same_as<From, double>)
    return To(odd_float(v));
  else if constexpr (Half<To> && Integer<From>)
    return To(odd_float(odd_double(v)));
  else if constexpr (Half<To>)
    return To(static_cast<float>(v));
  else if constexpr (Integer<To> && std::floating_point<From>)
    return saturated<To>(v);
  else
    return static_cast<To>(v);
}

void eval_convert(const Call& c) {
  with_dtype(
      c.eqn, c.in[0].type.dtype, [&]<class From>(From) requires(!std::same_as<From, Key>) {
        with_dtype(
            c.eqn, c.out[0].type.dtype, [&]<class To>(To) requires(!std::same_as<To, Key>) {
              for (i64 i = 0; i < c.out[0].count(); ++i) c.out[0].as<To>()[i] = converted<To>(c.in[0].as<From>()[i]);
            });
      });
}
constexpr Evaluator table[] = {{&ops::convert, eval_convert},
                               {&ops::bitcast, [](const Call& c) { copy_all(c.in[0], c.out[0]); }}};
}  // namespace

std::span<const Evaluator> convert_evaluators() { return table; }

}  // namespace uni::reference
