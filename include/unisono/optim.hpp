// Optimizers as gradient transforms over trees: init(params) gives a state, update(grads, state, params, learning_rate)
// gives (updates, state); apply_updates adds the updates.
#pragma once
#include <cmath>
#include <utility>

#include <unisono/creation.hpp>
#include <unisono/elementwise.hpp>
#include <unisono/tree.hpp>

namespace uni::optim {

// params + updates, leaf by leaf.
template <class T>
T apply_updates(const T& params, const T& updates) {
  return tree_map([](const Array& p, const Array& u) { return p + u; }, params, updates);
}

template <class T>
struct SgdState {
  T velocity;
};
struct SgdOptions {
  double momentum = 0.9;  // 0 keeps a velocity that is the gradient
};
// velocity = momentum * velocity + gradient; update = -learning_rate * velocity (Polyak, 1964).
struct Sgd {
  SgdOptions options;
  template <class T>
  SgdState<T> init(const T& params) const {
    return {tree_map([](const Array& p) { return zeros_like(p); }, params)};
  }
  template <class T>
  std::pair<T, SgdState<T>> update(const T& grads, const SgdState<T>& state, const T&,
                                   const Array& learning_rate) const {
    const double m = options.momentum;
    SgdState<T> next{tree_map([m](const Array& v, const Array& g) { return m * v + g; }, state.velocity, grads)};
    T updates = tree_map([&](const Array& v) { return -(astype(learning_rate, v.dtype()) * v); }, next.velocity);
    return {std::move(updates), std::move(next)};
  }
};
inline Sgd sgd(SgdOptions options = {}) { return {options}; }

template <class T>
struct AdamState {
  Array step;  // f32[], steps taken
  T mu, nu;    // running means of gradients and of their squares
};
struct AdamOptions {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8;
};
// Adam (Kingma and Ba, 2015) with bias correction.
struct Adam {
  AdamOptions options;
  template <class T>
  AdamState<T> init(const T& params) const {
    const auto zero = [](const Array& p) { return zeros_like(p); };
    return {zeros({}), tree_map(zero, params), tree_map(zero, params)};
  }
  template <class T>
  std::pair<T, AdamState<T>> update(const T& grads, const AdamState<T>& state, const T&,
                                    const Array& learning_rate) const {
    const AdamOptions o = options;
    AdamState<T> next{
        state.step + 1.0,
        tree_map([o](const Array& m, const Array& g) { return o.b1 * m + (1 - o.b1) * g; }, state.mu, grads),
        tree_map([o](const Array& n, const Array& g) { return o.b2 * n + (1 - o.b2) * (g * g); }, state.nu, grads)};
    // 1 - b**step, through the exponential since step is an array.
    const Array c1 = -expm1(next.step * std::log(o.b1)), c2 = -expm1(next.step * std::log(o.b2));
    T updates = tree_map(
        [&](const Array& m, const Array& n) {
          const Array mean = m / astype(c1, m.dtype()), square = n / astype(c2, n.dtype());
          return -(astype(learning_rate, m.dtype()) * mean / (sqrt(square) + o.eps));
        },
        next.mu, next.nu);
    return {std::move(updates), std::move(next)};
  }
};
inline Adam adam(AdamOptions options = {}) { return {options}; }

}  // namespace uni::optim
