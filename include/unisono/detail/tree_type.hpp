// One erased descriptor per type. A tree is an Array, a plain aggregate, or a standard container of trees; numbers,
// enums, strings and callables in it are static.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <unisono/array.hpp>
#include <unisono/detail/handle.hpp>
#include <unisono/detail/reflect.hpp>

namespace uni::detail {

enum class TreeKind : std::uint8_t { leaf, fixed, node };
struct TreeType;
using TreeVisit = FunctionRef<void(std::string_view name, const TreeType& type, void* value)>;
struct TreeType {
  TreeKind kind;
  void (*each)(void* node, const TreeVisit& visit);             // children of a node, in order
  void (*key)(std::string& out, const void* fixed);             // what distinguishes a static value
  void (*shape)(std::string& out, const void* node) = nullptr;  // what distinguishes a node beside its children
};

template <class T>
struct is_std_vector : std::false_type {};
template <class T, class A>
struct is_std_vector<std::vector<T, A>> : std::true_type {};
template <class T>
struct is_std_optional : std::false_type {};
template <class T>
struct is_std_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_std_map : std::false_type {};
template <class K, class V, class C, class A>
struct is_std_map<std::map<K, V, C, A>> : std::true_type {};
template <class T>
struct is_std_tuple : std::false_type {};
template <class... T>
struct is_std_tuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct is_std_tuple<std::pair<A, B>> : std::true_type {};
template <class T, std::size_t N>
struct is_std_tuple<std::array<T, N>> : std::true_type {};
template <class T>
struct is_std_array : std::false_type {};
template <class T, std::size_t N>
struct is_std_array<std::array<T, N>> : std::true_type {};

// A class that is no aggregate opts in: `static auto tree_fields(auto& self) { return std::tie(self.a_); }` and
// `static constexpr std::string_view tree_names[] = {"a"};`
template <class T>
concept HasTreeFields = requires(T& t) {
  T::tree_fields(t);
  T::tree_names;
};
template <class T>
concept OpaqueCallable = requires {
  typename T::unisono_callable;
};
template <class T>
inline constexpr bool is_fixed =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> ||
    std::is_same_v<T, std::string_view> || std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
    std::is_same_v<T, std::nullopt_t> || std::is_same_v<T, std::vector<bool>> || std::is_same_v<T, Flag> ||
    std::is_empty_v<T> || OpaqueCallable<T>;

template <class T>
struct OnlyBaseOf {
  template <class U>
  requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>) constexpr operator U() const noexcept;
};
template <class T>
inline constexpr bool has_base = requires {
  T{OnlyBaseOf<T>{}};
};
// {} initialises one member each, a C array as a whole; values reach into the array (brace elision).
template <class T, std::size_t N, bool ThenValue = false>
consteval bool takes_braces() {
#define UNISONO_BRACES(n, ...)                                   \
  else if constexpr (N == n) {                                   \
    if constexpr (ThenValue) return requires {                   \
        T{__VA_ARGS__ __VA_OPT__(, ) std::declval<AnyBut<T>>()}; \
      };                                                         \
    else                                                         \
      return requires { T{__VA_ARGS__}; };                       \
  }
  if constexpr (N > 8) {
    return true;
  }
  UNISONO_BRACES(1, {})
  UNISONO_BRACES(2, {}, {})
  UNISONO_BRACES(3, {}, {}, {})
  UNISONO_BRACES(4, {}, {}, {}, {})
  UNISONO_BRACES(5, {}, {}, {}, {}, {})
  UNISONO_BRACES(6, {}, {}, {}, {}, {}, {})
  UNISONO_BRACES(7, {}, {}, {}, {}, {}, {}, {})
  UNISONO_BRACES(8, {}, {}, {}, {}, {}, {}, {}, {})
#undef UNISONO_BRACES
  return true;
}
// True when k members take {} and there is no further member, yet more than k values fit: a member is a C array.
// Looks at the first eight members.
template <class T, std::size_t K = 1>
consteval bool has_c_array() {
  if constexpr (K > 8 || K >= field_count<T>())
    return false;
  else if constexpr (!takes_braces<T, K>())
    return false;
  else if constexpr (!takes_braces<T, K, true>())
    return true;
  else
    return has_c_array<T, K + 1>();
}

template <class T>
void append_fixed(std::string& out, const T& value) {
  if constexpr (std::is_empty_v<T> || OpaqueCallable<T>) {
    (void)out;
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    out += std::to_string(value.size());
    out += ':';
    out += value;
  } else if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>) {
    if (value)
      append_fixed(out, std::string_view(value));
    else
      out += '0';
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    out += std::to_string(value.size());
    for (const bool b : value) out += b ? '+' : '-';
  } else if constexpr (std::is_same_v<T, long double> && __LDBL_MANT_DIG__ == 64) {
    out.append(reinterpret_cast<const char*>(&value), 10);  // the rest is padding
  } else {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

template <class T>
struct TreeOf;
template <class T>
inline constexpr const TreeType& tree_type = TreeOf<T>::type;

inline std::string_view index_name(std::size_t i, char (&buffer)[24]) {
  std::size_t at = 24;
  do buffer[--at] = static_cast<char>('0' + i % 10);
  while (i /= 10);
  return {buffer + at, 24 - at};
}

template <class T, class Fields, class Name>
void each_field(T&, const Fields& fields, const TreeVisit& visit, Name name) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(name(std::integral_constant<std::size_t, I>{}),
           tree_type<std::remove_cvref_t<std::tuple_element_t<I, Fields>>>,
           const_cast<void*>(static_cast<const void*>(std::addressof(std::get<I>(fields))))),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Fields>>{});
}

template <class T>
void each_child(void* node, const TreeVisit& visit) {
  T& value = *static_cast<T*>(node);
  char buffer[24];
  if constexpr (is_std_vector<T>::value || is_std_array<T>::value) {
    std::size_t i = 0;
    for (auto& item : value) visit(index_name(i++, buffer), tree_type<typename T::value_type>, &item);
  } else if constexpr (is_std_optional<T>::value) {
    if (value) visit("", tree_type<typename T::value_type>, &*value);
  } else if constexpr (is_std_map<T>::value) {
    for (auto& [k, v] : value) {
      if constexpr (std::is_convertible_v<const typename T::key_type&, std::string_view>)
        visit(k, tree_type<typename T::mapped_type>, &v);
      else
        visit(std::to_string(k), tree_type<typename T::mapped_type>, &v);
    }
  } else if constexpr (is_std_tuple<T>::value) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(index_name(I, buffer), tree_type<std::tuple_element_t<I, T>>, &std::get<I>(value)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (HasTreeFields<T>) {
    each_field(value, T::tree_fields(value), visit, [](auto i) { return T::tree_names[i]; });
  } else {
    each_field(value, tie_fields(value), visit, [](auto i) { return field_name<T, i>(); });
  }
}

template <class T>
void append_shape(std::string& out, const void* node) {
  const T& value = *static_cast<const T*>(node);
  if constexpr (is_std_vector<T>::value || is_std_map<T>::value) (out += std::to_string(value.size())) += ':';
  if constexpr (is_std_optional<T>::value) out += value ? '+' : '-';
  if constexpr (is_std_map<T>::value)
    for (const auto& [k, v] : value) append_fixed(out, k);
}

// What to say of a type that is no tree.
template <class T>
consteval void check_tree() {
  static_assert(!std::is_array_v<T>, "a C array cannot be part of a tree: use std::array");
  static_assert(
      std::is_aggregate_v<T>,
      "this type is no tree: use a plain aggregate struct of Arrays, numbers, strings and containers of them");
  static_assert(!has_c_array<T>(), "a struct with a C array cannot be a tree: use std::array");
  static_assert(!initialisable_by<T>(std::make_index_sequence<max_fields + 1>{}),
                "a struct of more than 64 fields cannot be a tree: group them in structs");
  static_assert(!has_base<T>, "a struct with a base class cannot be a tree: make the base a field");
}

template <class T>
struct TreeOf {
  static constexpr TreeType make() {
    if constexpr (std::is_same_v<T, Array>) {
      return {TreeKind::leaf, nullptr, nullptr};
    } else if constexpr (is_fixed<T>) {
      return {TreeKind::fixed, nullptr,
              [](std::string& out, const void* v) { append_fixed(out, *static_cast<const T*>(v)); }};
    } else {
      if constexpr (!is_std_vector<T>::value && !is_std_optional<T>::value && !is_std_map<T>::value &&
                    !is_std_tuple<T>::value && !HasTreeFields<T>)
        check_tree<T>();
      return {TreeKind::node, &each_child<T>, nullptr, &append_shape<T>};
    }
  }
  static constexpr TreeType type = make();
};

// A value seen as a tree.
struct TreeRef {
  const TreeType* type = nullptr;
  void* object = nullptr;
};
template <class T>
TreeRef tree_ref(const T& value) {
  return {&tree_type<T>, const_cast<void*>(static_cast<const void*>(std::addressof(value)))};
}

// The leaves in order.
void collect_leaves(const TreeRef& tree, std::vector<Array*>& out);
// Structure and static values: equal keys mean that a trace can be reused. Leaves are marked, not described.
void append_structure(const TreeRef& tree, std::string& out);
// "model.blocks.3.w" for every leaf; `root` is the path of the tree itself.
std::vector<std::string> leaf_paths(const TreeRef& tree, std::string_view root);
// Replaces the leaves in order; throws InternalError for a wrong count.
void set_leaves(const TreeRef& tree, std::span<const Array> leaves);
// Where the structures of two trees first differ, as text; empty when they agree.
std::string explain_mismatch(const TreeRef& a, const TreeRef& b, std::string_view root);

}  // namespace uni::detail
