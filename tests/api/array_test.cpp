// Array itself: scalars, reading, sharing, literals, what happens inside traced code.
#include <sstream>

#include "core/node.hpp"
#include "interp/stage.hpp"

using namespace uni;
using interp::Staged;

namespace {
template <class F>
Staged stage_of(const F& f, const Array& x) {
  return interp::stage([&](std::span<const Array> in) { return Arrays{f(in[0])}; }, {core::type_of(x)}, "test");
}
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// What must not compile.
template <class T>
concept SumTakesTwoIntegers = requires(T x) {
  sum(x, {0, 1});
};
template <class T>
concept SumTakesAxisAndFlag = requires(T x) {
  sum(x, {0, true});
};
template <class T>
concept ElementsCanBeAssigned = requires(T x) {
  x[0] = x;
};
template <class T>
concept HasTruthValue = requires(T x) {
  x ? 1 : 0;
};
template <class T>
concept MakesKeys = requires(T seed) {
  Key(seed);
};
static_assert(!SumTakesTwoIntegers<Array> && SumTakesAxisAndFlag<Array>);
static_assert(!ElementsCanBeAssigned<Array> && !HasTruthValue<Array>);
static_assert(MakesKeys<int> && MakesKeys<std::uint64_t> && !MakesKeys<double> && !MakesKeys<bool>);

TEST(Array, ScalarsAreWeakUnlessBool) {
  EXPECT_EQ(Array(3).dtype(), Dtype::i32);
  EXPECT_TRUE(Array(3).weak());
  EXPECT_EQ(Array(2.5).dtype(), Dtype::f32);
  EXPECT_TRUE(Array(2.5f).weak());
  EXPECT_EQ(Array(true).dtype(), Dtype::b8);
  EXPECT_FALSE(Array(true).weak());
  EXPECT_EQ(Array(std::size_t{7}).item<int>(), 7);
}

TEST(Array, AnIntegerThatDoesNotFitIsAnError) {
  EXPECT_EQ(first_line(message([] { Array x(i64{1} << 40); })),
            "Array: 1099511627776 does not fit i32 (-2147483648 to 2147483647)");
  const Array wide = full({}, 1, {.dtype = Dtype::i64});
  EXPECT_EQ((wide + (i64{1} << 40)).item<i64>(), (i64{1} << 40) + 1);
  EXPECT_EQ(first_line(message([] {
              array({1, 2}) + 3000000000;
            })),
            "add: 3000000000 does not fit i32 (-2147483648 to 2147483647)");
}

TEST(Array, ShapeQuestions) {
  const Array x = zeros({2, 3, 4});
  EXPECT_EQ(x.shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(x.shape(-1), 4);
  EXPECT_EQ(x.rank(), 3);
  EXPECT_EQ(x.size(), 24);
  EXPECT_EQ(message([&] { x.shape(3); }), "shape: axis 3 of f32[2,3,4] does not exist");
  EXPECT_EQ(first_line(message([] { Array().shape(); })), "an Array that holds nothing was used");
}

TEST(Array, CopiesShareAndAssignmentRebinds) {
  Array x = array({1., 2.});
  const Array y = x;
  EXPECT_EQ(x.node(), y.node());
  x += 1;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2}));
  x -= y;
  x *= 4;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 2}));
  Array z = std::move(x);
  EXPECT_FALSE(x.defined());
  z = z;
  EXPECT_EQ(z.size(), 2);
}

TEST(Array, ReadingConverts) {
  const Array x = array({-1.5, 300., std::nan("")});
  EXPECT_EQ(x.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 255, 0}));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{-1, 300, 0}));
  EXPECT_EQ(array({true, false}).to_vector<double>(), (std::vector<double>{1, 0}));
  EXPECT_EQ(array({7})[0].item<double>(), 7.0);
  EXPECT_EQ(reshape(array({7}), {1, 1}).item<int>(), 7);
  const std::vector<std::uint64_t> big = {~std::uint64_t{0}};
  EXPECT_EQ(array(std::span<const std::uint64_t>(big), {1}).to_vector<std::uint64_t>(), big);
}

TEST(Array, ViewGivesTheBytesThemselves) {
  const Array x = array({1., 2., 3.});
  EXPECT_EQ(x.view<float>()[2], 3.f);
  EXPECT_EQ(x.view<float>().data(), x.view<float>().data());
  EXPECT_EQ(first_line(message([&] { x.view<int>(); })), "view: the array is f32[3], not i32");
}

TEST(Array, ReadingErrors) {
  const std::string text = message([] { arange(3).item<int>(); });
  EXPECT_EQ(first_line(text), "item: i32[3] does not hold exactly one element");
  EXPECT_NE(text.find("(array_test.cpp:"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.rfind('\n') + 1), "fix: index it, or use to_vector");
  EXPECT_EQ(first_line(message([] { Key(1).array().item<int>(); })), "item: a random key has no numeric value");
}

TEST(Array, TracedValuesCannotBeRead) {
  const std::string text =
      message([] { jit([](const Array& x) { return x.item<float>() > 0 ? x : -x; })(Array(1.0)); });
  EXPECT_EQ(first_line(text), "item: f32[]* has no value inside `jit`");
  EXPECT_NE(text.find("(array_test.cpp:"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.rfind('\n') + 1),
            "fix: choose by a traced value with where, or return it and read it outside");
}

TEST(Array, ValuesAreConcreteUnderGrad) {
  const auto f = [](const Array& x) { return x.item<float>() > 1 ? x * x : x; };
  EXPECT_EQ(grad(f)(full({}, 3.0)).item<float>(), 6.f);
  EXPECT_EQ(grad(f)(full({}, 0.5)).item<float>(), 1.f);
  EXPECT_EQ(grad(grad(f))(full({}, 3.0)).item<float>(), 2.f);
}

TEST(Array, ScalarsInsideTracedCodeAreConstants) {
  const auto f = jit([](const Array& x) {
    const Array two = 2.0;
    return x * two + Array(1);
  });
  EXPECT_EQ(f(array({1., 2.})).to_vector<float>(), (std::vector<float>{3, 5}));
}

TEST(Array, LiteralsInsideTracedCodeAreConstants) {
  const auto f = [](const Array& x) { return x + array({{1., 1.}, {2., 3.}}); };
  EXPECT_EQ(jit(f)(zeros({2, 2})).to_vector<float>(), (std::vector<float>{1, 1, 2, 3}));
  // Nothing is captured: the program has one input.
  const Staged program = stage_of(f, zeros({2, 2}));
  EXPECT_EQ(program.captured.size(), 0u);
}

TEST(Array, Literals) {
  EXPECT_EQ(array({{1, 2}, {3, 4}}).shape(), (Dims{2, 2}));
  EXPECT_EQ(array({{1, 2}, {3, 4}}).dtype(), Dtype::i32);
  EXPECT_EQ(array({1, 2.5}).dtype(), Dtype::f32);
  EXPECT_EQ(array({true, false}).dtype(), Dtype::b8);
  EXPECT_EQ(array({}).shape(), Dims{0});
  EXPECT_EQ(array({1, 2}, {.dtype = Dtype::f64}).dtype(), Dtype::f64);
  EXPECT_FALSE(array({1.}).weak());
  EXPECT_EQ(first_line(message([] {
              array({{1, 2}, {3}});
            })),
            "array: the list is ragged: entry [1] has 1 elements where the first has 2");
  EXPECT_EQ(first_line(message([] {
              array({{1, 2}, 3});
            })),
            "array: the list is ragged: entry [1] is a number where others are lists");
  EXPECT_EQ(first_line(message([] {
              array({1, 300}, {.dtype = Dtype::u8});
            })),
            "array: 300 does not fit u8 (0 to 255)");
}

TEST(Array, HostData) {
  const std::vector<std::int16_t> values = {1, 2, 3, 4, 5, 6};
  const Array x = array(std::span<const std::int16_t>(values), {2, 3});
  EXPECT_EQ(x.dtype(), Dtype::i16);
  EXPECT_EQ((x[{1, 2}].item<int>()), 6);
  EXPECT_EQ(first_line(message([&] {
              array(std::span<const std::int16_t>(values), {2, 2});
            })),
            "array: 6 values do not fill the shape (2, 2), which takes 4");
  const unsigned char odd[] = {2, 0, 255};
  EXPECT_EQ(from_bytes(odd, Dtype::b8, {3}).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_EQ(first_line(message([&] { from_bytes(odd, Dtype::b8, {-1}); })),
            "from_bytes: the shape (-1,) has a negative size");
}

struct Printed {
  Array array;
  std::string text;
};

TEST(Array, PrintsAsNumPyDoes) {
  const Printed cases[] = {
      {array({1., 2.25, 3.5}), "[1.   2.25 3.5 ]"},
      {array({{1., 2.}, {3., 4.}}), "[[1. 2.]\n [3. 4.]]"},
      {array({1e10, 1.5}), "[1.0e+10 1.5e+00]"},
      {array({0.1, 1. / 3, 2. / 3, 1e-3}), "[0.1        0.33333334 0.6666667  0.001     ]"},
      {array({std::nan(""), 1., HUGE_VAL, -HUGE_VAL}), "[ nan   1.  inf -inf]"},
      {array({-1.5, 2., -3.25}), "[-1.5   2.   -3.25]"},
      {array({1e-5, 1.}), "[1.e-05 1.e+00]"},
      {arange(2000), "[   0    1    2 ... 1997 1998 1999]"},
      {reshape(arange(24), {2, 3, 4}),
       "[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]"},
      {array({true, false}), "[ True False]"},
      {array({123456.789, 1.5}, {.dtype = Dtype::f64}), "[1.23456789e+05 1.50000000e+00]"},
      {array({-163019.8346966, 46278.22555258, -90729.83643832, 5194.53957961, 72909.05621775}, {.dtype = Dtype::f64}),
       "[-163019.8346966    46278.22555258  -90729.83643832    5194.53957961\n   72909.05621775]"},
      {array({-100, 5, 12345}), "[ -100     5 12345]"},
      {make_complex(array({1., 3.5}), array({2., -1.})), "[1. +2.j 3.5-1.j]"},
      {array({0., -0.}), "[ 0. -0.]"},
      {array({99999999., 1e5}, {.dtype = Dtype::f64}), "[99999999.   100000.]"},
      {array({0.1, 0.5, 65504.}, {.dtype = Dtype::f16}), "[1.00e-01 5.00e-01 6.55e+04]"},
      {zeros({3, 0}), "[]"},
      {Array(1.5), "1.5"},
      {Array(1.0), "1.0"},
      {Array(1e10), "1e+10"},
      {full({}, 1e10, {.dtype = Dtype::f64}), "10000000000.0"},
      {Array(-5), "-5"},
      {Array(true), "True"},
      {make_complex(1., -2.5), "(1-2.5j)"},
      {Key(i64{7} << 32 | 42).array(), "000000070000002a"},
      {Array(), "<no value>"},
  };
  for (const Printed& c : cases) EXPECT_EQ(to_string(c.array), c.text);
  std::ostringstream out;
  out << array({1, 2});
  EXPECT_EQ(out.str(), "[1 2]");
}

TEST(Array, PrintsManyRowsShortened) {
  EXPECT_EQ(to_string(reshape(arange(1001.0), {1001, 1})),
            "[[   0.]\n [   1.]\n [   2.]\n ...\n [ 998.]\n [ 999.]\n [1000.]]");
}

TEST(Array, PrintsTracersByType) {
  std::string text;
  jit([&](const Array& x) {
    text = to_string(x);
    return x;
  })(zeros({2}));
  EXPECT_EQ(text, "<f32[2] in `jit`>");
}
}  // namespace
