// Functions built on factorisations: values against definitions, derivatives, empty operands, and the errors.
#include <gtest/gtest.h>

#include <functional>

#include <unisono/unisono.hpp>

using namespace uni;

namespace {
Array drawn(const Dims& shape, std::uint64_t seed = 0, Dtype dtype = Dtype::f64) {
  if (!is_complex(dtype)) return normal(Key(seed), shape, {.dtype = dtype});
  return make_complex(drawn(shape, seed, real_part(dtype)), drawn(shape, seed + 100, real_part(dtype)));
}
void expect_close(const Array& got, const Array& want, double tolerance = 1e-9) {
  ASSERT_EQ(got.shape(), want.shape());
  if (got.size() == 0) return;
  EXPECT_LT((max(abs(got - want)) / (1. + max(abs(want)))).item<double>(), tolerance);
}
Array identity_like(const Array& x) { return broadcast_to(astype(eye(x.shape(-1)), x.dtype()), x.shape()); }

TEST(Systems, SolutionsSolve) {
  for (const Dtype d : {Dtype::f64, Dtype::c128}) {
    const Array a = drawn({2, 1, 5, 5}, 0, d), b = drawn({3, 5, 2}, 1, d);
    expect_close(matmul(a, linalg::solve(a, b)), broadcast_to(b, {2, 3, 5, 2}));
    expect_close(matmul(a[{0, 0}], linalg::solve(a[{0, 0}], b)), b);
    expect_close(matmul(a, linalg::inv(a)), identity_like(a));
    const linalg::LuFactor f = linalg::lu_factor(a);
    const Array wide = broadcast_to(b, {2, 3, 5, 2});
    expect_close(matmul(a, linalg::lu_solve(f, b)), wide);
    expect_close(matmul(matrix_transpose(a), linalg::lu_solve(f, b, linalg::Op::transpose)), wide);
    expect_close(matmul(conj(matrix_transpose(a)), linalg::lu_solve(f, b, linalg::Op::adjoint)), wide);
    const Array p = matmul(a, conj(matrix_transpose(a)));
    expect_close(matmul(p, linalg::cho_solve(linalg::cho_factor(p), b)), wide, 1e-7);
    const Array low = tril(a) + 4 * identity_like(a);
    expect_close(matmul(low, linalg::solve_triangular(low, b, {.lower = true})), wide);
    expect_close(matmul(conj(matrix_transpose(low)),
                        linalg::solve_triangular(low, b, {.lower = true, .op = linalg::Op::adjoint})),
                 wide);
  }
  const Array v = drawn({5}), a = drawn({4, 5, 5}, 2);
  expect_close(matmul(a, expand_dims(linalg::solve(a, v), -1)), broadcast_to(expand_dims(v, -1), {4, 5, 1}));
}

TEST(Systems, LeastSquares) {
  const Array a = drawn({6, 3}), b = drawn({6, 2}, 1);
  const linalg::LeastSquares s = linalg::lstsq(a, b);
  expect_close(matmul(matrix_transpose(a), matmul(a, s.x) - b), zeros({3, 2}, Dtype::f64));
  expect_close(s.residuals, sum(square(matmul(a, s.x) - b), {.axis = 0}));
  EXPECT_EQ(s.rank.item<int>(), 3);
  const Array deficient = concatenate({a, a[{slice(), slice(0, 1)}]}, {.axis = 1});
  const linalg::LeastSquares t = linalg::lstsq(deficient, b);
  EXPECT_EQ(t.rank.item<int>(), 3);
  expect_close(matmul(deficient, t.x), matmul(a, s.x));
  expect_close(t.x[0], t.x[3]);
}

TEST(Systems, PseudoInverses) {
  for (const Dims& shape : {Dims{5, 3}, Dims{3, 5}, Dims{2, 4, 4}}) {
    const Array a = drawn(shape, 3, Dtype::c128), p = linalg::pinv(a);
    expect_close(matmul(a, matmul(p, a)), a);
    expect_close(matmul(p, matmul(a, p)), p);
    expect_close(conj(matrix_transpose(matmul(a, p))), matmul(a, p));
  }
  const Array t = drawn({2, 3, 6}), inverse = linalg::tensorinv(t);
  expect_close(reshape(tensordot(inverse, t, 2), {6, 6}), eye(6, {.dtype = Dtype::f64}));
  const Array b = drawn({2, 3}, 1);
  expect_close(tensordot(t, linalg::tensorsolve(t, b), 1), b);
}

TEST(Numbers, Determinants) {
  for (const Dtype d : {Dtype::f64, Dtype::c128})
    for (const i64 n : {0, 1, 2, 3, 4, 7}) {
      const Array a = drawn({3, n, n}, static_cast<std::uint64_t>(n), d), b = drawn({3, n, n}, 50, d);
      expect_close(linalg::det(matmul(a, b)), linalg::det(a) * linalg::det(b));
      const linalg::SignLogDet s = linalg::slogdet(a);
      expect_close(s.sign * exp(s.logabsdet), linalg::det(a));
      expect_close(abs(s.sign), ones({3}, Dtype::f64));
    }
}

TEST(Numbers, Norms) {
  const Array x = array({{3., -4.}, {0., 12.}});
  const auto value = [&](const linalg::NormOptions& o) { return linalg::norm(x, o).item<double>(); };
  EXPECT_FLOAT_EQ(value({}), 13);
  EXPECT_FLOAT_EQ(value({.ord = "fro"}), 13);
  EXPECT_FLOAT_EQ(value({.ord = 1}), 16);
  EXPECT_FLOAT_EQ(value({.ord = -1}), 3);
  EXPECT_FLOAT_EQ(value({.ord = linalg::inf}), 12);
  EXPECT_FLOAT_EQ(value({.ord = -linalg::inf}), 7);
  const std::vector<double> s = linalg::svdvals(x).to_vector<double>();
  EXPECT_FLOAT_EQ(value({.ord = 2}), s[0]);
  EXPECT_FLOAT_EQ(value({.ord = -2}), s[1]);
  EXPECT_FLOAT_EQ(value({.ord = "nuc"}), s[0] + s[1]);
  const auto rows = [&](const linalg::NormOrder& o) {
    return linalg::norm(x, {.ord = o, .axis = 1}).to_vector<double>();
  };
  EXPECT_EQ(rows(2), (std::vector<double>{5, 12}));
  EXPECT_EQ(rows(0), (std::vector<double>{2, 1}));
  EXPECT_EQ(rows(1), (std::vector<double>{7, 12}));
  EXPECT_EQ(rows(linalg::inf), (std::vector<double>{4, 12}));
  EXPECT_EQ(rows(-linalg::inf), (std::vector<double>{3, 0}));
  EXPECT_FLOAT_EQ(rows(3)[0], std::cbrt(27. + 64.));
  EXPECT_EQ(linalg::norm(x, {.axis = {0, 1}, .keepdims = true}).shape(), (Dims{1, 1}));
  EXPECT_EQ(linalg::matrix_norm(zeros({4, 2, 3}), {.keepdims = true}).shape(), (Dims{4, 1, 1}));
  EXPECT_FLOAT_EQ(linalg::vector_norm(x).item<double>(), 13);
  EXPECT_EQ(linalg::norm(array({3, 4})).dtype(), Dtype::f32);
  EXPECT_FLOAT_EQ(linalg::norm(make_complex(array({3., 0.}), array({0., 4.}))).item<double>(), 5);
  EXPECT_FLOAT_EQ(linalg::cond(eye(3) * 2).item<double>(), 1);
  EXPECT_FLOAT_EQ(linalg::cond(x, 1).item<double>(),
                  value({.ord = 1}) * linalg::norm(linalg::inv(x), {.ord = 1}).item<double>());
  const std::vector<double> zero(4, 0);
  EXPECT_EQ(grad([](const Array& a) { return linalg::norm(a); })(zeros({2, 2})).to_vector<double>(), zero);
}

TEST(Products, PowersAndChains) {
  const Array a = drawn({2, 3, 3}), b = drawn({3, 4}, 1), v = drawn({4}, 2);
  expect_close(linalg::matrix_power(a, 5), matmul(a, matmul(a, matmul(a, matmul(a, a)))));
  expect_close(linalg::matrix_power(a, -2), linalg::inv(matmul(a, a)));
  expect_close(linalg::multi_dot({a[0], b, v}), matmul(a[0], matmul(b, v)));
  expect_close(linalg::multi_dot({drawn({3}), b, v}), matmul(matmul(drawn({3}), b), v));
  const Array e = linalg::eigh(a + matrix_transpose(a)).vectors, w = linalg::eigvalsh(a + matrix_transpose(a));
  for (const double scale : {0.01, 1., 30.})
    expect_close(linalg::expm((a + matrix_transpose(a)) * scale),
                 matmul(e * expand_dims(exp(w * scale), -2), matrix_transpose(e)));
  expect_close(linalg::expm(array({{0., -1.}, {1., 0.}}) * 3.),
               array({{std::cos(3.), -std::sin(3.)}, {std::sin(3.), std::cos(3.)}}), 1e-5);
  expect_close(kron(array({{1., 2.}}), array({{1., 10.}, {3., 0.}})), array({{1., 10., 2., 20.}, {3., 0., 6., 0.}}));
  expect_close(kron(array({1., 2.}), ones({2, 2})), array({{1., 1., 2., 2.}, {1., 1., 2., 2.}}));
  const Array x = drawn({4, 3}), y = drawn({3}, 5), z = cross(x, y);
  expect_close(sum(z * x, {.axis = -1}), zeros({4}, Dtype::f64));
  expect_close(cross(array({1., 0., 0.}), array({0., 1., 0.})), array({0., 0., 1.}));
  expect_close(cross(matrix_transpose(x), expand_dims(y, 1), {.axis = 0}), matrix_transpose(z));
}

TEST(Products, EmptyMatrices) {
  const Array none = zeros({0, 0});
  EXPECT_EQ(linalg::det(none).item<double>(), 1);
  EXPECT_EQ(linalg::inv(none).shape(), (Dims{0, 0}));
  EXPECT_EQ(linalg::solve(none, zeros({0, 2})).shape(), (Dims{0, 2}));
  EXPECT_EQ(linalg::pinv(zeros({0, 3})).shape(), (Dims{3, 0}));
  EXPECT_EQ(linalg::matrix_rank(zeros({2, 0, 3})).shape(), (Dims{2}));
  EXPECT_EQ(linalg::expm(zeros({3, 0, 0})).shape(), (Dims{3, 0, 0}));
  EXPECT_EQ(linalg::norm(none).item<double>(), 0);
  EXPECT_EQ(linalg::slogdet(none).logabsdet.item<double>(), 0);
}

// Along a random direction, against finite differences; and reverse mode against that.
void check_derivative(const char* what, const std::function<Array(const Array&)>& f, const Array& x, double tolerance) {
  SCOPED_TRACE(what);
  const Array t = drawn(x.shape(), 77);
  const auto [value, tangent] = jvp(f, x, t);
  const double step = 1e-6;
  expect_close(tangent, (f(x + t * step) - f(x - t * step)) / (2 * step), tolerance);
  const Array ct = drawn(value.shape(), 78);
  const Array back = grad([&](const Array& a) { return sum(f(a) * ct); })(x);
  EXPECT_NEAR(sum(back * t).item<double>(), sum(ct * tangent).item<double>(),
              1e-7 * (1 + std::abs(sum(ct * tangent).item<double>())));
}

TEST(Derivatives, AgreeWithDifferences) {
  const Array x = drawn({4, 4}) + 3 * eye(4, {.dtype = Dtype::f64}), b = drawn({4, 2}, 9), tall = drawn({5, 3}, 4);
  const std::pair<const char*, std::function<Array(const Array&)>> square[] = {
      {"det", [](const Array& a) { return linalg::det(a); }},
      {"slogdet", [](const Array& a) { return linalg::slogdet(a).logabsdet; }},
      {"inv", [](const Array& a) { return linalg::inv(a); }},
      {"solve",
       [&](const Array& a) {
         return linalg::solve(a, b * a[{0, 0}]);
       }},
      {"expm", [](const Array& a) { return linalg::expm(a); }},
      {"matrix_power", [](const Array& a) { return linalg::matrix_power(a, -3); }},
      {"lu_solve", [&](const Array& a) { return linalg::lu_solve(linalg::lu_factor(a), b, linalg::Op::transpose); }},
      {"cho_solve",
       [&](const Array& a) { return linalg::cho_solve(linalg::cho_factor(matmul(a, matrix_transpose(a))), b); }},
      {"cond", [](const Array& a) { return linalg::cond(a); }},
      {"norm 3", [](const Array& a) { return linalg::norm(a, {.ord = 3, .axis = 0}); }},
      {"gradient of det", grad([](const Array& a) { return linalg::det(a); })},
      {"gradient of logdet", grad([](const Array& a) { return linalg::slogdet(a).logabsdet; })},
  };
  for (const auto& [what, f] : square) check_derivative(what, f, x, 1e-7);
  check_derivative(
      "pinv", [](const Array& a) { return linalg::pinv(a); }, tall, 1e-7);
  check_derivative(
      "lstsq", [&](const Array& a) { return linalg::lstsq(a, ones({5})).x; }, tall, 1e-7);
}

TEST(Derivatives, DegenerateMatrices) {
  // Rank 3 of 4: the gradient is the matrix of cofactors.
  const Array low = matmul(drawn({4, 3}), drawn({3, 4}, 1));
  check_derivative(
      "det of rank 3", [](const Array& a) { return linalg::det(a); }, low, 1e-6);
  check_derivative(
      "pinv of equal singular values", [](const Array& a) { return linalg::pinv(a); }, eye(3, {.dtype = Dtype::f64}),
      1e-6);
  const auto nuclear = grad([](const Array& a) { return linalg::norm(a, {.ord = "nuc"}); })(eye(3));
  expect_close(nuclear, eye(3), 1e-6);
  EXPECT_TRUE(all(isfinite(grad([](const Array& a) { return linalg::det(a); })(zeros({5, 5})))).item<bool>());
}

struct Case {
  std::function<void()> call;
  std::string first, fix = "";
};
TEST(LinalgErrors, ExactTexts) {
  const Array v = zeros({3}), wide = zeros({2, 3}), three = eye(3);
  const Case cases[] = {
      {[&] { linalg::inv(v); }, "linalg::inv: f32[3] is not a matrix"},
      {[&] { linalg::det(wide); }, "linalg::det: f32[2,3] is not square"},
      {[&] { linalg::solve(three, zeros({2})); },
       "linalg::solve: f32[3,3] and f32[2] disagree: 3 unknowns, 2 equations"},
      {[&] { linalg::solve(three, 1.0); }, "linalg::solve: the right-hand side f32[] is a scalar"},
      {[&] {
         linalg::solve(zeros({2, 3, 3}), zeros({4, 3, 1}));
       },
       "linalg::solve: shapes (2,) and (4,) do not broadcast"},
      {[&] { linalg::svd(astype(wide, Dtype::f16)); }, "linalg::svd: takes f32, f64, c64 and c128, not f16[2,3]",
       "astype to f32 first"},
      {[&] { linalg::qr(Key(0).array()); }, "linalg::qr: a random key has no numeric value"},
      {[&] { linalg::lstsq(wide, v); }, "linalg::lstsq: f32[2,3] and f32[3] have different numbers of equations"},
      {[&] { linalg::norm(wide, {.ord = "inf"}); }, "linalg::norm: matrices have no norm \"inf\"",
       "\"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf"},
      {[&] { linalg::norm(wide, {.ord = 3}); }, "linalg::norm: matrices have no norm 3",
       "\"fro\", \"nuc\", 1, -1, 2, -2, inf or -inf"},
      {[&] { linalg::norm(v, {.ord = "fro"}); }, "linalg::norm: vectors have no norm \"fro\"",
       "a number, or 2 axes for matrices"},
      {[&] {
         linalg::norm(zeros({1, 2, 3}), {.ord = 2});
       },
       "linalg::norm: 3 axes of f32[1,2,3]", "axis: one for vectors, two for matrices"},
      {[&] { linalg::multi_dot({}); }, "linalg::multi_dot: no matrices"},
      {[&] {
         linalg::multi_dot({wide, wide});
       },
       "linalg::multi_dot: parts 0 and 1, f32[2,3] and f32[2,3], do not fit"},
      {[&] {
         linalg::multi_dot({wide, v, three});
       },
       "linalg::multi_dot: part 1 is f32[3], not a matrix"},
      {[&] {
         linalg::block_diag({zeros({1, 1, 1})});
       },
       "linalg::block_diag: f32[1,1,1] has more than two axes"},
      {[&] { linalg::tensorsolve(wide, v); },
       "linalg::tensorsolve: f32[2,3] is not the shape of f32[3] and as many elements more"},
      {[&] { linalg::tensorinv(wide, 1); },
       "linalg::tensorinv: the first 1 axes of f32[2,3] have 2 elements, the others 3"},
      {[&] { cross(wide, v, {.axis = 0}); }, "cross: axis 0 of f32[2,3] has size 2, not 3"},
      {[&] {
         grad([](const Array& x) { return sum(linalg::qr(x, {.complete = true}).q); })(zeros({3, 2}));
       },
       "qr: the full q of f32[3,2] has no derivative: 1 of its 3 columns can be any basis",
       "use the reduced factorisation"},
      {[&] { grad([](const Array& x) { return sum(linalg::svd(x).u); })(wide); },
       "svd: the full vectors of f32[2,3] have no derivative: 1 of 3 can be any basis",
       "use the reduced decomposition"},
  };
  for (const Case& c : cases) {
    try {
      c.call();
      ADD_FAILURE() << "no error; expected: " << c.first;
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.substr(0, text.find('\n')), c.first);
      EXPECT_NE(text.find("(function_test.cpp:"), std::string::npos) << "no location: " << text;
      const std::size_t fix = text.find("\nfix: ");
      EXPECT_EQ(fix == std::string::npos ? "" : text.substr(fix + 6), c.fix);
    }
  }
}
}  // namespace
