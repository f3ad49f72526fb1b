// Type rules of element-wise and random rows: results and exact messages.
#include <gtest/gtest.h>

#include "core/node.hpp"
#include "ops/elementwise.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni {

namespace {
using ir::Type;
using ir::Types;

Type type(const char* dtype, Dims shape = {}, bool weak = false) {
  return {dtype_of(dtype), std::move(shape), weak, {}};
}

// The result's type as text, or the error's kind and message.
std::string infer(const ir::Op& op, const Types& in, const ir::Params& params = {}) {
  try {
    return ir::to_string(ir::infer(op, in, params)[0]);
  } catch (const ShapeError& e) {
    return std::string("ShapeError: ") + e.what();
  } catch (const DtypeError& e) {
    return std::string("DtypeError: ") + e.what();
  }
}

TEST(PointwiseTypes, ResultsAndMessages) {
  using namespace ops;
  using ops::add, ops::bitcast, ops::maximum, ops::real;
  const Type f = type("f32", {2, 3}), wide = type("f64", {2, 3}), c = type("c64", {2, 3}), i = type("i32", {2, 3}),
             b = type("bool", {2, 3}), key = type("key", {2, 3}), weak = type("f32", {}, true), strong = type("f32"),
             words = type("u32", {4, 2});
  const struct {
    const ir::Op& op;
    Types in;
    ir::Params params;
    const char* want;
  } table[] = {
      {add, {f, f}, {}, "f32[2,3]"},
      {add, {weak, weak}, {}, "f32[]*"},
      {add, {weak, strong}, {}, "f32[]"},
      {ops::abs, {c}, {}, "f32[2,3]"},
      {compare, {f, f}, Compare{Compare::Direction::lt}, "bool[2,3]"},
      {select, {b, key, key}, {}, "key[2,3]"},
      {complex, {wide, wide}, {}, "c128[2,3]"},
      {convert, {f}, Convert{Dtype::i8, true}, "i8[2,3]*"},
      {convert, {weak}, Convert{Dtype::b8, true}, "bool[]"},
      {bitcast, {f}, Bitcast{Dtype::i32}, "i32[2,3]"},
      {integer_pow, {i}, IntegerPow{3}, "i32[2,3]"},
      {random_bits, {key}, RandomBits{16, {5}}, "u16[2,3,5]"},
      {random_split, {key}, RandomSplit{{5}}, "key[2,3,5]"},
      {key_wrap, {words}, {}, "key[4]"},
      {key_unwrap, {key}, {}, "u32[2,3,2]"},
      {add, {f}, {}, "ShapeError: add: takes 2 operands, got 1"},
      {ops::exp, {f, f}, {}, "ShapeError: exp: takes 1 operand, got 2"},
      {add, {f, type("f32", {2, 4})}, {}, "ShapeError: add: operands f32[2,3] and f32[2,4] have different shapes"},
      {add, {f, i}, {}, "DtypeError: add: operands f32[2,3] and i32[2,3] have different dtypes"},
      {add, {key, key}, {}, "DtypeError: add: takes bool, integers, floats and complex numbers, not key[2,3]"},
      {neg, {b}, {}, "DtypeError: neg: takes integers, floats and complex numbers, not bool[2,3]"},
      {sub, {b, b}, {}, "DtypeError: sub: takes integers, floats and complex numbers, not bool[2,3]"},
      {ops::sin, {i}, {}, "DtypeError: sin: takes floats and complex numbers, not i32[2,3]"},
      {ops::floor, {c}, {}, "DtypeError: floor: takes floats, not c64[2,3]"},
      {maximum, {c, c}, {}, "DtypeError: maximum: takes bool, integers and floats, not c64[2,3]"},
      {and_, {f, f}, {}, "DtypeError: and: takes bool and integers, not f32[2,3]"},
      {shift_left, {b, b}, {}, "DtypeError: shift_left: takes integers, not bool[2,3]"},
      {real, {f}, {}, "DtypeError: real: takes complex numbers, not f32[2,3]"},
      {complex, {type("f16"), type("f16")}, {}, "DtypeError: complex: takes f32 or f64, not f16[]"},
      {compare,
       {c, c},
       Compare{Compare::Direction::lt},
       "DtypeError: compare: takes bool, integers and floats, not c64[2,3]"},
      {compare, {f, f}, Compare{Compare::Direction(6)}, "ShapeError: compare: 6 is no direction"},
      {select, {i, f, f}, {}, "DtypeError: select: takes bool, not i32[2,3]"},
      {select,
       {type("bool"), f, f},
       {},
       "ShapeError: select: operands bool[], f32[2,3] and f32[2,3] have different shapes"},
      {clamp, {f, f, strong}, {}, "ShapeError: clamp: operands f32[2,3], f32[2,3] and f32[] have different shapes"},
      {convert,
       {key},
       Convert{Dtype::u32, false},
       "DtypeError: convert: takes bool, integers, floats and complex numbers, not key[2,3]"},
      {convert, {f}, Convert{Dtype::key, false}, "DtypeError: convert: f32[2,3] does not convert to keys"},
      {bitcast, {f}, Bitcast{Dtype::i64}, "DtypeError: bitcast: f32[2,3] cannot be read as i64 (32 and 64 bits)"},
      {bitcast,
       {b},
       Bitcast{Dtype::i8},
       "DtypeError: bitcast: takes integers, floats and complex numbers, not bool[2,3]"},
      {integer_pow,
       {i},
       IntegerPow{-1},
       "DtypeError: integer_pow: exponent -1 of i32[2,3] is negative, its result is no integer"},
      {random_bits, {i}, RandomBits{32, {}}, "DtypeError: random_bits: takes keys, not i32[2,3]"},
      {random_bits, {key}, RandomBits{24, {}}, "DtypeError: random_bits: width is 8, 16, 32 or 64, not 24"},
      {random_split, {key}, RandomSplit{{-1}}, "ShapeError: random_split: shape (2, 3, -1) has a negative size"},
      {random_bits,
       {key},
       RandomBits{8, {i64{1} << 40, i64{1} << 40}},
       "ShapeError: random_bits: shape (2, 3, 1099511627776, 1099511627776) has too many elements"},
      {random_fold_in, {key, i}, {}, "DtypeError: random_fold_in: the data is u32, not i32[2,3]"},
      {key_wrap, {i}, {}, "DtypeError: key_wrap: takes u32, not i32[2,3]"},
      {key_wrap,
       {type("u32", {2, 3})},
       {},
       "ShapeError: key_wrap: u32[2,3] has no last dimension of the two words of a key"},
  };
  for (const auto& row : table) EXPECT_EQ(infer(row.op, row.in, row.params), row.want) << row.op.name;
}

TEST(PointwiseTypes, ConvertGivesBackWhatNeedsNoConversion) {
  const Array x = lax::full(1.5, Dtype::f32, {2});
  EXPECT_EQ(lax::convert(x, Dtype::f32).node(), x.node());
  EXPECT_NE(lax::convert(x, Dtype::f32, true).node(), x.node());
  EXPECT_TRUE(lax::convert(x, Dtype::f32, true).weak());
}

TEST(PointwiseTypes, AnArrayThatHoldsNothing) {
  try {
    lax::add(Array(), Array());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, 37), "an Array that holds nothing was used\n");
  }
}
}  // namespace

}  // namespace uni
