// Function transformations: grad, value_and_grad, vjp, jvp, linearize, vmap, custom derivative rules, make_program,
// eval_shape. Arguments and results are trees.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unisono/detail/edge.hpp>

namespace uni {

// An axis, or none (or std::nullopt): not mapped.
class AxisSpec : public std::optional<int> {
 public:
  using std::optional<int>::optional;
  AxisSpec(None) {}
};

namespace detail {
// Results of the flat functions behind the templates below.
struct FlatGrad {
  Arrays values, gradients;
};
struct GradCall {
  std::string_view who;
  std::vector<TreeRef> active;  // the arguments to differentiate
  std::vector<std::string> names;
  bool allow_int = false;
};
FlatGrad flat_value_and_grad(const GradCall& call, FlatFunction f);

class FlatPullback;  // a linear map and its residuals
struct FlatVjp {
  Arrays values;
  std::shared_ptr<const FlatPullback> pullback;
};
FlatVjp flat_vjp(const TreeRef& args, FlatFunction f);
Arrays pull_back(const FlatPullback& p, const TreeRef& cotangents);
Arrays push_forward(const FlatPullback& p, const TreeRef& tangents);
struct FlatJvp {
  Arrays values, tangents;
};
FlatJvp flat_jvp(const TreeRef& primals, const TreeRef& tangents, FlatFunction f);

struct VmapCall {
  std::vector<TreeRef> args;
  std::vector<AxisSpec> in_axes;  // by argument
  std::vector<AxisSpec> out_axes;
  std::string axis_name;
  std::optional<i64> axis_size;
  FunctionRef<std::vector<std::size_t>()> result_leaves;  // leaves by top-level result, after tracing
};
Arrays flat_vmap(const VmapCall& call, FlatFunction f);

Arrays flat_custom_jvp(const TreeRef& args, FlatFunction f, FlatFunction rule, std::string_view name);
Arrays flat_custom_vjp(const TreeRef& args, FlatFunction f, FlatFunction forward, FlatFunction backward,
                       std::string_view name);

// Leaves by child of a pair or tuple result; one entry for any other result.
template <class R>
std::vector<std::size_t> leaves_by_child(const R& result) {
  std::vector<std::size_t> counts;
  const auto count = [&](const auto& child) {
    std::vector<Array*> slots;
    collect_leaves(tree_ref(child), slots);
    counts.push_back(slots.size());
  };
  if constexpr (is_std_tuple<R>::value)
    std::apply([&](const auto&... c) { (count(c), ...); }, result);
  else
    count(result);
  return counts;
}

template <class T, class First>
inline constexpr bool is_pair_with = false;
template <class First, class B>
inline constexpr bool is_pair_with<std::pair<First, B>, First> = true;
}  // namespace detail

// The value of a function and the gradient tree; `value` is a pair where the function returns a pair (loss, aux).
template <class V, class G>
struct ValueAndGrad {
  V value;
  G grad;
};
struct GradOptions {
  // Integer, boolean and key arrays among the differentiated arguments get an empty gradient instead of an error.
  Flag allow_int = false;
};

template <class F, int... Argnums>
class GradOf {
 public:
  UNISONO_CALLABLE;
  GradOf(F f, GradOptions options, std::string_view who) : f_(std::move(f)), options_(options), who_(who) {}

  template <class... A>
  requires std::is_invocable_v<const F&, const A&...>
  auto operator()(const A&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;  // numbers are differentiated as Arrays
    using R = detail::Result<F, Tuple>;
    static_assert(std::is_same_v<R, Array> || detail::is_pair_with<R, Array>,
                  "a function to differentiate must return one scalar Array, or a pair of it and auxiliary results");
    static_assert(((Argnums >= 0 && Argnums < static_cast<int>(sizeof...(A))) && ...),
                  "an argument number is out of range");
    const detail::StoredTuple<F, const A&...> all(args...);
    detail::GradCall call{who_, {}, {}, options_.allow_int};
    (call.active.push_back(detail::tree_ref(std::get<Argnums>(all))), ...);
    (call.names.push_back("args[" + std::to_string(Argnums) + "]"), ...);
    std::shared_ptr<R> prototype;
    const auto flat = [&](std::span<const Array> leaves) {
      Tuple local(all);
      std::size_t next = 0;
      (replace(std::get<Argnums>(local), leaves, next), ...);
      auto result = std::make_shared<R>(std::apply([&](const auto&... a) { return f_(a...); }, local));
      const Arrays out = tree_leaves(*result);
      prototype = std::move(result);
      return out;
    };
    const detail::FlatGrad g = detail::flat_value_and_grad(call, flat);
    detail::set_leaves(detail::tree_ref(*prototype), g.values);
    std::size_t next = 0;
    if constexpr (sizeof...(Argnums) == 1) {
      using G = std::remove_cvref_t<std::tuple_element_t<(Argnums, ...), Tuple>>;
      return ValueAndGrad<R, G>{*prototype, replaced(std::get<(Argnums, ...)>(all), g.gradients, next)};
    } else {
      using G = std::tuple<std::remove_cvref_t<std::tuple_element_t<Argnums, Tuple>>...>;
      return ValueAndGrad<R, G>{*prototype, G{replaced(std::get<Argnums>(all), g.gradients, next)...}};
    }
  }

 private:
  template <class T>
  static void replace(T& tree, std::span<const Array> leaves, std::size_t& next) {
    std::vector<Array*> slots;
    detail::collect_leaves(detail::tree_ref(tree), slots);
    for (Array* s : slots) *s = leaves[next++];
  }
  template <class T>
  static T replaced(const T& tree, std::span<const Array> leaves, std::size_t& next) {
    T out = tree;
    replace(out, leaves, next);
    return out;
  }
  F f_;
  GradOptions options_;
  std::string_view who_;
};

// Gradient only; with auxiliary results a pair (gradient, aux).
template <class F, int... Argnums>
class GradOnly {
 public:
  UNISONO_CALLABLE;
  GradOnly(F f, GradOptions options) : inner_(std::move(f), options, "grad") {}
  template <class... A>
  requires std::is_invocable_v<const F&, const A&...>
  auto operator()(const A&... args) const {
    auto r = inner_(args...);
    if constexpr (std::is_same_v<decltype(r.value), Array>)
      return std::move(r.grad);
    else
      return std::pair{std::move(r.grad), std::move(r.value.second)};
  }

 private:
  GradOf<F, Argnums...> inner_;
};

// d f / d argument, by default the first one; grad<0, 2>(f) gives a tuple. f returns a scalar float Array, or a pair of
// it and auxiliary results. The gradient has the structure, shapes and dtypes of the argument; a number counts as an
// Array where f accepts one, what is no Array is static and stays as it is. Throws ShapeError for a result that is no
// scalar, DtypeError for integer arrays in the argument (by path), TreeError for an argument without any Array.
template <int... Argnums, class F>
auto grad(F f, GradOptions options = {}) {
  if constexpr (sizeof...(Argnums) == 0)
    return GradOnly<F, 0>(std::move(f), options);
  else
    return GradOnly<F, Argnums...>(std::move(f), options);
}
// The same with the value: {value, grad}.
template <int... Argnums, class F>
auto value_and_grad(F f, GradOptions options = {}) {
  if constexpr (sizeof...(Argnums) == 0)
    return GradOf<F, 0>(std::move(f), options, "value_and_grad");
  else
    return GradOf<F, Argnums...>(std::move(f), options, "value_and_grad");
}

// The transposed derivative at a point: takes a cotangent tree like the result, gives one like the arguments (the tree
// itself for one argument, a tuple for several).
template <class R, class Tuple>
class Pullback {
 public:
  UNISONO_CALLABLE;
  Pullback(std::shared_ptr<const detail::FlatPullback> p, Tuple args) : p_(std::move(p)), args_(std::move(args)) {}
  auto operator()(const R& cotangent) const {
    Tuple out = args_;
    detail::set_leaves(detail::tree_ref(out), detail::pull_back(*p_, detail::tree_ref(cotangent)));
    if constexpr (std::tuple_size_v<Tuple> == 1)
      return std::get<0>(std::move(out));
    else
      return out;
  }

 private:
  std::shared_ptr<const detail::FlatPullback> p_;
  Tuple args_;
};
// {value, pullback} of f at the arguments.
template <class F, class... A>
auto vjp(const F& f, const A&... args) {
  using Tuple = detail::ArgumentTuple<F, A...>;
  const Tuple own(args...);
  detail::Adapter<F, Tuple> adapter(f, own);
  const detail::FlatVjp v = detail::flat_vjp(detail::tree_ref(own), adapter);
  using R = detail::Result<F, Tuple>;
  return std::pair{adapter.rebuild(v.values), Pullback<R, Tuple>(v.pullback, own)};
}
// The derivative at a point as a linear function of tangents, evaluated without running f again.
template <class R, class Tuple>
class LinearFunction {
 public:
  UNISONO_CALLABLE;
  LinearFunction(std::shared_ptr<const detail::FlatPullback> p, std::shared_ptr<const R> like, Tuple args)
      : p_(std::move(p)), like_(std::move(like)), args_(std::move(args)) {}
  template <class... T>
  R operator()(const T&... tangents) const {
    Tuple t(tangents...);
    return tree_unflatten(*like_, detail::push_forward(*p_, detail::tree_ref(t)));
  }

 private:
  std::shared_ptr<const detail::FlatPullback> p_;
  std::shared_ptr<const R> like_;
  Tuple args_;
};
// {value, linear function of the tangents} of f at the arguments.
template <class F, class... A>
auto linearize(const F& f, const A&... args) {
  using Tuple = detail::ArgumentTuple<F, A...>;
  const Tuple own(args...);
  detail::Adapter<F, Tuple> adapter(f, own);
  const detail::FlatVjp v = detail::flat_vjp(detail::tree_ref(own), adapter);
  using R = detail::Result<F, Tuple>;
  return std::pair{adapter.rebuild(v.values), LinearFunction<R, Tuple>(v.pullback, adapter.prototype(), own)};
}
// (value, tangent) of f at `primals` in the direction `tangents`, both std::tuple of arguments (or one argument).
template <class F, class T>
auto jvp(const F& f, const T& primals, const T& tangents) {
  if constexpr (!detail::is_std_tuple<T>::value) {
    return jvp(f, std::tuple<T>(primals), std::tuple<T>(tangents));
  } else {
    using Tuple = detail::ArgumentsOf<F, T>;
    const Tuple at(primals), direction(tangents);
    detail::Adapter<F, Tuple> adapter(f, at);
    const detail::FlatJvp r = detail::flat_jvp(detail::tree_ref(at), detail::tree_ref(direction), adapter);
    return std::pair{adapter.rebuild(r.values), adapter.rebuild(r.tangents)};
  }
}

struct VmapOptions {
  std::vector<AxisSpec> in_axes = {};   // by argument; empty: axis 0 of all
  std::vector<AxisSpec> out_axes = {};  // one for all, or by element of a pair or tuple result; empty: axis 0
  std::string axis_name = {};           // for collectives inside
  std::optional<i64> axis_size = {};    // needed when nothing is mapped
};
template <class F>
class Vmapped {
 public:
  UNISONO_CALLABLE;
  Vmapped(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}
  template <class... A>
  auto operator()(const A&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    const Tuple own(args...);
    detail::Adapter<F, Tuple> adapter(f_, own);
    const auto refs = detail::argument_refs(own);
    const auto counts = [&] { return detail::leaves_by_child(*adapter.prototype()); };
    const detail::VmapCall call{{refs.begin(), refs.end()}, options_.in_axes,   options_.out_axes,
                                options_.axis_name,         options_.axis_size, counts};
    return adapter.rebuild(detail::flat_vmap(call, adapter));
  }

 private:
  F f_;
  VmapOptions options_;
};
// Maps f over an axis of its arguments, by batching its operations. Throws ShapeError when mapped sizes differ (all of
// them listed by path) or nothing is mapped.
template <class F>
Vmapped<F> vmap(F f, VmapOptions options = {}) {
  return {std::move(f), std::move(options)};
}

// f with its own derivative: rule(primals, tangents) -> pair(result, tangent), each a std::tuple of arguments, or the
// argument itself for one. Reverse mode transposes the rule, which must be linear in the tangents.
template <class F, class Rule>
class CustomJvp {
 public:
  UNISONO_CALLABLE;
  CustomJvp(F f, Rule rule) : f_(std::move(f)), rule_(std::move(rule)) {}
  template <class... A>
  requires std::is_invocable_v<const F&, const A&...>
  auto operator()(const A&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    using R = detail::Result<F, Tuple>;
    const Tuple own(args...);
    detail::Adapter<F, Tuple> adapter(f_, own);
    const auto rule = [&](std::span<const Array> leaves) {
      const std::size_t n = leaves.size() / 2;
      Tuple primals = own, tangents = own;
      detail::set_leaves(detail::tree_ref(primals), leaves.first(n));
      detail::set_leaves(detail::tree_ref(tangents), leaves.subspan(n));
      using Given = decltype(apply(primals, tangents));
      static_assert(std::is_convertible_v<Given, std::pair<R, R>>,
                    "the rule of a custom_jvp must return a pair of the function's result and its tangent");
      const std::pair<R, R> r = apply(primals, tangents);
      Arrays out = tree_leaves(r.first);
      for (Array& t : tree_leaves(r.second)) out.push_back(std::move(t));
      return out;
    };
    return adapter.rebuild(detail::flat_custom_jvp(detail::tree_ref(own), adapter, rule, __PRETTY_FUNCTION__));
  }

 private:
  template <class Tuple>
  auto apply(const Tuple& primals, const Tuple& tangents) const {
    constexpr bool one = std::tuple_size_v<Tuple> == 1;
    using Side = std::conditional_t<one, std::tuple_element_t<0, Tuple>, Tuple>;
    static_assert(std::is_invocable_v<const Rule&, const Side&, const Side&>,
                  "the rule of a custom_jvp takes (argument, tangent), or two std::tuple of several arguments");
    if constexpr (one)
      return rule_(std::get<0>(primals), std::get<0>(tangents));
    else
      return rule_(primals, tangents);
  }
  F f_;
  Rule rule_;
};
template <class F, class Rule>
CustomJvp<F, Rule> custom_jvp(F f, Rule rule) {
  return {std::move(f), std::move(rule)};
}

// f with its own reverse rule: forward(args...) -> pair(result, residuals), backward(residuals, cotangent) -> one
// cotangent per argument (a std::tuple, or the tree itself for one argument).
template <class F, class Forward, class Backward>
class CustomVjp {
 public:
  UNISONO_CALLABLE;
  CustomVjp(F f, Forward forward, Backward backward)
      : f_(std::move(f)), forward_(std::move(forward)), backward_(std::move(backward)) {}
  template <class... A>
  requires std::is_invocable_v<const F&, const A&...>
  auto operator()(const A&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    using Pair = detail::Result<Forward, Tuple>;
    using R = detail::Result<F, Tuple>;
    static_assert(detail::is_pair_with<Pair, R>,
                  "the forward rule of a custom_vjp must return a pair of the function's result and the residuals");
    using Residuals = typename Pair::second_type;
    static_assert(std::is_invocable_v<const Backward&, const Residuals&, const R&>,
                  "the backward rule of a custom_vjp takes (residuals, cotangent of the result)");
    const Tuple own(args...);
    detail::Adapter<F, Tuple> adapter(f_, own);
    detail::Adapter<Forward, Tuple> forward(forward_, own);
    const auto backward = [&](std::span<const Array> leaves) {
      const Pair& like = *forward.prototype();
      Residuals residuals = like.second;
      auto cotangent = like.first;
      const std::size_t n = tree_leaves(residuals).size();
      detail::set_leaves(detail::tree_ref(residuals), leaves.first(n));
      detail::set_leaves(detail::tree_ref(cotangent), leaves.subspan(n));
      return tree_leaves(backward_(residuals, cotangent));
    };
    return adapter.rebuild(
        detail::flat_custom_vjp(detail::tree_ref(own), adapter, forward, backward, __PRETTY_FUNCTION__));
  }

 private:
  F f_;
  Forward forward_;
  Backward backward_;
};
template <class F, class Forward, class Backward>
CustomVjp<F, Forward, Backward> custom_vjp(F f, Forward forward, Backward backward) {
  return {std::move(f), std::move(forward), std::move(backward)};
}

// A collective of a program: what it is, over which axes, on what.
struct CollectiveUse {
  std::string operation;  // "psum"
  std::string axes;       // "batch"
  std::string type;       // of the operand on one device: "f32[1024,10]"
  i64 bytes = 0;          // of the operand on one device
};
// A traced program, for reading and testing.
class Program {
 public:
  Program() = default;
  explicit Program(std::shared_ptr<const void> program) : program_(std::move(program)) {}
  std::string to_string() const;
  // Equations of that operation, nested programs included.
  int count(std::string_view operation) const;
  std::string fingerprint() const;
  // Every collective that moves data, in order.
  std::vector<CollectiveUse> collectives() const;
  const std::shared_ptr<const void>& handle() const { return program_; }

 private:
  std::shared_ptr<const void> program_;
};
std::ostream& operator<<(std::ostream& out, const Program& program);

namespace detail {
Program flat_program(const TreeRef& args, FlatFunction f);
Arrays flat_shapes(const TreeRef& args, FlatFunction f);
}  // namespace detail

// The program that f traces to for these arguments: make_program(f)(args...).
template <class F>
auto make_program(F f) {
  return [f = std::move(f)](const auto&... args) {
    using Tuple = detail::ArgumentTuple<F, std::remove_cvref_t<decltype(args)>...>;
    const Tuple own(args...);
    detail::Adapter<F, Tuple> adapter(f, own);
    return detail::flat_program(detail::tree_ref(own), adapter);
  };
}
// The result of f as a tree of types: its arrays have shape and dtype and no values. Nothing is computed.
template <class F, class... A>
auto eval_shape(const F& f, const A&... args) {
  using Tuple = detail::ArgumentTuple<F, A...>;
  const Tuple own(args...);
  detail::Adapter<F, Tuple> adapter(f, own);
  return adapter.rebuild(detail::flat_shapes(detail::tree_ref(own), adapter));
}

}  // namespace uni
