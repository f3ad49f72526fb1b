// Whole derivative matrices: jacfwd, jacrev, hessian.
#pragma once
#include <tuple>
#include <utility>
#include <vector>

#include <unisono/transform.hpp>

namespace uni {

namespace detail {
// For each array of the result, for each array of the argument: an array of shape result.shape + argument.shape.
std::vector<Arrays> flat_jacobian(bool forward, const TreeRef& argument, FlatFunction f);

Arrays flat_linear_transpose(const TreeRef& like, const TreeRef& cotangent, FlatFunction f, Location where);

// An argument tree of derivatives for an Array result, a result tree for an Array argument, else an argument tree for
// each array of the result.
template <class R, class T>
auto jacobian_tree(const R& result, const T& argument, const std::vector<Arrays>& parts) {
  if constexpr (std::is_same_v<R, Array>) {
    return tree_unflatten(argument, parts[0]);
  } else if constexpr (std::is_same_v<T, Array>) {
    Arrays leaves;
    for (const Arrays& p : parts) leaves.push_back(p[0]);
    return tree_unflatten(result, leaves);
  } else {
    std::vector<T> trees;
    for (const Arrays& p : parts) trees.push_back(tree_unflatten(argument, p));
    return trees;
  }
}
}  // namespace detail

template <class F, bool Forward, int... Argnums>
class Jacobian {
 public:
  UNISONO_CALLABLE;
  explicit Jacobian(F f) : f_(std::move(f)) {}
  template <class... A>
  requires std::is_invocable_v<const F&, const A&...>
  auto operator()(const A&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    static_assert(((Argnums >= 0 && Argnums < static_cast<int>(sizeof...(A))) && ...),
                  "an argument number is out of range");
    const Tuple all(args...);
    if constexpr (sizeof...(Argnums) == 1)
      return one<(Argnums, ...)>(all);
    else
      return std::tuple{one<Argnums>(all)...};
  }

 private:
  template <int N, class Tuple>
  auto one(const Tuple& all) const {
    using T = std::tuple_element_t<N, Tuple>;
    const auto of_one = [&](const T& argument) {
      Tuple local = all;
      std::get<N>(local) = argument;
      return std::apply([&](const auto&... a) { return f_(a...); }, local);
    };
    const std::tuple<T> own(std::get<N>(all));
    detail::Adapter<decltype(of_one), std::tuple<T>> adapter(of_one, own);
    const auto parts = detail::flat_jacobian(Forward, detail::tree_ref(std::get<0>(own)), adapter);
    return detail::jacobian_tree(*adapter.prototype(), std::get<0>(own), parts);
  }
  F f_;
};

// The Jacobian of f with respect to an argument (the first one by default; jacfwd<0, 2>(f) gives a tuple), column by
// column in forward mode: cheap for few inputs. An Array f(Array) gives an Array of shape result.shape +
// argument.shape; trees as in jacobian_tree. Throws DtypeError for integer or complex arrays in argument or result.
template <int... Argnums, class F>
auto jacfwd(F f) {
  if constexpr (sizeof...(Argnums) == 0)
    return Jacobian<F, true, 0>(std::move(f));
  else
    return Jacobian<F, true, Argnums...>(std::move(f));
}
// The same row by row in reverse mode: cheap for few outputs.
template <int... Argnums, class F>
auto jacrev(F f) {
  if constexpr (sizeof...(Argnums) == 0)
    return Jacobian<F, false, 0>(std::move(f));
  else
    return Jacobian<F, false, Argnums...>(std::move(f));
}
// Second derivatives of a scalar function of one argument, forward over reverse: jacfwd(jacrev(f)).
template <class F>
auto hessian(F f) {
  return jacfwd(jacrev(std::move(f)));
}

template <class F, class T>
class LinearTranspose {
 public:
  UNISONO_CALLABLE;
  LinearTranspose(F f, T like) : f_(std::move(f)), like_(std::move(like)) {}
  // The cotangent of the argument for one of the result.
  template <class R>
  T operator()(const R& cotangent, Location where = Location::current()) const {
    const std::tuple<T> own(like_);
    detail::Adapter<F, std::tuple<T>> adapter(f_, own);
    return tree_unflatten(like_, detail::flat_linear_transpose(detail::tree_ref(std::get<0>(own)),
                                                               detail::tree_ref(cotangent), adapter, where));
  }

 private:
  F f_;
  T like_;
};
// The transpose of a function that is linear in its argument: takes what f returns, gives what f takes. `like` only
// tells the argument's structure, shapes and dtypes. Throws TraceError where f is not linear, ShapeError or DtypeError
// for a cotangent that is not like the result.
template <class F, class T>
LinearTranspose<F, T> linear_transpose(F f, T like) {
  return {std::move(f), std::move(like)};
}

}  // namespace uni
