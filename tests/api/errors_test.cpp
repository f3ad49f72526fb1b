// Exact texts of what users read. The second line names this file and the test's line; it is checked once for all.
using namespace uni;

namespace {
struct Case {
  std::function<void()> call;
  std::string first;     // line
  std::string fix = "";  // last line, without "fix: "
};

void check(const Case& c) {
  try {
    c.call();
    ADD_FAILURE() << "no error; expected: " << c.first;
  } catch (const Error& e) {
    const std::string text = e.what();
    const std::size_t end = text.find('\n');
    EXPECT_EQ(text.substr(0, end), c.first);
    EXPECT_NE(text.find("(errors_test.cpp:"), std::string::npos) << "no location: " << text;
    const std::size_t fix = text.find("\nfix: ");
    EXPECT_EQ(fix == std::string::npos ? "" : text.substr(fix + 6), c.fix);
  }
}

const Array f = array({{1., 2.}, {3., 4.}});
const Array b = array({true, false});
const Array k = Key(0).array();

TEST(Errors, Elementwise) {
  const Case cases[] = {
      {[] {
         f + array({1., 2., 3.});
       },
       "add: shapes (2, 2) and (3,) do not broadcast"},
      {[] { -b; }, "negative: bool has no negative", "use logical_not, or astype to a number"},
      {[] { b - b; }, "subtract: bool has no subtract", "use logical_xor, or astype to a number"},
      {[] { f & 1; }, "bitwise_and: takes integers and bool, not f32"},
      {[] { f << 1; }, "left_shift: takes integers, not f32"},
      {[] { k + 1; }, "add: a random key and i32 have no common dtype"},
      {[] { uni::exp(k); }, "exp: a random key has no numeric value"},
      {[] { astype(300, Dtype::i8); }, "astype: 300 does not fit i8 (-128 to 127)"},
      {[] { astype(k, Dtype::u32); }, "astype: key cannot become u32"},
      {[] { astype(f, Dtype::u8) + (-1); }, "add: -1 does not fit u8 (0 to 255)"},
      {[] { power(array({2}), -1); }, "power: i32 to the negative power -1 is no integer", "use a floating base"},
      {[] { uni::floor(make_complex(f, f)); }, "floor: takes real numbers, not c64"},
      {[] { where(b, zeros({3}), 1.); }, "where: shapes (2,), (3,) and () do not broadcast"},
      {[] { uni::round(array({1}), {.decimals = 1}); }, "round: 1 decimals need a float, not i32",
       "astype to a float first"},
  };
  for (const Case& c : cases) check(c);
}

TEST(Errors, Creation) {
  const Case cases[] = {
      {[] {
         zeros({2, -1});
       },
       "zeros: the shape (2, -1) has a negative size"},
      {[] {
         zeros({i64{1} << 40, i64{1} << 40});
       },
       "zeros: the shape (1099511627776, 1099511627776) has too many elements"},
      {[] { full({2}, 300, {.dtype = Dtype::i8}); }, "full: 300 does not fit i8 (-128 to 127)"},
      {[] { full({2}, zeros({3})); }, "full: shapes (2,) and (3,) do not broadcast"},
      {[] { arange(0, 1, 0); }, "arange: the step is zero"},
      {[] { arange(0, 300, 1, {.dtype = Dtype::i8}); }, "arange: 299 does not fit i8 (-128 to 127)"},
      {[] { linspace(0, 1, -1); }, "linspace: the count -1 is negative"},
  };
  for (const Case& c : cases) check(c);
}

TEST(Errors, ReductionAndShape) {
  const Case cases[] = {
      {[] { sum(f, {.axis = 2}); }, "sum: axis 2 of f32[2,2] does not exist"},
      {[] {
         sum(f, {.axis = {0, -2}});
       },
       "sum: axis 0 of f32[2,2] is named twice"},
      {[] { max(zeros({0})); }, "max: f32[0] has no elements to choose from", "pass .initial"},
      {[] {
         argmax(zeros({2, 0}), {.axis = 1});
       },
       "argmax: f32[2,0] has no elements to choose from"},
      {[] {
         reshape(f, {3, -1});
       },
       "reshape: f32[2,2] of 4 elements does not fit the shape (3, -1)"},
      {[] {
         reshape(f, {-1, -1});
       },
       "reshape: the shape (-1, -1) has more than one -1"},
      {[] { transpose(f, {0}); }, "transpose: 1 axes are named of f32[2,2], which has 2"},
      {[] { squeeze(f, 0); }, "squeeze: axis 0 of f32[2,2] has size 2"},
      {[] {
         broadcast_to(f, {3, 2});
       },
       "broadcast_to: shape (2, 2) does not broadcast to (3, 2)"},
      {[] {
         concatenate({f, zeros({2, 3})});
       },
       "concatenate: f32[2,2] and f32[2,3] (part 1) differ outside axis 0"},
      {[] { concatenate({}); }, "concatenate: needs at least one array"},
      {[] {
         stack({f, zeros({2})});
       },
       "stack: f32[2,2] and f32[2] (part 1) have different shapes"},
      {[] { split(arange(7), 3); }, "split: axis 0 of i32[7] does not divide into 3 equal parts",
       "pass .uneven = true"},
      {[] {
         pad(f, {{1, 1}});
       },
       "pad: 1 widths for f32[2,2], which has 2 axes"},
      {[] {
         repeat(arange(2), array({1, 2, 3}));
       },
       "repeat: counts of shape (3,) for axis 0 of i32[2]"},
  };
  for (const Case& c : cases) check(c);
}

TEST(Errors, Indexing) {
  const Case cases[] = {
      {[] { f[2]; }, "index: 2 is out of range for axis 0 of size 2 of shape (2, 2)"},
      {[] {
         f[{0, 0, 0}];
       },
       "index: 3 indices for f32[2,2], which has 2 axes"},
      {[] {
         f[{ellipsis, ellipsis}];
       },
       "index: more than one ellipsis"},
      {[] { f[{slice(none, none, 0)}]; }, "index: a slice of step 0"},
      {[] { f[array({1.})]; }, "index: an index is an integer, not f32"},
      {[] {
         f[array({true, false, true})];
       },
       "index: a mask of shape (3,) does not fit axis 0 of f32[2,2]"},
      {[] {
         f[{array({0, 1}), array({0, 1, 1})}];
       },
       "index: shapes (2,) and (3,) do not broadcast"},
      {[] { f.at(0).set(zeros({3})); }, "set: a value of shape (3,) does not broadcast to the indexed shape (2,)"},
      {[] {
         array({1, 2}, {.dtype = Dtype::u8}).at(0).add(256);
       },
       "add: 256 does not fit u8 (0 to 255)"},
      {[] { take(f, 0.5); }, "take: an index is an integer, not f32"},
      {[] {
         dynamic_slice(f, {0}, {1, 1});
       },
       "dynamic_slice: 1 starts for f32[2,2], which has 2 axes"},
      {[] {
         dynamic_slice(f, {0, 0}, {3, 1});
       },
       "dynamic_slice: a window of (3, 1) does not fit f32[2,2]"},
      {[] { searchsorted(f, 1.); }, "searchsorted: f32[2,2] is not of rank 1"},
      {[] {
         top_k(array({1, 2}), 3);
       },
       "top_k: 3 of 2 elements"},
      {[] { jit([](const Array& x) { return x[x > 0]; })(f); }, "index: bool[2,2] has no value inside `jit`",
       "use where(mask, x, y), or x.at(mask).set(value) with one value for all"},
  };
  for (const Case& c : cases) check(c);
}

TEST(Errors, Products) {
  const Case cases[] = {
      {[] {
         matmul(zeros({128, 784}), zeros({512, 10}));
       },
       "matmul: lhs f32[128,784] and rhs f32[512,10] disagree on the contracted size: 784 (lhs axis 1) vs 512 (rhs "
       "axis "
       "0)"},
      {[] { matmul(f, 2.); }, "matmul: lhs f32[2,2] and rhs f32[]: a scalar has no axis to contract",
       "multiply with *"},
      {[] {
         matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
       },
       "matmul: shapes (2,) and (3,) do not broadcast"},
      {[] { einsum("ij,jk", f); }, "einsum: \"ij,jk\" names 2 operands, 1 are given"},
      {[] { einsum("ijk->i", f); }, "einsum: \"ijk\" names 3 axes of operand 0 f32[2,2], which has 2"},
      {[] { einsum("ij->k", f); }, "einsum: \"ij->k\": label k of the result is in no operand"},
      {[] { einsum("ij->ii", f); }, "einsum: \"ij->ii\": label i of the result is named twice"},
      {[] { einsum("ij,j->i", f, zeros({3})); }, "einsum: label j has size 2 in operand 0 and 3 in operand 1"},
      {[] { einsum("i+j->i", f); }, "einsum: \"i+j\" names 3 axes of operand 0 f32[2,2], which has 2"},
      {[] {
         conv(zeros({1, 8, 8, 3}), zeros({3, 3, 4, 8}));
       },
       "conv: x f32[1,8,8,3] and kernel f32[3,3,4,8] disagree on the channels: 3 (x) vs 4 (kernel)"},
      {[] {
         conv(zeros({1, 8, 8, 3}), zeros({3, 3, 3, 8}), {.padding = "VALDI"});
       },
       "conv: unknown padding \"VALDI\"; did you mean \"VALID\"?", "\"SAME\", \"VALID\" or widths by spatial axis"},
      {[] {
         max_pool(zeros({1, 4, 4, 1}), {2, 2, 2});
       },
       "max_pool: 3 values of the window for 2 spatial axes"},
  };
  for (const Case& c : cases) check(c);
}

TEST(Errors, Random) {
  const Case cases[] = {
      {[] { uniform(split_batch(Key(0), 2), {1}); }, "uniform: takes one key, not key[2]",
       "map over the keys with vmap"},
      {[] { uniform(Key(0), {1}, {.dtype = Dtype::i32}); }, "uniform: gives floats, not i32"},
      {[] { normal(Key(0), {-1}); }, "normal: the shape (-1,) has a negative size"},
      {[] { Key key(f); }, "Key: f32[2,2] is not a random key",
       "Key(seed) makes one from an integer, key_from_words from saved words"},
      {[] { fold_in(Key(0), -1); }, "fold_in: -1 does not fit u32 (0 to 4294967295)"},
      {[] { fold_in(Key(0), 0.5); }, "fold_in: folds an integer into the key, not f32"},
      {[] { choice(Key(0), 3, {4}, {.replace = false}); }, "choice: 4 draws without replacement from 3 entries"},
      {[] { bits(Key(0), {1}, {.dtype = Dtype::i32}); }, "bits: gives unsigned integers, not i32"},
  };
  for (const Case& c : cases) check(c);
}
}  // namespace
