// What golden rows do not reach: other dtypes, transformations, statistics of large draws, and the texts of errors.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include <unisono/unisono.hpp>

using namespace uni;

namespace {
void expect_error(const std::function<void()>& call, const std::string& first) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << first;
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.substr(0, text.find('\n')), first);
    EXPECT_NE(text.find("(nn_test.cpp:"), std::string::npos) << "no location: " << text;
  }
}

TEST(Activations, KeepDtypeAndWeakness) {
  for (const Dtype d : {Dtype::f16, Dtype::bf16, Dtype::f64})
    for (const auto f :
         {+[](const Array& x) { return nn::gelu(x); }, +[](const Array& x) { return nn::selu(x); },
          +[](const Array& x) { return nn::mish(x); }, +[](const Array& x) { return nn::relu6(x); },
          +[](const Array& x) { return nn::standardize(x); }, +[](const Array& x) { return nn::logmeanexp(x); }})
      EXPECT_EQ(f(ones({3}, d)).dtype(), d);
  EXPECT_TRUE(nn::silu(2).weak());
  EXPECT_FLOAT_EQ(nn::silu(1).item<float>(), 0.731058579f);
}

TEST(Activations, EmptyAndTransformed) {
  EXPECT_EQ(nn::gelu(zeros({0, 3})).shape(), (Dims{0, 3}));
  EXPECT_EQ(nn::glu(zeros({2, 0})).shape(), (Dims{2, 0}));
  EXPECT_TRUE(std::isnan(nn::logmeanexp(zeros({0})).item<float>()));
  const auto f = [](const Array& x) { return sum(nn::standardize(nn::glu(nn::celu(x))) * arange(2)); };
  const Array x = normal(Key(1), {3, 4});
  const Array plain = stack({grad(f)(x[0]), grad(f)(x[1]), grad(f)(x[2])});
  EXPECT_TRUE(allclose(jit(vmap(grad(f)))(x), plain, {.atol = 1e-6}).item<bool>());
}

TEST(Activations, Errors) {
  expect_error([] { nn::glu(zeros({2, 3})); }, "glu: axis 1 of f32[2,3] cannot be halved, its size 3 is odd");
  expect_error([] { nn::glu(zeros({2}), {.axis = 1}); }, "glu: axis 1 of f32[2] does not exist");
  expect_error([] { nn::relu(make_complex(1., 2.)); }, "maximum: takes bool, integers and floats, not c64[]");
}

TEST(Attention, RowsThatSeeNothingWeighAllKeysEqually) {
  const Array q = ones({1, 1, 1, 2}), k = reshape(arange(6.f), {1, 3, 1, 2});
  const Array none = array({{{{false, false, false}}}});
  EXPECT_TRUE(allclose(nn::dot_product_attention(q, k, k, {.mask = none}), array({{{{2., 3.}}}})).item<bool>());
}

TEST(Attention, SmallFloatsAreExponentiatedInF32) {
  const Array q = normal(Key(0), {1, 4, 2, 8}), k = normal(Key(1), {1, 5, 2, 8});
  const Array small = nn::dot_product_attention(astype(q, Dtype::bf16), astype(k, Dtype::bf16), astype(k, Dtype::bf16));
  EXPECT_EQ(small.dtype(), Dtype::bf16);
  EXPECT_LT(max(abs(astype(small, Dtype::f32) - nn::dot_product_attention(q, k, k))).item<float>(), 0.03f);
}

TEST(Attention, Errors) {
  const Array x = zeros({2, 3, 4, 5});
  expect_error(
      [&] {
        nn::dot_product_attention(x, x, zeros({2, 3}));
      },
      "dot_product_attention: query, key and value f32[2,3,4,5], f32[2,3,4,5] and f32[2,3] do not all have the "
      "3 or 4 axes of [batch, length, heads, size]");
  expect_error(
      [&] {
        nn::dot_product_attention(x, zeros({1, 3, 4, 5}), zeros({1, 3, 4, 5}));
      },
      "dot_product_attention: query, key and value f32[2,3,4,5], f32[1,3,4,5] and f32[1,3,4,5] disagree; key and "
      "value have one shape, and batch and size of the query");
  expect_error(
      [&] {
        nn::dot_product_attention(x, zeros({2, 3, 3, 5}), zeros({2, 3, 3, 5}));
      },
      "dot_product_attention: 4 heads of the query are not a multiple of 3 heads of the key");
  expect_error(
      [&] {
        nn::dot_product_attention(x, x, x, {.mask = zeros({3, 3})});
      },
      "dot_product_attention: .mask is bool, not f32");
  expect_error(
      [&] {
        nn::dot_product_attention(x, x, x, {.bias = zeros({2, 3})});
      },
      "dot_product_attention: .bias of shape (2, 3) does not broadcast to (2, 4, 3, 3)");
  expect_error(
      [&] {
        nn::dot_product_attention(x, x, x, {.key_lengths = array({1, 2, 3})});
      },
      "dot_product_attention: .key_lengths i32[3] are not 2 integers, one for each example");
}

TEST(Initializers, HaveTheAskedDeviation) {
  using namespace nn::initializers;
  const Dims shape{3, 3, 64, 96};  // fan in 576, out 864
  const auto deviation = [&](const Initializer& i) { return uni::std(i(Key(3), shape)).item<double>(); };
  EXPECT_NEAR(deviation(lecun_normal()), std::sqrt(1 / 576.), 4e-4);
  EXPECT_NEAR(deviation(he_uniform()), std::sqrt(2 / 576.), 6e-4);
  EXPECT_NEAR(deviation(glorot_normal()), std::sqrt(1 / 720.), 4e-4);
  EXPECT_NEAR(max(lecun_normal()(Key(3), shape)).item<double>(), 2.273694 * std::sqrt(1 / 576.), 1e-4);
}

TEST(Initializers, OrthogonalColumnsInAllDtypes) {
  for (const Dtype d : {Dtype::f32, Dtype::f64, Dtype::c64}) {
    const Array q = nn::initializers::orthogonal()(Key(0), {2, 4, 3}, d), flat = reshape(q, {8, 3});
    EXPECT_EQ(q.dtype(), d);
    EXPECT_TRUE(allclose(matmul(conj(matrix_transpose(flat)), flat), eye(3), {.atol = 1e-5}).item<bool>());
  }
  EXPECT_EQ(nn::initializers::orthogonal()(Key(0), {0, 3}).shape(), (Dims{0, 3}));
  EXPECT_EQ(nn::initializers::he_normal()(Key(0), {0, 3}).shape(), (Dims{0, 3}));
}

TEST(Initializers, Errors) {
  using namespace nn::initializers;
  expect_error([] { orthogonal()(Key(0), {3}); }, "orthogonal: the shape (3,) has fewer than two axes");
  expect_error(
      [] {
        delta_orthogonal()(Key(0), {3, 4, 2});
      },
      "delta_orthogonal: the shape (3, 4, 2) is not [spatial..., in, out] with 1 to 3 spatial axes and at most "
      "`out` inputs");
  expect_error([] { lecun_normal()(Key(0), {3}); }, "fans: axis -2 of f32[3] does not exist");
  expect_error([] { lecun_normal()(Key(0), {3, 3}, Dtype::i32); }, "truncated_normal: gives floats, not i32");
}
}  // namespace
