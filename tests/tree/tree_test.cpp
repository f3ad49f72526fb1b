// Leaves, paths and rebuilding of trees of every kind.
#include "tree/models.hpp"

namespace uni::testing_tree {

namespace {
template <class T>
std::vector<double> values(const T& tree) {
  std::vector<double> out;
  for (const Array& a : tree_leaves(tree)) out.push_back(a.defined() ? a.to_vector<double>().at(0) : -1);
  return out;
}

TEST(Tree, PathsAreNamesJoinedByDots) {
  EXPECT_THAT(tree_paths(model()),
              testing::ElementsAre("blocks.0.attn.w", "blocks.0.attn.b", "blocks.0.mlp.w", "blocks.0.mlp.b",
                                   "blocks.1.attn.w", "blocks.1.attn.b", "blocks.1.mlp.w", "blocks.1.mlp.b",
                                   "towers.0.w", "towers.0.b", "towers.1.w", "towers.1.b", "head.0", "head.2.w",
                                   "head.2.b", "norm.0", "norm.1", "bias.w", "bias.b", "extra.scale", "extra.shift",
                                   "by_number.-1.w", "by_number.-1.b", "by_number.20.w", "by_number.20.b"));
  EXPECT_THAT(tree_paths(zeros({2})), testing::ElementsAre(""));
  EXPECT_THAT(tree_paths(std::vector<Array>(11)), testing::Contains("10"));
  EXPECT_THAT(tree_paths(3), testing::IsEmpty());
}

TEST(Tree, LeavesComeInTheOrderOfFields) {
  EXPECT_THAT(values(model()), testing::ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 9, 9, 10, 11, 12, 12, 13, 14,
                                                    15, 15, 16, 16));
}

TEST(Tree, LeavesAreReplacedAndStaticValuesKept) {
  const Model m = model();
  Arrays leaves = tree_leaves(m);
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = full({}, static_cast<double>(i));
  const Model other = tree_unflatten(m, leaves);
  EXPECT_EQ(other.by_number.at(20).b.item<int>(), 24);
  EXPECT_EQ(other.bias->w.item<int>(), 17);
  EXPECT_EQ(std::get<1>(other.head), 8);
  EXPECT_EQ(other.name, "model");
  EXPECT_EQ(values(m)[24], 16) << "the original is unchanged";
}

TEST(Tree, EmptyParts) {
  Model m;
  EXPECT_THAT(tree_paths(m), testing::ElementsAre("towers.0.w", "towers.0.b", "towers.1.w", "towers.1.b", "head.0",
                                                  "head.2.w", "head.2.b", "norm.0", "norm.1"));
  EXPECT_EQ(tree_leaves(std::optional<Dense>()).size(), 0u);
  EXPECT_EQ(tree_leaves(std::vector<Dense>()).size(), 0u);
  EXPECT_EQ(tree_leaves(std::tuple<>()).size(), 0u);
}

TEST(Tree, SixtyFourFields) {
  Wide w;
  const auto slots = tree_paths(w);
  ASSERT_EQ(slots.size(), 64u);
  EXPECT_EQ(slots[0], "a0");
  EXPECT_EQ(slots[63], "a63");
  Arrays leaves;
  for (int i = 0; i < 64; ++i) leaves.push_back(full({}, i));
  w = tree_unflatten(w, leaves);
  EXPECT_EQ(w.a31.item<int>(), 31);
  EXPECT_EQ(w.a63.item<int>(), 63);
}

TEST(Tree, FortyFieldsOfStructs) {
  Deep d;
  const auto slots = tree_paths(d);
  ASSERT_EQ(slots.size(), 80u);
  EXPECT_EQ(slots[79], "d39.b");
  d = tree_unflatten(d, Arrays(80, full({2}, 2.0)));
  const auto loss = [](const Deep& m) { return sum(m.d0.w * m.d39.b); };
  const Deep g = grad(loss)(d);
  EXPECT_EQ(g.d39.b.to_vector<float>(), std::vector<float>(2, 2));
  EXPECT_EQ(g.d20.w.to_vector<float>(), std::vector<float>(2, 0));
}

class Counter {  // no aggregate: opts in
 public:
  explicit Counter(Array a) : a_(std::move(a)) {}
  static auto tree_fields(auto& self) { return std::tie(self.a_, self.step_); }
  static constexpr std::string_view tree_names[] = {"a", "step"};
  const Array& a() const { return a_; }

 private:
  Array a_;
  int step_ = 3;
};
TEST(Tree, ClassesOptIn) {
  const Counter c(full({}, 2.0));
  EXPECT_THAT(tree_paths(c), testing::ElementsAre("a"));
  EXPECT_EQ(tree_map([](const Array& x) { return x + 1.0; }, c).a().item<int>(), 3);
}

TEST(Tree, LargeStaticArraysAndVectorsOfBool) {
  struct Table {
    std::array<double, 20000> constants{};
    std::vector<bool> mask{true, false};
    Array w;
  };
  Table t{.w = zeros({1})};
  EXPECT_THAT(tree_paths(t), testing::ElementsAre("w"));
  const auto f = jit([](const Table& x) { return x.mask[1] ? x.w + x.constants[19999] : x.w; });
  EXPECT_EQ(f(t).item<int>(), 0);
  t.mask[1] = true;
  EXPECT_EQ(f(t).item<int>(), 0);
  t.constants[19999] = 5;
  EXPECT_EQ(f(t).item<int>(), 5);
}
}  // namespace

}  // namespace uni::testing_tree
