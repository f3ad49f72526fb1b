// tree_map over one tree and several, and what it says of trees that differ.
#include "tree/models.hpp"

namespace uni::testing_tree {

namespace {
const auto plus = [](const Array& a, const Array& b) { return a + b; };
std::string mismatch(const Model& a, const Model& b) {
  try {
    tree_map(plus, a, b);
  } catch (const TreeError& e) {
    return e.what();
  }
  return "";
}

TEST(TreeMap, SeveralTrees) {
  const Model m = model();
  const auto third = [](const Array& a, const Array& b, const Array& c) { return a * b - c; };
  const Model out = tree_map(third, m, m, m);
  EXPECT_EQ(out.blocks[1].mlp.b.to_vector<int>(), (std::vector<int>{12, 12, 12}));
  EXPECT_EQ(out.extra.at("shift").item<int>(), 14 * 14 - 14);
  EXPECT_EQ(out.blocks[1].heads, 4);
}

TEST(TreeMap, EmptyArraysStayEmpty) {
  Model m = model();
  m.norm.first = Array();
  const Model out = tree_map(plus, m, m);
  EXPECT_FALSE(out.norm.first.defined());
  EXPECT_EQ(out.norm.second.to_vector<int>()[0], 22);
  EXPECT_FALSE(tree_map([](const Array& a) { return a + 1.0; }, m).norm.first.defined());
}

TEST(TreeMap, Mismatches) {
  struct Case {
    void (*change)(Model&);
    const char* what;
  };
  const Case cases[] = {
      {[](Model& m) { m.blocks.pop_back(); }, "tree.blocks.1.attn.w in the first tree, tree.towers.0.w in the second"},
      {[](Model& m) { m.bias.reset(); }, "tree.bias.w in the first tree, tree.extra.scale in the second"},
      {[](Model& m) { m.by_number.erase(20); }, "tree.by_number.20.w is in the first tree only"},
      {[](Model& m) { m.by_number[30] = dense(1); }, "tree.by_number.30.w is in the second tree only"},
      {[](Model& m) {
         m.extra.erase("shift");
         m.extra["shaft"] = zeros({});
       },
       "tree.extra.shift in the first tree, tree.extra.shaft in the second"},
      {[](Model& m) { m.blocks[1].heads = 5; }, "tree.blocks.1.heads has different static values"},
      {[](Model& m) { m.blocks[0].activation = Activation::tanh; },
       "tree.blocks.0.activation has different static values"},
      {[](Model& m) { m.name = "other"; }, "tree.name has different static values"},
      {[](Model& m) { m.norm.second = Array(); }, "tree.norm.1 is empty in the second tree only"},
  };
  for (const Case& c : cases) {
    Model other = model();
    c.change(other);
    EXPECT_EQ(mismatch(model(), other), std::string("tree_map: tree 0 and tree 1 differ: ") + c.what);
  }
  Model without = model();
  without.norm.second = Array();
  EXPECT_EQ(mismatch(without, model()),
            "tree_map: tree 0 and tree 1 differ: tree.norm.1 is empty in the first tree only");
}

TEST(TreeMap, TheTreeThatDiffersIsNumbered) {
  using Trees = std::vector<Array>;
  const auto third = [](const Array& a, const Array&, const Array&) { return a; };
  const Trees one{zeros({})}, two{zeros({}), zeros({})};
  try {
    tree_map(third, one, one, two);
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_STREQ(e.what(), "tree_map: tree 0 and tree 2 differ: tree.1 is in the second tree only");
  }
  using Sizes = std::vector<std::vector<int>>;
  try {
    tree_map([](const Array& a, const Array&) { return a; }, Sizes{{1}, {2, 3}}, Sizes{{1}, {2}});
    FAIL() << "no error";
  } catch (const TreeError& e) {
    EXPECT_STREQ(e.what(), "tree_map: tree 0 and tree 1 differ: tree.1 has different sizes or keys");
  }
}
}  // namespace

}  // namespace uni::testing_tree
