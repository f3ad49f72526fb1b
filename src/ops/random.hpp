// Threefry rows on typed keys. Element i (row-major, global index) uses the 64-bit counter i, as JAX's partitionable
// layout. A key is two u32 words stored in order.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

struct RandomBits {
  int width = 32;  // 8, 16, 32, 64
  Dims shape;
};
extern const Primitive random_bits;  // key[K] -> u<width>[K, shape]
struct RandomSplit {
  Dims shape;
};
extern const Primitive random_split;    // key[K] -> key[K, shape]: child i is both words of threefry(key, i)
extern const Primitive random_fold_in;  // (key[K], u32[K]) -> key[K]: threefry(key, (0, data))
extern const Primitive key_wrap;        // u32[K, 2] -> key[K]
extern const Primitive key_unwrap;      // key[K] -> u32[K, 2]

std::span<const Primitive* const> random_rows();

// One block of Threefry-2x32 with 20 rounds (Salmon et al., SC 2011).
struct Words {
  std::uint32_t a = 0, b = 0;
};
constexpr Words threefry2x32(Words key, Words counter) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t keys[3] = {key.a, key.b, key.a ^ key.b ^ 0x1BD11BDAu};
  std::uint32_t x = counter.a + keys[0], y = counter.b + keys[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int r : rotations[group % 2]) {
      x += y;
      y = (y << r) | (y >> (32 - r));
      y ^= x;
    }
    x += keys[(group + 1) % 3];
    y += keys[(group + 2) % 3] + group + 1;
  }
  return {x, y};
}

}  // namespace uni::ops

namespace uni::lax {

Array random_bits(const Array& key, int width, const Dims& shape);
Array random_split(const Array& key, const Dims& shape);
Array random_fold_in(const Array& key, const Array& data);
Array key_wrap(const Array& words);
Array key_unwrap(const Array& key);

}  // namespace uni::lax
