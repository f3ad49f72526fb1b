// Linear algebra against JAX: factors, solutions, numbers and derivatives of small matrices.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

using namespace uni;
using golden::Row;

namespace {
const Array general = array({{2., -1., 0.}, {1., 3., 2.}, {0., 5., -4.}});
const Array spd = array({{4., 1., 0.5}, {1., 3., -1.}, {0.5, -1., 2.}});
const Array singular = array({{1., 2., 3.}, {2., 4., 6.}, {1., 0., 1.}});
const Array tall = array({{1., 2.}, {3., 4.}, {5., 7.}});
const Array wide = array({{1., 3., 5.}, {2., 4., 7.}});
const Array vector = array({1., 2., 3.});
const Array sides = array({{0., 1.}, {2., 3.}, {4., 5.}});
const Array weights = reshape(arange(1., 10.), {3, 3});

// Vectors are known but for their sign: that of the expected ones.
Array signs(const Array& got, const Row& row, std::size_t result, int along) {
  const Array want = golden::array_from(row.expected[result], false);
  return where(sum(got * want, {.axis = along, .keepdims = true}) < 0., -1., 1.);
}
Arrays svd_rows(const Row& row, bool full) {
  const linalg::Svd d = linalg::svd(row.in(0), {.full_matrices = full});
  return {d.u * signs(d.u, row, 0, -2), d.s, d.vh * signs(d.vh, row, 2, -1)};
}
Arrays eigh_rows(const Row& row, const linalg::EighOptions& options) {
  const linalg::Eigh e = linalg::eigh(row.in(0), options);
  return {e.values, e.vectors * signs(e.vectors, row, 1, -2)};
}
Arrays list(const linalg::Qr& f) { return {f.q, f.r}; }
Arrays list(const linalg::Lu& f) { return {f.p, f.l, f.u}; }
Arrays list(const linalg::SignLogDet& d) { return {d.sign, d.logabsdet}; }
Arrays list(const linalg::LeastSquares& s) { return {s.x, s.residuals, s.rank, s.singular_values}; }

using Function = std::function<Array(const Array&)>;
golden::Handler one(Function f) {
  return [f = std::move(f)](const Row& row) -> Arrays { return {f(row.in(0))}; };
}
golden::Handler norm(const linalg::NormOrder& order) {
  return one([order](const Array& x) { return linalg::norm(x, {.ord = order}); });
}

void add_factorisations(golden::Suite& s) {
  s.by_op["cholesky"] = one([](const Array& x) { return linalg::cholesky(x); });
  s.by_op["cholesky_raw"] = one([](const Array& x) { return linalg::cholesky(x, {.symmetrize = false}); });
  s.by_op["cholesky_upper"] = one([](const Array& x) { return linalg::cholesky(x, {.upper = true}); });
  s.by_op["qr"] = [](const Row& row) { return list(linalg::qr(row.in(0))); };
  s.by_op["qr_complete"] = [](const Row& row) { return list(linalg::qr(row.in(0), {.complete = true})); };
  s.by_op["qr_r"] = one([](const Array& x) { return linalg::qr(x).r; });
  s.by_op["eigh"] = [](const Row& row) { return eigh_rows(row, {}); };
  s.by_op["eigh_upper"] = [](const Row& row) { return eigh_rows(row, {.upper = true, .symmetrize = false}); };
  s.by_op["eigvalsh"] = one([](const Array& x) { return linalg::eigvalsh(x); });
  s.by_op["svd"] = [](const Row& row) { return svd_rows(row, false); };
  s.by_op["svd_full"] = [](const Row& row) { return svd_rows(row, true); };
  s.by_op["svdvals"] = one([](const Array& x) { return linalg::svdvals(x); });
  s.by_op["lu"] = [](const Row& row) { return list(linalg::lu(row.in(0))); };
  s.by_op["lu_factor"] = [](const Row& row) -> Arrays {
    const linalg::LuFactor f = linalg::lu_factor(row.in(0));
    return {f.lu, f.pivots};
  };
  s.by_op["lax_lu"] = [](const Row& row) -> Arrays {
    const linalg::LuFactor f = linalg::lu_factor(row.in(0));
    return {f.lu, f.pivots, f.permutation};
  };
}

void add_numbers(golden::Suite& s) {
  s.by_op["det"] = one([](const Array& x) { return linalg::det(x); });
  s.by_op["slogdet"] = [](const Row& row) { return list(linalg::slogdet(row.in(0))); };
  s.by_op["inv"] = one([](const Array& x) { return linalg::inv(x); });
  s.by_op["pinv"] = one([](const Array& x) { return linalg::pinv(x); });
  s.by_op["expm"] = one([](const Array& x) { return linalg::expm(x); });
  s.by_op["matrix_rank"] = one([](const Array& x) { return linalg::matrix_rank(x); });
  s.by_op["cond"] = one([](const Array& x) { return linalg::cond(x); });
  s.by_op["norm_fro"] = norm({});
  s.by_op["norm_nuc"] = norm("nuc");
  s.by_op["norm_2"] = norm(2);
  s.by_op["norm_1"] = norm(1);
  s.by_op["norm_-2"] = norm(-2);
  s.by_op["trace"] = one([](const Array& x) { return trace(x); });
  for (const int n : {3, -2, 0})
    s.by_op["power_" + std::to_string(n)] = one([n](const Array& x) { return linalg::matrix_power(x, n); });
}

void add_systems(golden::Suite& s) {
  const auto fixed = [&](const char* op, std::function<Arrays()> f) {
    s.by_op[op] = [f = std::move(f)](const Row&) { return f(); };
  };
  const auto both = [] { return stack({general, spd}); };
  fixed("solve vector", [] { return Arrays{linalg::solve(general, vector)}; });
  fixed("solve matrix", [] { return Arrays{linalg::solve(general, sides)}; });
  fixed("solve singular", [] { return Arrays{linalg::solve(singular, vector)}; });
  fixed("solve batched", [=] { return Arrays{linalg::solve(both(), stack({sides, sides}))}; });
  fixed("solve batch of vectors", [=] { return Arrays{linalg::solve(both(), stack({vector, vector}))}; });
  fixed("solve shape", [] { return Arrays{linalg::solve(general, vector[slice(0, 2)])}; });
  fixed("triangular lower", [] { return Arrays{linalg::solve_triangular(general, vector, {.lower = true})}; });
  fixed("triangular upper", [] { return Arrays{linalg::solve_triangular(general, vector)}; });
  fixed("triangular trans",
        [] { return Arrays{linalg::solve_triangular(general, vector, {.op = linalg::Op::transpose})}; });
  fixed("triangular unit", [] { return Arrays{linalg::solve_triangular(general, vector, {.unit_diagonal = true})}; });
  fixed("cho_solve", [] { return Arrays{linalg::cho_solve(linalg::cho_factor(spd), vector)}; });
  fixed("lu_solve", [] { return Arrays{linalg::lu_solve(linalg::lu_factor(general), vector)}; });
  fixed("lstsq", [] { return list(linalg::lstsq(tall, vector)); });
  fixed("lstsq under", [] { return list(linalg::lstsq(wide, vector[slice(0, 2)])); });
  fixed("multi_dot", [] { return Arrays{linalg::multi_dot({matrix_transpose(sides), general, sides})}; });
  fixed("block_diag", [] { return Arrays{linalg::block_diag({sides, ones({1, 1})})}; });
  fixed("tensorsolve", [] {
    return Arrays{linalg::tensorsolve(reshape(eye(6), {2, 3, 6}) * 2, reshape(arange(6.), {2, 3}))};
  });
  fixed("cholesky not square", [] { return Arrays{linalg::cholesky(sides)}; });
  fixed("inv vector", [] { return Arrays{linalg::inv(vector)}; });
  fixed("det batched", [=] { return Arrays{linalg::det(both())}; });
  fixed("int det", [] { return Arrays{linalg::det(array({{1, 2}, {3, 4}}))}; });
}

const std::map<std::string, Function>& losses() {
  static const std::map<std::string, Function> all = {
      {"cholesky", [](const Array& x) { return sum(weights * linalg::cholesky(x)); }},
      {"det", [](const Array& x) { return linalg::det(x); }},
      {"det singular", [](const Array& x) { return linalg::det(x); }},
      {"logdet", [](const Array& x) { return linalg::slogdet(x).logabsdet; }},
      {"inv", [](const Array& x) { return sum(weights * linalg::inv(x)); }},
      {"solve A", [](const Array& x) { return sum(linalg::solve(x, vector) * vector); }},
      {"eigvalsh", [](const Array& x) { return sum(vector * linalg::eigvalsh(x)); }},
      {"eigvalsh identity", [](const Array& x) { return sum(vector * linalg::eigvalsh(x)); }},
      {"eigh vectors identity", [](const Array& x) { return sum(weights * linalg::eigh(x).vectors); }},
      {"eigh projector",
       [](const Array& x) {
         const Array v = linalg::eigh(x).vectors[{ellipsis, 0}];
         return sum(weights * outer(v, v));
       }},
      {"svdvals",
       [](const Array& x) {
         return sum(array({1., 10.}) * linalg::svdvals(x));
       }},
      {"qr R", [](const Array& x) { return sum(square(linalg::qr(x).r)); }},
      {"qr Q", [](const Array& x) { return sum(linalg::qr(x).q[0]); }},
      {"pinv", [](const Array& x) { return sum(linalg::pinv(x)); }},
      {"expm", [](const Array& x) { return sum(weights * linalg::expm(x * 0.1)); }},
      {"norm nuc", [](const Array& x) { return linalg::norm(x, {.ord = "nuc"}); }},
      {"triangular", [](const Array& x) { return sum(linalg::solve_triangular(x, vector, {.lower = true}) * vector); }},
      {"lu", [](const Array& x) { return sum(weights * linalg::lu_factor(x).lu); }},
      {"svd full tall", [](const Array& x) { return sum(linalg::svd(x).u); }},
  };
  return all;
}

golden::Suite suite() {
  golden::Suite s;
  add_factorisations(s);
  add_numbers(s);
  add_systems(s);
  s.by_op["grad"] = [](const Row& row) -> Arrays { return {grad(losses().at(row.name.substr(5)))(row.in(0))}; };
  // The expected values are computed in f32.
  s.tolerance = [](const Row& row) {
    return golden::Tolerance{.ulp = row.op == "pinv" ? 128.0 : 64.0, .absolute = 5e-6};
  };
  return s;
}

TEST(Golden, LinearAlgebra) { golden::run("linalg.json", suite()); }
}  // namespace
