// Linear algebra on matrices in the last two axes; axes before them are batches. Integers and bool are taken as f32
// (64-bit integers as f64). 16-bit floats are a DtypeError. What is no matrix, not square, or of sizes that do not fit
// is a ShapeError. A matrix that cannot be factorised, or holds NaN, gives NaN, never an error, and disturbs no other
// matrix of its batch. All functions have derivatives in both modes unless said.
#pragma once
#include <limits>

#include <unisono/array.hpp>

namespace uni::linalg {

// ---- factorisations

struct CholeskyOptions {
  Flag upper = false;
  Flag symmetrize = true;  // use (x + x^H) / 2; otherwise the lower triangle alone is read
};
// The lower L with L L^H = x, or the upper L^H, of a Hermitian positive definite x. Otherwise NaN in the triangle.
Array cholesky(In x, const CholeskyOptions& options = {});

struct Lu {
  Array p, l, u;
};
// x = p l u: a permutation matrix [.., m, m], ones on the diagonal of the lower l [.., m, k], the upper u [.., k, n];
// k = min(m, n). The largest element of a column is its pivot.
Lu lu(In x);

struct QrOptions {
  Flag complete = false;  // q [.., m, m], r [.., m, n]; has no derivative when m > n
};
struct Qr {
  Array q, r;
};
// x = q r: orthonormal columns of q [.., m, k], upper r [.., k, n] with a real diagonal, which may be negative.
Qr qr(In x, const QrOptions& options = {});

struct EighOptions {
  Flag upper = false;      // without symmetrize: read the upper triangle
  Flag symmetrize = true;  // use (x + x^H) / 2; otherwise one triangle alone is read
};
struct Eigh {
  Array values, vectors;
};
// x v = v w of a Hermitian x: real eigenvalues [.., n], ascending, and orthonormal eigenvectors as columns. The first
// element of a vector that is not small (at least 0.3 of the largest) is real and positive. Equal eigenvalues have NaN
// for the derivative of vectors.
Eigh eigh(In x, const EighOptions& options = {});
Array eigvalsh(In x, const EighOptions& options = {});

struct SvdOptions {
  Flag full_matrices = true;  // u [.., m, m], vh [.., n, n]; has no derivative when m != n
};
struct Svd {
  Array u, s, vh;
};
// x = u diag(s) vh: orthonormal columns of u [.., m, k] and rows of vh [.., k, n], singular values [.., k] falling and
// not negative; k = min(m, n). Phases are fixed in u as for eigh. Equal values have NaN for the derivative of vectors.
Svd svd(In x, const SvdOptions& options = {});
Array svdvals(In x);

// ---- systems of equations: b of rank 1 is one right-hand side; otherwise its last axis counts them, and batches of
// both operands broadcast

// x with a x = b. A singular matrix gives infinities and NaN.
Array solve(In a, In b);
Array inv(In x);

enum class Op : std::uint8_t { none, transpose, adjoint };  // what is done to a matrix before it is used
struct TriangularOptions {
  Flag lower = false;
  Op op = Op::none;
  Flag unit_diagonal = false;  // the diagonal counts as ones and is not read
};
// x with op(a) x = b; the other triangle of a is not read.
Array solve_triangular(In a, In b, const TriangularOptions& options = {});

// Factors to solve many systems with one matrix.
struct CholeskyFactor {
  Array factor;  // lower
};
CholeskyFactor cho_factor(In x);
Array cho_solve(const CholeskyFactor& a, In b);
struct LuFactor {
  Array lu;           // l below the diagonal, u on and above it
  Array pivots;       // i32 [.., k]: row i was exchanged with row pivots[i], in this order
  Array permutation;  // i32 [.., m]: x[permutation] = l u
};
LuFactor lu_factor(In x);
// x with op(a) x = b. Square matrices.
Array lu_solve(const LuFactor& a, In b, Op op = Op::none);

struct PinvOptions {
  std::optional<double> rtol = {};  // singular values of at most this share of the largest are 0; 10 max(m, n) eps
};
// The Moore-Penrose inverse [.., n, m]. Its derivative holds while the rank stays.
Array pinv(In x, const PinvOptions& options = {});

struct LeastSquaresOptions {
  std::optional<double> rcond = {};  // like rtol; max(m, n) eps
};
struct LeastSquares {
  Array x;                // [.., n] or [.., n, k]: of the smallest |a x - b|^2 the shortest
  Array residuals;        // |a x - b|^2 by right-hand side: [.., 1] or [.., k]
  Array rank;             // i32 [..]
  Array singular_values;  // of a
};
LeastSquares lstsq(In a, In b, const LeastSquaresOptions& options = {});

// x with tensordot(a, x, x.rank()) = b; a has the shape of b followed by that of x.
Array tensorsolve(In a, In b);
// The inverse for tensordot over `index` axes: the first `index` axes of x against the others, of as many elements.
Array tensorinv(In x, int index = 2);

// ---- numbers

// The determinant; its derivative holds for singular matrices up to 3 x 3, and beyond that while u of lu has no zero
// but its last diagonal element.
Array det(In x);
struct SignLogDet {
  Array sign, logabsdet;
};
// sign * exp(logabsdet) is the determinant; (0, -inf) of a singular matrix.
SignLogDet slogdet(In x);

// Which norm. Vectors: any number (2 by default, 0 counts what is not zero, infinity takes the largest magnitude).
// Matrices: "fro" (default), "nuc" (sum of singular values), 2 and -2 (largest, smallest), 1 and -1 (column sums),
// infinity and -infinity (row sums).
class NormOrder {
 public:
  NormOrder() = default;
  template <Number T>
  NormOrder(T order) : number_(static_cast<double>(order)) {}
  NormOrder(const char* name) : name_(name) {}
  bool given() const { return number_ || !name_.empty(); }
  const std::optional<double>& number() const { return number_; }
  const std::string& name() const { return name_; }

 private:
  std::optional<double> number_;
  std::string name_;
};
inline constexpr double inf = std::numeric_limits<double>::infinity();
struct NormOptions {
  NormOrder ord = {};
  Axes axis = {};  // one: of vectors, two: of matrices; none: all elements, which need rank 1 or 2 when ord is given
  Flag keepdims = false;
};
// Real. The derivative of the 2-norm and of "fro" is 0 where the norm is 0.
Array norm(In x, const NormOptions& options = {});
struct VectorNormOptions {
  NormOrder ord = 2;
  Axes axis = {};  // none: all elements
  Flag keepdims = false;
};
Array vector_norm(In x, const VectorNormOptions& options = {});
struct MatrixNormOptions {
  NormOrder ord = "fro";
  Flag keepdims = false;
};
Array matrix_norm(In x, const MatrixNormOptions& options = {});
// |x| |x^-1|; by default and for 2 the ratio of singular values, of any matrix.
Array cond(In x, const NormOrder& ord = {});
struct RankOptions {
  std::optional<double> rtol = {};  // singular values of at most this share of the largest do not count; max(m, n) eps
};
// i32: the number of singular values that are not small. No derivative.
Array matrix_rank(In x, const RankOptions& options = {});

// ---- products

// x times itself n times; the inverse first for negative n.
Array matrix_power(In x, i64 n);
// The product of matrices, in the order that takes the fewest multiplications. The first and the last may be vectors.
Array multi_dot(const Arrays& parts, Location where = Location::current());
// The matrix exponential, by scaling and squaring; NaN where the 1-norm is beyond 2^16 times that of the approximation.
Array expm(In x);
// Matrices (vectors are rows, scalars 1 x 1) along the diagonal, zeros elsewhere.
Array block_diag(const Arrays& parts, Location where = Location::current());

}  // namespace uni::linalg
