// The edge between user functions over trees and the library's functions over lists of arrays. Templates end here.
#pragma once
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <unisono/detail/tree_type.hpp>
#include <unisono/mesh.hpp>
#include <unisono/tree.hpp>

namespace uni::detail {

// An arithmetic argument becomes a (weakly typed) Array wherever the callable accepts an Array there.
template <class F, class... A>
struct ArgumentTypes {
  template <std::size_t I>
  static consteval bool traced() {
    using T = std::tuple_element_t<I, std::tuple<A...>>;
    if constexpr (!std::is_arithmetic_v<T>)
      return false;
    else
      return []<std::size_t... J>(std::index_sequence<J...>) {
        return std::is_invocable_v<const F&, const std::conditional_t<I == J, Array, A>&...>;
      }
    (std::index_sequence_for<A...>{});
  }
  template <std::size_t I>
  using type = std::conditional_t<traced<I>(), Array, std::tuple_element_t<I, std::tuple<A...>>>;
  template <std::size_t... I>
  static std::tuple<type<I>...> tuple_of(std::index_sequence<I...>);
  using tuple = decltype(tuple_of(std::index_sequence_for<A...>{}));
};
template <class F, class... A>
using ArgumentTuple = typename ArgumentTypes<F, std::remove_cvref_t<A>...>::tuple;
template <class F, class T>
struct ArgumentsOfTuple;
template <class F, class... A>
struct ArgumentsOfTuple<F, std::tuple<A...>> {
  using type = ArgumentTuple<F, A...>;
};
template <class F, class Tuple>
using ArgumentsOf = typename ArgumentsOfTuple<F, Tuple>::type;
template <class F, class Tuple>
struct ResultOf;
template <class F, class... A>
struct ResultOf<F, std::tuple<A...>> {
  static_assert(std::is_invocable_v<const F&, const A&...>,
                "the function cannot be called with these arguments (as const values; numbers count as Arrays where an "
                "Array is accepted)");
  using type = std::remove_cvref_t<std::invoke_result_t<const F&, const A&...>>;
  static_assert(!std::is_void_v<type>, "a transformed function must return its results, void has none");
};
template <class F, class Tuple>
using Result = typename ResultOf<F, Tuple>::type;

// Lists of arrays in, lists of arrays out: what the library calls back.
using FlatFunction = FunctionRef<Arrays(std::span<const Array>)>;

// Argument trees, with names for messages: args[0], args[1], ...
struct FlatArguments {
  std::span<const TreeRef> trees;
  std::span<const std::uint8_t> rvalues = {};  // by argument: passed as an rvalue
};

// Arguments as they are kept during a call: lvalues by reference, rvalues and numbers that are traced by value.
template <class F, class... A>
struct Stored {
  template <std::size_t I>
  using type = std::conditional_t<std::is_lvalue_reference_v<std::tuple_element_t<I, std::tuple<A&&...>>> &&
                                      !ArgumentTypes<F, std::remove_cvref_t<A>...>::template traced<I>(),
                                  const std::remove_cvref_t<std::tuple_element_t<I, std::tuple<A...>>>&,
                                  std::tuple_element_t<I, ArgumentTuple<F, A...>>>;
  template <std::size_t... I>
  static std::tuple<type<I>...> tuple_of(std::index_sequence<I...>);
  using tuple = decltype(tuple_of(std::index_sequence_for<A...>{}));
};
template <class F, class... A>
using StoredTuple = typename Stored<F, A...>::tuple;

// Calls f on copies of the arguments with other leaves; keeps the last result as a prototype.
template <class F, class Tuple, class Store = Tuple>
class Adapter {
 public:
  using R = Result<F, Tuple>;
  Adapter(const F& f, const Store& args) : f_(f), args_(args) {}
  Arrays operator()(std::span<const Array> leaves) {
    Tuple local(args_);
    set_leaves(tree_ref(local), leaves);
    auto result = std::make_shared<R>(std::apply([&](const auto&... a) { return f_(a...); }, local));
    Arrays out = tree_leaves(*result);
    std::vector<Array*> slots;
    collect_leaves(tree_ref(*result), slots);
    for (Array* slot : slots)
      if (slot->defined()) *slot = Array();
    prototype_ = std::move(result);
    return out;
  }
  // The result's structure with empty leaves.
  const std::shared_ptr<const R>& prototype() const { return prototype_; }
  R rebuild(std::span<const Array> leaves) const { return rebuild_from(*prototype_, leaves); }
  static R rebuild_from(const R& prototype, std::span<const Array> leaves) {
    R out = prototype;
    set_leaves(tree_ref(out), leaves);
    return out;
  }

 private:
  const F& f_;
  const Store& args_;
  std::shared_ptr<const R> prototype_;
};

template <class Tuple>
auto argument_refs(const Tuple& args) {
  return std::apply([](const auto&... a) { return std::array<TreeRef, sizeof...(a)>{tree_ref(a)...}; }, args);
}

// A transformed callable is opaque: it is no tree, although it may be an aggregate.
#define UNISONO_CALLABLE using unisono_callable = void

}  // namespace uni::detail
