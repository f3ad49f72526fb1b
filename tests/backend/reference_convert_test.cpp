// Conversions, by both backends: expected values, all 16-bit floats, and integers and
// doubles that a step through f32 would round twice.
#include <complex>
#include <limits>

#include "golden.hpp"
#include "ops/elementwise.hpp"

namespace uni {
namespace {

using namespace backend_test;

HostArray converted(const HostArray& x, Dtype dtype) {
  const HostArray got = run_op(runtime::reference_client(), ops::convert, {x}, ops::Convert{dtype, false});
  EXPECT_EQ(difference(run_op(runtime::native_client(), ops::convert, {x}, ops::Convert{dtype, false}), got), "")
      << "native: " << name(x.dtype) << " to " << name(dtype);
  return got;
}

TEST(ReferenceConvert, ExpectedValues) {
  int count = 0;
  const auto run = [&](const char* file, const char* group) {
    for (const json& row : golden_rows(file, group)) {
      if (row["op"] != "astype") continue;
      const json& in = row["inputs"].is_array() ? row["inputs"][0] : row["inputs"];
      const std::string to = row["params"]["dtype"];
      if (to.rfind("float8", 0) == 0 || !row["expected"].contains("dtype")) continue;
      HostArray want = from_golden(row["expected"]);
      // The rows cut f64 to bf16 by way of f32; here it is rounded once.
      if (in["dtype"] == "float64" && to == "bfloat16") continue;
      EXPECT_EQ(difference(converted(from_golden(in), want.dtype), want), "") << file << " " << row["name"];
      ++count;
    }
  };
  run("numerics", "cast");
  for (const char* from :
       {"float32_to", "float64_to", "bfloat16_to", "int32_to", "int64_to", "uint32_to", "complex64_to"})
    run("casts", from);
  run("casts", "round");
  EXPECT_GE(count, 90);
}

TEST(ReferenceConvert, BitcastKeepsBits) {
  for (const json& row : golden_rows("casts", "bitcast")) {
    if (!is_array(row["expected"])) continue;
    const HostArray in = from_golden(row["inputs"][0]), want = from_golden(row["expected"]);
    if (itemsize(in.dtype) != itemsize(want.dtype)) continue;  // composed: adds or takes an axis
    EXPECT_EQ(run_op(runtime::reference_client(), ops::bitcast, {in}, ops::Bitcast{want.dtype}), want) << row["name"];
  }
}

TEST(ReferenceConvert, SixteenBitFloatsSurviveWiderOnes) {
  for (const Dtype half : {Dtype::f16, Dtype::bf16}) {
    std::vector<std::uint16_t> bits;
    const unsigned infinity = half == Dtype::f16 ? 0x7c00 : 0x7f80;
    for (unsigned b = 0; b < 65536; ++b)
      if ((b & 0x7fff) <= infinity) bits.push_back(static_cast<std::uint16_t>(b));
    const HostArray x = raw(half, {static_cast<i64>(bits.size())}, bits);
    for (const Dtype wide : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128})
      EXPECT_EQ(converted(converted(x, wide), half), x) << name(half) << " " << name(wide);
  }
}

TEST(ReferenceConvert, DoublesRoundToSixteenBitsOnce) {
  const double tie = 1 + 0x1p-8;  // of bf16
  EXPECT_EQ(
      values(converted(vec(Dtype::f64, {tie, tie + 0x1p-40, tie - 0x1p-40, -tie - 0x1p-40, 1e-300}), Dtype::bf16)),
      (std::vector<double>{1, 1.0078125, 1, -1.0078125, 0}));
  const std::vector<std::complex<double>> z = {{tie + 0x1p-40, 5}};
  EXPECT_EQ(values(converted(raw(Dtype::c128, {1}, z), Dtype::bf16)), (std::vector<double>{1.0078125}));
  const double half_tie = 1 + 0x1p-11;  // of f16
  EXPECT_EQ(values(converted(vec(Dtype::f64, {half_tie + 0x1p-40, 65519.99999, 65520, 0x1p-25, 0x1.0000001p-25}),
                             Dtype::f16)),
            (std::vector<double>{1 + 0x1p-10, 65504, std::numeric_limits<double>::infinity(), 0, 0x1p-24}));
}
TEST(ReferenceConvert, IntegersRoundToSixteenBitsOnce) {
  const i64 tie = (i64{1} << 62) + (i64{1} << 54);  // halfway between two bf16 numbers
  const HostArray x = raw(Dtype::i64, {4}, std::vector<i64>{tie, tie + 1, tie - 1, -tie - 1});
  EXPECT_EQ(values(converted(x, Dtype::bf16)),
            (std::vector<double>{0x1p62, 0x1p62 + 0x1p55, 0x1p62, -0x1p62 - 0x1p55}));
  const std::uint64_t high = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 55);
  const HostArray u = raw(Dtype::u64, {2}, std::vector<std::uint64_t>{high + 1, ~std::uint64_t{0}});
  EXPECT_EQ(values(converted(u, Dtype::bf16)), (std::vector<double>{0x1p63 + 0x1p56, 0x1p64}));
  EXPECT_EQ(values(converted(vec(Dtype::i32, {16777217, 16777219, -2147483648.0}), Dtype::f32)),
            (std::vector<double>{16777216, 16777220, -2147483648.0}));
}
TEST(ReferenceConvert, FloatsSaturateIntoEveryInteger) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Dtype from : {Dtype::f64, Dtype::f32, Dtype::bf16})
    for (const Dtype to :
         {Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64, Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64}) {
      const HostArray got = converted(vec(from, {infinity, -infinity, 1e30, -1e30, std::nan(""), -0.75, 2.75}), to);
      const int bits = 8 * itemsize(to);
      const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
      const std::uint64_t low = is_signed(to) ? std::uint64_t{1} << (bits - 1) : 0, high = all ^ low;
      const std::vector<std::uint64_t> want = {high, low, high, low, 0, 0, 2};
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(got.element(static_cast<i64>(i)).low, want[i])
            << name(from) << " to " << name(to) << " element " << i;
    }
}
TEST(ReferenceConvert, ToAndFromBool) {
  EXPECT_EQ(converted(vec(Dtype::f32, {0, -0.0, 0.5, std::nan("")}), Dtype::b8), vec(Dtype::b8, {0, 0, 1, 1}));
  EXPECT_EQ(converted(vec(Dtype::u8, {0, 2}), Dtype::b8), vec(Dtype::b8, {0, 1}));
  const std::vector<std::complex<float>> z = {{0, 0}, {0, 1}};
  EXPECT_EQ(converted(raw(Dtype::c64, {2}, z), Dtype::b8), vec(Dtype::b8, {0, 1}));
  for (const Dtype to : {Dtype::i8, Dtype::u64, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::c64})
    EXPECT_EQ(values(converted(vec(Dtype::b8, {0, 1}), to)), (std::vector<double>{0, 1})) << name(to);
}

}  // namespace
}  // namespace uni
