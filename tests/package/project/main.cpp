#include <cstdio>

#include <unisono/unisono.hpp>

int main() {
  const auto square = uni::jit([](const uni::Array& x) { return x * x; });
  const float y = uni::grad(square)(uni::Array(3.0f)).item<float>();
  std::printf("%g\n", y);
  return y == 6.0f ? 0 : 1;
}
