// Control flow by values: cond, switch_, while_loop, fori_loop, scan, map, associative_scan. The functions are traced
// once, whatever the number of steps, and may capture arrays of the code around them. In C++ terms these are `if`,
// `while` and `for` whose condition is an Array; an ordinary `for` inside traced code is unrolled.
#pragma once
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <unisono/transform.hpp>

namespace uni {

namespace detail {
// A traced function and the structure of its last result, without arrays.
struct Traced {
  FlatFunction call;
  FunctionRef<TreeRef()> result;
};
// The start of a loop: the arrays of a tree, and its structure without them.
template <class T>
struct StructureOf {
  explicit StructureOf(const T& of) : tree(of) { set_leaves(tree_ref(tree), Arrays(tree_leaves(of).size())); }
  T tree;
};
struct LoopStart {
  Arrays leaves;
  TreeRef structure;
};
template <class T>
LoopStart loop_start(const T& tree, const StructureOf<T>& structure) {
  return {tree_leaves(tree), tree_ref(structure.tree)};
}
Arrays flat_cond(std::string_view who, const In& index, const TreeRef& args, std::span<const Traced> branches);
Arrays flat_while(const LoopStart& init, const Traced& cond, const Traced& body, Location where);
struct LoopRange {
  std::optional<i64> length;
  bool reverse = false;
  int unroll = 1;
};
// (carry, x) -> pair(carry, y); the result of `body` is the carry.
Arrays flat_scan(const LoopStart& init, const TreeRef& xs, const Traced& body, const LoopRange& range, Location where);
// The counter of fori_loop: its bounds as arrays of one dtype, and as numbers where both are known.
struct CounterBounds {
  Array lower, upper;
  std::optional<std::pair<i64, i64>> known;
};
CounterBounds counter_bounds(const In& lower, const In& upper);
// The body takes (step, carry).
Arrays flat_fori(const CounterBounds& bounds, const LoopStart& init, const Traced& body, Location where);
Arrays flat_associative_scan(const TreeRef& xs, FlatFunction combine, bool reverse, int axis, Location where);
// Leaves cut to pieces of `size` along axis 0 as [pieces, size, ...], and what is left over.
struct Pieces {
  Arrays whole, rest;
  i64 count = 0, left = 0;
};
Pieces cut_leaves(const TreeRef& xs, i64 size, Location where);
Arrays joined_leaves(const Arrays& whole, const Arrays& rest);

template <class Adapter>
auto structure_of(const Adapter& adapter) {
  return [&adapter] { return tree_ref(*adapter.prototype()); };
}
template <class Adapter>
auto carry_structure_of(const Adapter& adapter) {
  return [&adapter] { return tree_ref(adapter.prototype()->first); };
}
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class Tuple, class... F>
auto run_cond(std::string_view who, const In& index, const Tuple& args, const F&... branches) {
  using R = Result<std::tuple_element_t<0, std::tuple<F...>>, Tuple>;
  static_assert((std::is_same_v<R, Result<F, Tuple>> && ...), "all branches must return the same type");
  std::tuple<Adapter<F, Tuple>...> adapters(Adapter<F, Tuple>(branches, args)...);
  return std::apply(
      [&](auto&... a) {
        const auto structures = std::tuple(structure_of(a)...);
        return std::apply(
            [&](const auto&... s) {
              const Traced all[] = {Traced{a, s}...};
              return std::get<0>(adapters).rebuild(flat_cond(who, index, tree_ref(args), all));
            },
            structures);
      },
      adapters);
}
}  // namespace detail

// on_true(args...) where the predicate holds, else on_false(args...). Only the branch that is taken runs; under vmap
// over the predicate both do and each lane keeps its own. predicate: bool[]. Both return the same structure, shapes and
// dtypes (a weak dtype yields). Throws DtypeError, ShapeError or TreeError naming the result that differs.
template <class T, class F, class... A>
auto cond(const In& predicate, const T& on_true, const F& on_false, const A&... args) {
  using Tuple = detail::ArgumentTuple<T, A...>;
  return detail::run_cond("cond", predicate, Tuple(args...), on_false, on_true);
}
// branches[index](args...), the index clamped to the branches. index: an integer scalar.
template <class... F, class... A>
auto switch_(const In& index, const std::tuple<F...>& branches, const A&... args) {
  using Tuple = detail::ArgumentTuple<std::tuple_element_t<0, std::tuple<F...>>, A...>;
  return std::apply([&](const auto&... f) { return detail::run_cond("switch_", index, Tuple(args...), f...); },
                    branches);
}

// carry = body(carry) while condition(carry), a bool[], holds. The carry keeps its structure, shapes and dtypes. Has
// no reverse mode, because the number of steps is unknown; forward mode and vmap work. Throws ShapeError, DtypeError or
// TreeError by path when the body changes the carry.
template <class C, class F, class T>
auto while_loop(const C& condition, const F& body, const T& init, Location where = Location::current()) {
  using Tuple = detail::ArgumentTuple<F, T>;
  using Carry = std::tuple_element_t<0, Tuple>;
  static_assert(std::is_same_v<detail::Result<F, Tuple>, Carry>, "the body must return the type of the carry");
  static_assert(std::is_same_v<detail::Result<C, Tuple>, Array>, "the condition must return an Array");
  const Tuple own(init);
  detail::Adapter<C, Tuple> test(condition, own);
  detail::Adapter<F, Tuple> step(body, own);
  const auto tested = detail::structure_of(test), stepped = detail::structure_of(step);
  const detail::StructureOf<Carry> structure(std::get<0>(own));
  return step.rebuild(
      detail::flat_while(detail::loop_start(std::get<0>(own), structure), {test, tested}, {step, stepped}, where));
}

// carry = body(i, carry) for i from lower to upper - 1. With bounds that are numbers (or Arrays with a value) the
// number of steps is known and reverse mode works; with traced bounds this is a while_loop.
template <class F, class T>
auto fori_loop(const In& lower, const In& upper, const F& body, const T& init) {
  using Tuple = detail::ArgumentTuple<F, Array, T>;
  using Carry = std::tuple_element_t<1, Tuple>;
  static_assert(std::is_same_v<detail::Result<F, Tuple>, Carry>, "the body must return the type of the carry");
  const detail::CounterBounds bounds = detail::counter_bounds(lower, upper);
  const Tuple own(bounds.lower, init);
  const detail::StructureOf<Carry> structure(std::get<1>(own));
  detail::Adapter<F, Tuple> step(body, own);
  const auto stepped = detail::structure_of(step);
  return step.rebuild(
      detail::flat_fori(bounds, detail::loop_start(std::get<1>(own), structure), {step, stepped}, lower.where()));
}

struct ScanOptions {
  std::optional<i64> length = {};  // of the loop; needed when there are no xs
  Flag reverse = false;            // from the last step to the first; ys keep their places
  int unroll = 1;                  // steps per turn of the compiled loop; the results do not change
};
// (carry, y) = f(carry, x) for each x along axis 0 of all arrays of xs; returns the last carry and all y, stacked along
// axis 0. The carry keeps its structure, shapes and dtypes. Throws ShapeError when the sizes of axis 0 differ, and as
// while_loop does for the carry.
template <class F, class T, class X>
auto scan(const F& f, const T& init, const X& xs, ScanOptions options = {}, Location where = Location::current()) {
  using Tuple = detail::ArgumentTuple<F, T, X>;
  using R = detail::Result<F, Tuple>;
  static_assert(detail::is_pair<R>, "the body of a scan must return a pair of the carry and an output");
  using Carry = std::tuple_element_t<0, Tuple>;
  static_assert(std::is_same_v<typename R::first_type, Carry>, "the body must return the type of the carry first");
  const Tuple own(init, xs);
  const detail::StructureOf<Carry> structure(std::get<0>(own));
  detail::Adapter<F, Tuple> step(f, own);
  const auto carry = detail::carry_structure_of(step);
  return step.rebuild(detail::flat_scan(detail::loop_start(std::get<0>(own), structure),
                                        detail::tree_ref(std::get<1>(own)), {step, carry},
                                        {options.length, options.reverse, options.unroll}, where));
}
// The same without xs: (carry, y) = f(carry), options.length times.
template <class F, class T>
auto scan(const F& f, const T& init, ScanOptions options, Location where = Location::current()) {
  const auto without_x = [&](const auto& carry, const std::tuple<>&) { return f(carry); };
  using Carry = std::tuple_element_t<0, detail::ArgumentTuple<F, T>>;
  return scan(without_x, Carry(init), std::tuple<>(), options, where);
}

struct MapOptions {
  std::optional<i64> batch_size = {};  // so many at a time, by vmap; the default is one by one
};
// f(x) for each x along axis 0 of the arrays of xs, one after another, stacked: vmap with less memory.
template <class F, class X>
auto map(const F& f, const X& xs, MapOptions options = {}, Location where = Location::current()) {
  const auto each = [](const auto& g) {
    return [&g](const std::tuple<>& nothing, const auto& x) { return std::pair{nothing, g(x)}; };
  };
  if (!options.batch_size) return scan(each(f), std::tuple<>(), xs, {}, where).second;
  const auto many = vmap(f);
  const detail::Pieces pieces = detail::cut_leaves(detail::tree_ref(xs), *options.batch_size, where);
  if (pieces.count == 0) return many(xs);
  const auto whole = scan(each(many), std::tuple<>(), tree_unflatten(xs, pieces.whole), {}, where).second;
  const Arrays rest = pieces.left ? tree_leaves(many(tree_unflatten(xs, pieces.rest))) : Arrays();
  return tree_unflatten(whole, detail::joined_leaves(tree_leaves(whole), rest));
}

struct AssociativeScanOptions {
  Flag reverse = false;
  int axis = 0;
};
// All prefix results of an associative combine(earlier, later), which must work on whole arrays at once: y[0] = x[0],
// y[i] = combine(y[i - 1], x[i]), in a number of calls that grows with the logarithm of the size.
template <class F, class X>
X associative_scan(const F& combine, const X& xs, AssociativeScanOptions options = {},
                   Location where = Location::current()) {
  const auto flat = [&](std::span<const Array> leaves) {
    const std::size_t half = leaves.size() / 2;
    X earlier = xs, later = xs;
    detail::set_leaves(detail::tree_ref(earlier), leaves.first(half));
    detail::set_leaves(detail::tree_ref(later), leaves.subspan(half));
    const X result = combine(earlier, later);
    return tree_leaves(result);
  };
  return tree_unflatten(
      xs, detail::flat_associative_scan(detail::tree_ref(xs), flat, options.reverse, options.axis, where));
}

}  // namespace uni
