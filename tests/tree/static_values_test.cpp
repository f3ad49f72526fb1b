// Everything in a tree that is no Array is static: a trace is reused when all of it is equal, and only then.
#include "tree/models.hpp"

namespace uni::testing_tree {

namespace {
template <class T>
std::string structure(const T& tree) {
  std::string out;
  detail::append_structure(detail::tree_ref(tree), out);
  return out;
}
// Traces that calling `f` on both makes.
template <class T>
i64 traces(const T& a, const T& b) {
  const auto f = jit([](const T& t) { return tree_leaves(t).at(0) + 1.0; });
  const i64 before = jit_stats().traces;
  f(a);
  f(b);
  f(a);
  f(b);
  return jit_stats().traces - before;
}

template <class Change>
void expect_retrace(const Change& change) {
  Model other = model();
  change(other);
  EXPECT_NE(structure(other), structure(model()));
  EXPECT_EQ(traces(model(), other), 2);
}

TEST(StaticValues, EqualValuesShareATrace) {
  EXPECT_EQ(structure(model()), structure(model()));
  EXPECT_EQ(traces(model(), model()), 1);
  const Model copy = model();
  EXPECT_EQ(structure(copy), structure(model()));
}

TEST(StaticValues, EveryDifferenceIsSeen) {
  expect_retrace([](Model& m) { m.blocks[1].heads = 5; });
  expect_retrace([](Model& m) { m.blocks[0].activation = Activation::tanh; });
  expect_retrace([](Model& m) { m.tied = true; });
  expect_retrace([](Model& m) { m.name = "mode1"; });
  expect_retrace([](Model& m) { m.name = ""; });
  expect_retrace([](Model& m) { m.rate = 0.5f; });
  expect_retrace([](Model& m) { m.rate = -0.0f; });
  expect_retrace([](Model& m) { std::get<1>(m.head) = 9; });
  expect_retrace([](Model& m) { m.bias.reset(); });
  expect_retrace([](Model& m) { m.bias->b = Array(); });
  expect_retrace([](Model& m) { m.blocks.pop_back(); });
  expect_retrace([](Model& m) { m.extra.erase("scale"); });
  expect_retrace([](Model& m) {
    m.extra.erase("scale");
    m.extra["scalf"] = zeros({});
  });
  expect_retrace([](Model& m) {
    m.by_number.erase(20);
    m.by_number[21] = dense(16);
  });
}

TEST(StaticValues, NeighboursDoNotRunTogether) {
  using Names = std::vector<std::string>;
  EXPECT_NE(structure(Names{"ab", "c"}), structure(Names{"a", "bc"}));
  EXPECT_NE(structure(Names{"1:a"}), structure(Names{"1", "a"}));
  EXPECT_NE(structure(std::vector<std::vector<int>>{{1, 2}, {}}), structure(std::vector<std::vector<int>>{{1}, {2}}));
  EXPECT_NE(structure(std::pair<std::string, std::string>{"x", ""}),
            structure(std::pair<std::string, std::string>{"", "x"}));
  using Map = std::map<std::string, int>;
  EXPECT_NE(structure(Map{{"a", 1}}), structure(Map{{"b", 1}}));
}

TEST(StaticValues, TextOfPointersCounts) {
  char text[] = "one";
  struct Named {
    const char* name;
    Array a;
  };
  const Named first{text, zeros({})};
  const std::string one = structure(first);
  text[0] = 'O';
  EXPECT_NE(structure(first), one) << "the characters are compared, not the address";
  const std::string same = "One";
  EXPECT_EQ(structure(Named{same.c_str(), zeros({})}), structure(first));
  EXPECT_NE(structure(Named{nullptr, zeros({})}), structure(Named{"", zeros({})}));
}

TEST(StaticValues, PaddingDoesNotCount) {
  struct Wide {
    long double x;
    Array a;
  };
  Wide a{1.25L, zeros({})}, b{1.25L, zeros({})};
  unsigned char* bytes = reinterpret_cast<unsigned char*>(&b.x);
  for (std::size_t i = 10; i < sizeof(long double); ++i) bytes[i] = 0xab;  // x87 values have ten bytes
  EXPECT_EQ(structure(a), structure(b));
  b.x = -1.25L;
  EXPECT_NE(structure(a), structure(b));
}
}  // namespace

}  // namespace uni::testing_tree
