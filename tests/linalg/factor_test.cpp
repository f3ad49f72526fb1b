// Factorisations multiply back to what they factor, for every dtype, size and batch.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include <unisono/unisono.hpp>

using namespace uni;

namespace {
constexpr Dtype dtypes[] = {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

Array drawn(Dtype dtype, const Dims& shape, std::uint64_t seed = 0) {
  const Key key(seed);
  if (!is_complex(dtype)) return normal(key, shape, {.dtype = dtype});
  const auto part = [&](int k) { return normal(fold_in(key, k), shape, {.dtype = real_part(dtype)}); };
  return make_complex(part(0), part(1));
}
Array adjoint(const Array& x) { return conj(matrix_transpose(x)); }
Array hermitian(Dtype dtype, const Dims& shape) {
  const Array x = drawn(dtype, shape);
  return x + adjoint(x);
}
Array positive(Dtype dtype, const Dims& shape) {
  const Array x = drawn(dtype, shape);
  return matmul(x, adjoint(x)) + astype(eye(shape[-1]), dtype);
}
// The largest difference, in units of rounding and of the size of the values.
double error(const Array& got, const Array& want) {
  EXPECT_EQ(got.shape(), want.shape());
  EXPECT_EQ(got.dtype(), want.dtype());
  if (want.size() == 0) return 0;
  const double eps = real_part(want.dtype()) == Dtype::f32 ? 0x1p-23 : 0x1p-52;
  return (max(abs(got - want)) / (1. + max(abs(want)))).item<double>() / eps;
}
double orthonormality(const Array& columns) {
  const Array product = matmul(adjoint(columns), columns);
  return error(product, broadcast_to(astype(eye(columns.shape(-1)), columns.dtype()), product.shape()));
}
constexpr double loose = 4000;

const Dims shapes[] = {{1, 1},     {2, 2},    {7, 7},       {9, 4},     {4, 9},
                       {100, 100}, {150, 70}, {2, 3, 6, 5}, {40, 3, 3}, {3, 0, 2}};

TEST(Factorisations, MultiplyBack) {
  for (const Dtype d : dtypes)
    for (const Dims& shape : shapes) {
      SCOPED_TRACE(base::cat(d, shape));
      const Array x = drawn(d, shape);
      for (const bool complete : {false, true}) {
        const linalg::Qr qr = linalg::qr(x, {.complete = complete});
        EXPECT_LT(error(matmul(qr.q, qr.r), x), loose);
        EXPECT_LT(orthonormality(qr.q), loose);
        EXPECT_TRUE(all(qr.r == triu(qr.r)).item<bool>());
        const linalg::Svd svd = linalg::svd(x, {.full_matrices = complete});
        const i64 k = std::min(shape[-2], shape[-1]);
        const Array u = svd.u[{ellipsis, slice(0, k)}], vh = svd.vh[{ellipsis, slice(0, k), slice()}];
        EXPECT_LT(error(matmul(u * expand_dims(svd.s, -2), vh), x), loose);
        EXPECT_LT(orthonormality(svd.u), loose);
        EXPECT_LT(orthonormality(adjoint(svd.vh)), loose);
      }
      const linalg::Lu lu = linalg::lu(x);
      EXPECT_LT(error(matmul(lu.p, matmul(lu.l, lu.u)), x), loose);
      EXPECT_LT(error(linalg::svdvals(x), linalg::svd(x).s), loose);
    }
}

TEST(Factorisations, HermitianMatrices) {
  for (const Dtype d : dtypes)
    for (const Dims& shape : {Dims{1, 1}, Dims{0, 0}, Dims{6, 6}, Dims{90, 90}, Dims{2, 3, 5, 5}, Dims{0, 4, 4}}) {
      SCOPED_TRACE(base::cat(d, shape));
      const Array x = hermitian(d, shape);
      const linalg::Eigh e = linalg::eigh(x);
      EXPECT_LT(error(matmul(e.vectors * expand_dims(e.values, -2), adjoint(e.vectors)), x), loose);
      EXPECT_LT(orthonormality(e.vectors), loose);
      EXPECT_LT(error(linalg::eigvalsh(x), e.values), loose);
      const Array p = positive(d, shape), l = linalg::cholesky(p);
      EXPECT_LT(error(matmul(l, adjoint(l)), p), loose);
      EXPECT_TRUE(all(l == tril(l)).item<bool>());
      EXPECT_LT(error(linalg::cholesky(p, {.upper = true}), adjoint(l)), 1);
    }
}

TEST(Factorisations, PhasesAreFixed) {
  for (const Dtype d : dtypes) {
    const Array u = linalg::svd(drawn(d, {20, 6, 6})).u, v = linalg::eigh(hermitian(d, {20, 6, 6})).vectors;
    for (const Array& vectors : {u, v}) {
      const Array size = abs(vectors), large = size >= max(size, {.axis = -2, .keepdims = true}) * 0.3;
      const Array first = argmax(large, {.axis = -2, .keepdims = true});
      const Array fixed = take_along_axis(vectors, first, -2);
      EXPECT_TRUE(all(real(fixed) > 0.).item<bool>());
      EXPECT_TRUE(all(imag(fixed) == 0.).item<bool>());
    }
  }
}

TEST(Factorisations, OneTriangleIsRead) {
  const Array x = positive(Dtype::f64, {4, 4}), junk = triu(full({4, 4}, 100.0), {.offset = 1});
  const Array l = linalg::cholesky(x, {.symmetrize = false});
  EXPECT_TRUE(array_equal(linalg::cholesky(x + junk, {.symmetrize = false}), l).item<bool>());
  const Array w = linalg::eigvalsh(x, {.symmetrize = false});
  EXPECT_TRUE(array_equal(linalg::eigvalsh(x + junk, {.symmetrize = false}), w).item<bool>());
  EXPECT_LT(error(linalg::eigvalsh(x + matrix_transpose(junk), {.upper = true, .symmetrize = false}), w), 100);
}

TEST(Factorisations, FailuresStayInTheirMatrix) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array good = array({{2., 1.}, {1., 3.}}), bad = array({{1., nan}, {nan, 2.}}), negative = -good;
  const Array batch = stack({good, bad, negative});
  const auto nans = [](const Array& x) { return any(isnan(x), {.axis = {-2, -1}}).to_vector<std::uint8_t>(); };
  using Lanes = std::vector<std::uint8_t>;
  const Lanes second{0, 1, 0};
  EXPECT_EQ(nans(linalg::cholesky(batch)), (Lanes{0, 1, 1}));
  EXPECT_EQ(nans(linalg::qr(batch).q), second);
  EXPECT_EQ(nans(linalg::lu(batch).u), second);
  EXPECT_EQ(nans(linalg::eigh(batch).vectors), second);
  EXPECT_EQ(nans(linalg::svd(batch).u), second);
  EXPECT_EQ(nans(linalg::inv(batch)), second);
  EXPECT_EQ(nans(linalg::pinv(batch)), second);
  EXPECT_EQ(nans(linalg::expm(batch)), second);
}

TEST(Factorisations, LanesOfVmapAreBatches) {
  const Array x = drawn(Dtype::f64, {3, 4, 4}), h = hermitian(Dtype::f64, {3, 4, 4});
  const auto same = [](const Array& a, const Array& b) { EXPECT_LT(error(a, b), loose); };
  same(vmap([](const Array& a) { return linalg::qr(a).r; })(x), linalg::qr(x).r);
  same(vmap([](const Array& a) { return linalg::eigh(a).vectors; })(h), linalg::eigh(h).vectors);
  same(vmap([](const Array& a) { return linalg::det(a); })(x), linalg::det(x));
  same(jit(vmap([](const Array& a) { return linalg::inv(a); }))(x), linalg::inv(x));
  const Array b = drawn(Dtype::f64, {4, 3, 2}, 1);
  same(vmap([&](const Array& side) { return linalg::solve(x[0], side); }, {.in_axes = {1}})(b),
       moveaxis(stack({linalg::solve(x[0], b[{slice(), 0}]), linalg::solve(x[0], b[{slice(), 1}]),
                       linalg::solve(x[0], b[{slice(), 2}])}),
                0, 0));
}
}  // namespace
