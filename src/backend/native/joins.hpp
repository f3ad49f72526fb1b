// How reductions and running totals join two values.
#pragma once
#include "backend/native/pointwise_math.hpp"

namespace uni::native {

struct SumOf {
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool> && !std::is_same_v<T, KeyWords>;
  template <class T>
  static T start() {
    return T{};
  }
  template <class T>
  static T join(T a, T b) {
    return plus(a, b);
  }
};
struct ProductOf {
  template <class T>
  static constexpr bool takes = SumOf::takes<T>;
  template <class T>
  static T start() {
    if constexpr (is_complex_like<T>)
      return {1, 0};
    else
      return T(1);
  }
  template <class T>
  static T join(T a, T b) {
    return times(a, b);
  }
};
template <class T>
inline constexpr bool has_order = !is_complex_like<T> && !std::is_same_v<T, KeyWords>;
struct MaxOf {
  template <class T>
  static constexpr bool takes = has_order<T>;
  template <class T>
  static T start() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::lowest();
  }
  template <class T>
  static T join(T a, T b) {
    return max_of(a, b);
  }
};
struct MinOf {
  template <class T>
  static constexpr bool takes = has_order<T>;
  template <class T>
  static T start() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static T join(T a, T b) {
    return min_of(a, b);
  }
};

}  // namespace uni::native
