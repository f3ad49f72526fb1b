// Seeded orders: permutations, the same everywhere, uniform.
#include <algorithm>
#include <numeric>

#include <unisono/data.hpp>
#include <unisono/error.hpp>

namespace {
using uni::i64;
using uni::data::shuffled_indices;

TEST(Shuffle, IsAPermutation) {
  for (i64 n : {0, 1, 2, 3, 1000}) {
    auto order = shuffled_indices(n, 7, 0);
    std::sort(order.begin(), order.end());
    std::vector<i64> sorted(static_cast<std::size_t>(n));
    std::iota(sorted.begin(), sorted.end(), i64{0});
    EXPECT_EQ(order, sorted) << n;
  }
}

TEST(Shuffle, DependsOnSeedAndEpochOnly) {
  EXPECT_EQ(shuffled_indices(100, 1, 2), shuffled_indices(100, 1, 2));
  EXPECT_NE(shuffled_indices(100, 1, 2), shuffled_indices(100, 2, 1));
  EXPECT_NE(shuffled_indices(100, 0, 0), shuffled_indices(100, 0, 1));
  EXPECT_NE(shuffled_indices(100, 0, 0), shuffled_indices(100, 1, 0));
}

// FNV-1a over the indices: what one machine wrote down must hold on every other.
std::uint64_t hash(const std::vector<i64>& order) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (i64 index : order) h = (h ^ static_cast<std::uint64_t>(index)) * 0x100000001b3u;
  return h;
}

TEST(Shuffle, OrdersWrittenDown) {
  EXPECT_EQ(shuffled_indices(10, 0, 0), (std::vector<i64>{2, 8, 4, 5, 1, 6, 3, 0, 9, 7}));
  EXPECT_EQ(hash(shuffled_indices(60000, 0, 0)), 2915785907369601619u);
  EXPECT_EQ(hash(shuffled_indices(60000, 42, 3)), 6808204548445299007u);
}

TEST(Shuffle, EveryOrderIsEquallyLikely) {
  std::map<std::vector<i64>, int> counts;
  constexpr int draws = 24000;
  for (int seed = 0; seed < draws; ++seed) ++counts[shuffled_indices(4, static_cast<std::uint64_t>(seed), 0)];
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom: one in a thousand lies above
}

TEST(Shuffle, RefusesNegativeCounts) { EXPECT_THROW(shuffled_indices(-1, 0, 0), uni::ShapeError); }
}  // namespace
