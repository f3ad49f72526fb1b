// The program of the README: a model is a plain struct; one training step runs on all devices.
#include <cstdio>

#include <unisono/unisono.hpp>
using uni::Array;

struct Model {
  uni::nn::Linear hidden, out;
  Array operator()(const Array& x) const { return out(uni::nn::relu(hidden(x))); }
};

Array loss(const Model& model, const Array& x, const Array& y) {
  const Array error = model(x) - y;
  return uni::mean(error * error);
}

int main() {
  const auto [k1, k2, k3] = uni::split<3>(uni::Key(0));
  Model model{uni::nn::Linear::init(k1, 2, 32), uni::nn::Linear::init(k2, 32, 1)};
  const Array x = uni::uniform(k3, {8, 64, 2});  // 8 devices, 64 examples each
  const Array y = uni::sum(x * x, {.axis = -1, .keepdims = true});

  const auto step = uni::jit(uni::pmap(
      [](const Model& m, const Array& x, const Array& y) {
        const auto [value, grad] = uni::value_and_grad(loss)(m, x, y);
        const auto [l, g] = uni::pmean(std::pair{value, grad}, "batch");
        return std::pair{uni::tree_map([](const Array& p, const Array& d) { return p - 0.1 * d; }, m, g), l};
      },
      {.axis = "batch", .in_axes = {std::nullopt, 0, 0}, .out_axes = {std::nullopt, std::nullopt}}));

  for (int i = 0; i < 200; ++i) {
    const auto [next, l] = step(model, x, y);
    model = next;
    if (i % 50 == 0) std::printf("step %3d  loss %.5f\n", i, l.item<double>());
  }
}
