// Samples of linear algebra: well-conditioned matrices of every dtype, batches, sizes 0 and 1, and what fails.
#include <limits>

#include "ops/linalg.hpp"
#include "samples.hpp"

namespace uni::contract {

namespace {
using ops::TriangularSolve;

const std::vector<Dtype> dtypes = {Dtype::f64, Dtype::f32, Dtype::c128, Dtype::c64};
// Batch sizes differ from sizes of matrices.
const std::vector<Dims> squares = {{3, 3}, {1, 1}, {0, 0}, {5, 5}, {2, 3, 3}, {2, 1, 3, 3}, {0, 2, 2}, {2, 0, 0}};

OperandSpec dominant(Dtype d, const Dims& shape) { return {d, shape, -1, 1, {}, 6}; }

void cholesky(Samples& out) {
  for (const Dims& shape : squares) out.add(ops::cholesky, {dominant(Dtype::f64, shape)});
  for (const Dtype d : dtypes) {
    out.add(ops::cholesky, {dominant(d, {4, 4})});
    out.add(ops::cholesky, {dominant(d, {2, 3, 3})});
  }
  // Not positive definite, and not finite; in 32 bits, because NaN has no finite differences.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dtype d : {Dtype::f32, Dtype::c64})
    for (const std::vector<double>& x : {std::vector<double>{1, 5, 2, 3}, {0}, {-1, 0, 0, 1}, {1, 0, 0, nan}})
      out.add(ops::cholesky, {{d, {2, 2}, 0, 0, x}});
}

void triangular_solve(Samples& out) {
  for (int bits = 0; bits < 32; ++bits) {
    const TriangularSolve p{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
    const Dims b = p.left ? Dims{2, 3, 4} : Dims{2, 4, 3};
    for (const Dtype d : {Dtype::f64, Dtype::c128})
      out.add(ops::triangular_solve, {dominant(d, {2, 3, 3}), {d, b}}, p, {{1}});
  }
  for (const Dtype d : dtypes)
    for (const bool left : {true, false})
      out.add(ops::triangular_solve, {dominant(d, {4, 4}), {d, {4, 4}}}, TriangularSolve{.left = left}, {{1}});
  for (const Dims& shape : squares)
    out.add(ops::triangular_solve, {dominant(Dtype::f64, shape), {Dtype::f64, shape}}, TriangularSolve{}, {{1}});
  for (const bool left : {true, false})
    for (const i64 n : {0, 1, 3})
      out.add(ops::triangular_solve, {dominant(Dtype::f64, {n, n}), {Dtype::f64, left ? Dims{n, 0} : Dims{0, n}}},
              TriangularSolve{.left = left}, {{1}});
}

void solve(Samples& out) {
  for (const bool transpose : {true, false}) {
    const ops::Solve p{transpose};
    for (const Dtype d : dtypes) out.add(ops::solve, {dominant(d, {2, 3, 3}), {d, {2, 3, 4}}}, p, {{1}});
    out.add(ops::solve, {{Dtype::f64, {4, 4}}, {Dtype::f64, {4, 4}}}, p, {{1}});
  }
  for (const Dims& shape : squares)
    out.add(ops::solve, {dominant(Dtype::f64, shape), {Dtype::f64, shape}}, ops::Solve{}, {{1}});
  out.add(ops::solve, {dominant(Dtype::f64, {3, 3}), {Dtype::f64, {3, 0}}}, ops::Solve{}, {{1}});
}

const std::vector<Dims> shapes = {{3, 3}, {1, 1},    {4, 2},    {2, 4},       {1, 3},    {3, 1},    {0, 0},   {3, 0},
                                  {0, 3}, {2, 4, 3}, {2, 3, 4}, {2, 1, 3, 3}, {0, 2, 2}, {2, 0, 3}, {2, 3, 0}};

void lu(Samples& out) {
  for (const Dims& shape : shapes) out.add(ops::lu, {{Dtype::f64, shape}});
  for (const Dtype d : dtypes) {
    out.add(ops::lu, {{d, {3, 3}}});
    out.add(ops::lu, {{d, {2, 4, 3}}});
    out.add(ops::lu, {{d, {2, 3, 4}}});
  }
  out.add(ops::lu, {{Dtype::f32, {3, 3}, 0, 0, {1, 2, 3, 2, 4, 6, 1, 0, 1}}});  // singular
  for (const Dtype d : {Dtype::f32, Dtype::c64}) {
    const OperandSpec holds_nan{d, {3, 3}, 0, 0, {1, 2, 3, std::numeric_limits<double>::quiet_NaN(), 4, 6, 1, 0, 1}};
    out.add(ops::lu, {holds_nan});
    out.add(ops::qr, {holds_nan}, ops::Qr{});
  }
}

void qr(Samples& out) {
  for (const Dims& shape : shapes) {
    out.add(ops::qr, {dominant(Dtype::f64, shape)}, ops::Qr{});
    // The last columns of the full q of a tall matrix have no derivative.
    if (shape[-2] <= shape[-1]) out.add(ops::qr, {dominant(Dtype::f64, shape)}, ops::Qr{true});
  }
  for (const Dtype d : dtypes)
    for (const Dims& shape : {Dims{3, 3}, Dims{2, 4, 3}, Dims{2, 3, 4}})
      out.add(ops::qr, {dominant(d, shape)}, ops::Qr{});
}

void eigh(Samples& out) {
  for (const Dims& shape : squares)
    for (const bool vectors : {true, false}) out.add(ops::eigh, {{Dtype::f64, shape}}, ops::Eigh{vectors});
  for (const Dtype d : dtypes)
    for (const Dims& shape : {Dims{4, 4}, Dims{2, 3, 3}})
      for (const bool vectors : {true, false}) out.add(ops::eigh, {{d, shape}}, ops::Eigh{vectors});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  out.add(ops::eigh, {{Dtype::f32, {2, 2}, 0, 0, {nan, 1, 2, 3}}}, ops::Eigh{});
}

void svd(Samples& out) {
  for (const Dims& shape : shapes) {
    for (const bool vectors : {true, false}) out.add(ops::svd, {{Dtype::f64, shape}}, ops::Svd{.vectors = vectors});
    // The last full vectors of a matrix that is not square have no derivative.
    if (shape[-2] == shape[-1]) out.add(ops::svd, {{Dtype::f64, shape}}, ops::Svd{.full = true});
  }
  for (const Dtype d : dtypes)
    for (const Dims& shape : {Dims{3, 3}, Dims{2, 4, 3}, Dims{2, 3, 4}})
      for (const bool vectors : {true, false}) out.add(ops::svd, {{d, shape}}, ops::Svd{.vectors = vectors});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  out.add(ops::svd, {{Dtype::f32, {2, 2}, 0, 0, {nan, 1, 2, 3}}}, ops::Svd{});
}

void pinv(Samples& out) {
  const ops::Pinv p{1e-6};
  for (const Dims& shape : shapes) out.add(ops::pinv, {dominant(Dtype::f64, shape)}, p);
  for (const Dtype d : dtypes)
    for (const Dims& shape : {Dims{3, 3}, Dims{2, 4, 3}, Dims{2, 3, 4}}) out.add(ops::pinv, {dominant(d, shape)}, p);
  out.add(ops::pinv, {{Dtype::f32, {3, 3}, 0, 0, {1, 2, 3, 2, 4, 6, 1, 0, 1}}}, ops::Pinv{1e-5});  // singular
  const double nan = std::numeric_limits<double>::quiet_NaN();
  out.add(ops::pinv, {{Dtype::f32, {2, 2}, 0, 0, {nan, 1, 2, 3}}}, p);
}

const SampleFamily family([] {
  Samples out;
  cholesky(out);
  triangular_solve(out);
  solve(out);
  lu(out);
  qr(out);
  eigh(out);
  svd(out);
  pinv(out);
  return out.take();
});
}  // namespace

}  // namespace uni::contract
