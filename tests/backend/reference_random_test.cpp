// Threefry against expected words.
#include "golden.hpp"
#include "ops/random.hpp"

namespace uni {
namespace {

using namespace backend_test;
using Words = std::vector<std::uint32_t>;

HostArray eval(const ir::Op& op, const HostArrays& in, const ir::Params& params = {}) {
  return run_op(runtime::reference_client(), op, in, params);
}
HostArray key_of(const json& row) {
  const auto seed = row["params"]["seed"].get<std::uint64_t>();
  return eval(ops::key_wrap,
              {raw(Dtype::u32, {2}, Words{static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)})});
}

TEST(ReferenceRandom, Threefry) {
  for (const json& row : golden_rows("random", "threefry2x32")) {
    const Words key = row["inputs"]["key"]["data"], counter = row["inputs"]["counter"]["data"];
    const Words want = row["expected"]["data"];
    const ops::Words got = ops::threefry2x32({key[0], key[1]}, {counter[0], counter[1]});
    EXPECT_EQ((Words{got.a, got.b}), want) << row["name"];
  }
}
TEST(ReferenceRandom, BitsOfEveryWidth) {
  for (const char* group : {"bits8", "bits16", "bits32"})
    for (const json& row : golden_rows("random", group)) {
      const Dims shape(row["params"]["shape"].get<std::vector<i64>>());
      EXPECT_EQ(eval(ops::random_bits, {key_of(row)}, ops::RandomBits{row["params"]["width"], shape}),
                from_golden(row["expected"]))
          << row["name"];
    }
}
TEST(ReferenceRandom, SixtyFourBitsAreBothWords) {
  const HostArray key = eval(ops::key_wrap, {raw(Dtype::u32, {2}, Words{0, 0})});
  EXPECT_EQ(eval(ops::random_bits, {key}, ops::RandomBits{64, {1}}).at<std::uint64_t>(0), 0x6b20015999ba4efeu);
}
TEST(ReferenceRandom, SplitAndFoldIn) {
  for (const json& row : golden_rows("random", "split")) {
    const i64 num = row["params"]["num"];
    EXPECT_EQ(eval(ops::key_unwrap, {eval(ops::random_split, {key_of(row)}, ops::RandomSplit{{num}})}),
              from_golden(row["expected"]))
        << row["name"];
  }
  for (const json& row : golden_rows("random", "fold_in")) {
    const HostArray data = raw(Dtype::u32, {}, Words{row["params"]["data"].get<std::uint32_t>()});
    EXPECT_EQ(eval(ops::key_unwrap, {eval(ops::random_fold_in, {key_of(row), data})}), from_golden(row["expected"]))
        << row["name"];
  }
}
// A batch of keys gives what each key gives alone.
TEST(ReferenceRandom, KeysInABatchCountFromZero) {
  const HostArray words = raw(Dtype::u32, {2, 2}, Words{0, 42, 7, 9});
  const HostArray keys = eval(ops::key_wrap, {words});
  const HostArray all = eval(ops::random_bits, {keys}, ops::RandomBits{32, {3}});
  ASSERT_EQ(all.shape, (Dims{2, 3}));
  for (i64 k = 0; k < 2; ++k) {
    const HostArray key =
        eval(ops::key_wrap,
             {raw(Dtype::u32, {2}, Words{words.at<std::uint32_t>(2 * k), words.at<std::uint32_t>(2 * k + 1)})});
    const HostArray alone = eval(ops::random_bits, {key}, ops::RandomBits{32, {3}});
    for (i64 i = 0; i < 3; ++i) EXPECT_EQ(all.at<std::uint32_t>(3 * k + i), alone.at<std::uint32_t>(i));
  }
  EXPECT_EQ(eval(ops::random_bits, {keys}, ops::RandomBits{16, {0}}).shape, (Dims{2, 0}));
}

}  // namespace
}  // namespace uni
