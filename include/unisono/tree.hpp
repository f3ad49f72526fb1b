// Trees: plain structs and containers of Arrays.
#pragma once
#include <concepts>
#include <string>
#include <vector>

#include <unisono/detail/tree_type.hpp>

namespace uni {

namespace detail {
[[noreturn]] void throw_tree_mismatch(std::string_view who, const TreeRef& first, const TreeRef& other, int position);
}

// The arrays of a tree, in order of fields.
template <class T>
Arrays tree_leaves(const T& tree) {
  std::vector<Array*> slots;
  detail::collect_leaves(detail::tree_ref(tree), slots);
  Arrays out;
  for (const Array* a : slots) out.push_back(*a);
  return out;
}
// Paths of the arrays: "hidden.w", "blocks.3.attn.w".
template <class T>
std::vector<std::string> tree_paths(const T& tree) {
  return detail::leaf_paths(detail::tree_ref(tree), "");
}
// A copy of the tree with its arrays replaced, in order.
template <class T>
T tree_unflatten(const T& like, const Arrays& leaves) {
  T out = like;
  detail::set_leaves(detail::tree_ref(out), leaves);
  return out;
}
// f applied to corresponding arrays of trees of one structure; static values are taken from the first. Throws TreeError
// naming the path where structures differ.
template <class F, class T, class... Rest>
requires(std::same_as<T, Rest>&&...) T tree_map(const F& f, const T& tree, const Rest&... rest) {
  T out = tree;
  std::vector<Array*> slots;
  detail::collect_leaves(detail::tree_ref(out), slots);
  const std::vector<Arrays> others{tree_leaves(rest)...};
  [[maybe_unused]] int position = 1;
  [[maybe_unused]] const auto check = [&](const auto& other) {
    std::string a, b;
    detail::append_structure(detail::tree_ref(tree), a);
    detail::append_structure(detail::tree_ref(other), b);
    if (a != b) detail::throw_tree_mismatch("tree_map", detail::tree_ref(tree), detail::tree_ref(other), position);
    ++position;
  };
  (check(rest), ...);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]->defined()) continue;
    [&]<std::size_t... I>(std::index_sequence<I...>) { *slots[i] = f(*slots[i], others[I][i]...); }
    (std::make_index_sequence<sizeof...(Rest)>{});
  }
  return out;
}

}  // namespace uni
