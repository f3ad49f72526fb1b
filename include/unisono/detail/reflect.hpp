// Reflection of plain aggregates for g++ and clang in C++20, to 64 fields: fields are counted by brace initialisation,
// tied by structured bindings (reflect_ladder.inc) and named from the pretty name of a pointer to them.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace uni::detail {

template <class Self>
struct AnyBut {  // converts to everything but Self, so that T{any} never means a copy of T
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Self>) constexpr operator T() const noexcept;
};
template <class T, std::size_t... I>
consteval bool initialisable_by(std::index_sequence<I...>) {
  return requires { T{((void)I, std::declval<AnyBut<T>>())...}; };
}
template <class T, std::size_t Low, std::size_t High>  // Low fields are possible, High are not
consteval std::size_t count_between() {
  if constexpr (High - Low <= 1) {
    return Low;
  } else {
    constexpr std::size_t middle = (Low + High) / 2;
    if constexpr (initialisable_by<T>(std::make_index_sequence<middle>{}))
      return count_between<T, middle, High>();
    else
      return count_between<T, Low, middle>();
  }
}
inline constexpr std::size_t max_fields = 64;
template <class T>
consteval std::size_t field_count() {
  if constexpr (std::is_empty_v<T>)
    return 0;
  else
    return count_between<T, 0, max_fields + 1>();
}

#include <unisono/detail/reflect_ladder.inc>

template <class T>
struct Holder {
  T value;
  Holder() = delete;
};
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
template <class T>
extern const Holder<T> external_object;
template <auto P>
consteval std::string_view pretty() {
  return __PRETTY_FUNCTION__;
}
template <class T>
struct PointerBox {
  T* p;
};
template <class T>
PointerBox(T*) -> PointerBox<T>;
template <class T, std::size_t I>
consteval std::string_view field_name() {
  // "... [with auto P = PointerBox<...>{(& external_object<T>.Holder<T>::value.T::name)}; ..."
  constexpr std::string_view text =
      pretty<PointerBox{std::addressof(std::get<I>(tie_fields(external_object<T>.value)))}>();
  constexpr std::size_t end = text.find(")}");
  constexpr std::size_t begin = text.rfind("::", end);
  return text.substr(begin + 2, end - begin - 2);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace uni::detail
