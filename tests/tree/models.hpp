// Trees of every kind, for the tests of this folder.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <unisono/unisono.hpp>

namespace uni::testing_tree {

struct Dense {
  Array w, b;
};
enum class Activation { relu, tanh };
struct Block {
  Dense attn, mlp;
  Activation activation = Activation::relu;
  int heads = 4;
};
// Everything that can stand in a tree.
struct Model {
  std::vector<Block> blocks;
  std::array<Dense, 2> towers;
  std::tuple<Array, int, Dense> head;
  std::pair<Array, Array> norm;
  std::optional<Dense> bias;
  std::map<std::string, Array> extra;
  std::map<int, Dense> by_number;
  bool tied = false;
  std::string name;
  float rate = 0;
};
inline Dense dense(double value) { return {full({2, 3}, value), full({3}, value)}; }
inline Model model() {
  Model m;
  m.blocks = {{dense(1), dense(2)}, {dense(3), dense(4)}};
  m.towers = {dense(5), dense(6)};
  m.head = {full({}, 7.0), 8, dense(9)};
  m.norm = {full({2}, 10.0), full({2}, 11.0)};
  m.bias = dense(12);
  m.extra = {{"scale", full({}, 13.0)}, {"shift", full({}, 14.0)}};
  m.by_number = {{-1, dense(15)}, {20, dense(16)}};
  m.name = "model";
  return m;
}

// As many fields as a struct may have.
struct Wide {
  Array a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
  Array a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31;
  Array a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47;
  Array a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63;
};

// 40 fields of structs.
struct Deep {
  Dense d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
  Dense d10, d11, d12, d13, d14, d15, d16, d17, d18, d19;
  Dense d20, d21, d22, d23, d24, d25, d26, d27, d28, d29;
  Dense d30, d31, d32, d33, d34, d35, d36, d37, d38, d39;
};

}  // namespace uni::testing_tree
