// The models that the training items are about, with the peers' sizes and starting values.
#pragma once
#include <cmath>

#include <unisono/unisono.hpp>

namespace bench {

using uni::Array, uni::Dims, uni::i64;

inline Array normal(const Dims& shape, double scale = 1) {
  static int seed = 0;
  return uni::normal(uni::Key(seed++), shape) * scale;
}
inline Array labels(i64 count, int classes) { return uni::randint(uni::Key(77), {count}, 0, classes); }
inline Array cross_entropy(const Array& logits, const Array& label) {
  return uni::mean(uni::nn::cross_entropy(logits, label));
}

struct Dense {
  Array w, b;
  static Dense init(i64 in, i64 out) {
    return {normal({in, out}, 1 / std::sqrt(static_cast<double>(in))), uni::zeros({out})};
  }
  Array operator()(const Array& x) const { return uni::matmul(x, w) + b; }
};
struct Batch {
  Array x, y;
};

struct Mlp {
  Dense a, b, c;
  static Mlp init() { return {Dense::init(784, 1024), Dense::init(1024, 1024), Dense::init(1024, 10)}; }
  static Batch batch() { return {normal({128, 784}), labels(128, 10)}; }
  static Array loss(const Mlp& m, const Batch& d) {
    return cross_entropy(m.c(uni::nn::relu(m.b(uni::nn::relu(m.a(d.x))))), d.y);
  }
};

struct Cnn {
  Array c1, b1, c2, b2;
  Dense d1, d2;
  static Cnn init() {
    return {normal({3, 3, 1, 32}, 1.0 / 3), uni::zeros({32}),    normal({3, 3, 32, 64}, 1.0 / 17), uni::zeros({64}),
            Dense::init(3136, 256),         Dense::init(256, 10)};
  }
  static Batch batch() { return {normal({128, 28, 28, 1}), labels(128, 10)}; }
  static Array loss(const Cnn& m, const Batch& d) {
    using uni::nn::avg_pool, uni::nn::relu;
    Array x = avg_pool(relu(uni::conv(d.x, m.c1, {.padding = "SAME"}) + m.b1), 2);
    x = avg_pool(relu(uni::conv(x, m.c2, {.padding = "SAME"}) + m.b2), 2);
    return cross_entropy(m.d2(relu(m.d1(reshape(x, {x.shape(0), 3136})))), d.y);
  }
};

struct Deep {  // 100 layers of width 64
  std::vector<Array> w;
  static Deep init() {
    Deep d;
    for (int i = 0; i < 100; ++i) d.w.push_back(normal({64, 64}, 1.0 / 8));
    return d;
  }
  static Batch batch() { return {normal({32, 64}), {}}; }
  static Array loss(const Deep& m, const Batch& d) {
    Array x = d.x;
    for (const Array& w : m.w) x = uni::tanh(uni::matmul(x, w));
    return uni::sum(x);
  }
};

struct Lstm {
  Dense x;
  Array h;
  Dense out;
  static Lstm init() { return {Dense::init(128, 1024), normal({256, 1024}, 1.0 / 16), Dense::init(256, 10)}; }
  static Batch batch() { return {normal({64, 64, 128}), labels(64, 10)}; }  // steps, batch, features
  static Array loss(const Lstm& m, const Batch& d) {
    using State = std::pair<Array, Array>;
    const auto step = [&](const State& state, const Array& in) {
      const std::vector<Array> gates = uni::split(m.x(in) + uni::matmul(state.first, m.h), 4, {.axis = -1});
      const Array s = uni::sigmoid(gates[1]) * state.second + uni::sigmoid(gates[0]) * uni::tanh(gates[2]);
      return std::pair{State{uni::sigmoid(gates[3]) * uni::tanh(s), s}, std::tuple<>()};
    };
    const Array zero = uni::zeros({d.x.shape(1), 256});
    return cross_entropy(m.out(uni::scan(step, State{zero, zero}, d.x).first.first), d.y);
  }
};

// The optimizers of the items: SGD of rate 0.01 without momentum, and with momentum 0.9.
struct Plain {
  struct State {};
  template <class M>
  static State init(const M&) {
    return {};
  }
  template <class M>
  static std::pair<M, State> update(const M& m, const M& g, const State&) {
    return {uni::tree_map([](const Array& p, const Array& d) { return p - 0.01 * d; }, m, g), {}};
  }
};
struct Momentum {
  template <class M>
  static M init(const M& m) {
    return uni::tree_map([](const Array& p) { return uni::zeros_like(p); }, m);
  }
  template <class M>
  static std::pair<M, M> update(const M& m, const M& g, const M& s) {
    M next = uni::tree_map([](const Array& v, const Array& d) { return 0.9 * v + d; }, s, g);
    M params = uni::tree_map([](const Array& p, const Array& v) { return p - 0.01 * v; }, m, next);
    return {std::move(params), std::move(next)};
  }
};

template <class M, class Opt>
auto step_of(std::string axis = {}) {
  return [axis](const M& m, const decltype(Opt::init(std::declval<M>()))& s, const Batch& d) {
    auto [value, grad] = uni::value_and_grad([](const M& q, const Batch& b) { return M::loss(q, b); })(m, d);
    if (!axis.empty()) {
      value = uni::pmean(value, axis);
      grad = uni::pmean(grad, axis);
    }
    auto [params, state] = Opt::update(m, grad, s);
    return std::tuple{std::move(params), std::move(state), value};
  };
}

}  // namespace bench
