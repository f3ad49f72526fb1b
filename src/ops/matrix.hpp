// Matrices in the last two axes; what stands before them is a batch, the same for all operands.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

// Checks of type rules: the dtypes that factorisations are computed in, at least two axes, as many rows as columns.
void check_matrix(const ir::Op& op, const Type& type);
void check_square(const ir::Op& op, const Type& type);
Dims batch_of(const Dims& shape);  // without the last two sizes
Dims with_matrix(Dims batch, i64 rows, i64 columns);

// Batch dimensions pass, all others are replicated. `results` are the ranks of the results.
ShardRule matrix_rule(std::span<const Type> in, const std::vector<int>& results);

}  // namespace uni::ops

namespace uni::lax {

Array batch_matmul(const Array& x, const Array& y);
Array matrix_transpose(const Array& x);
Array adjoint(const Array& x);  // the conjugate transpose
Array identity(Dtype dtype, const Dims& shape);
// The elements on and below (above) a diagonal, zeros elsewhere; `offset` moves the diagonal up.
Array lower_triangle(const Array& x, int offset = 0);
Array upper_triangle(const Array& x, int offset = 0);
Array matrix_diagonal(const Array& x);  // of square matrices
// The matrices of this shape whose rows (columns) all are v.
Array as_rows(const Array& v, const Dims& shape);
Array as_columns(const Array& v, const Dims& shape);
// The rows of x [.., m, n] in this order, i32 [.., k].
Array take_rows(const Array& x, const Array& order);
// The Hermitian matrix with this lower triangle; imaginary parts on the diagonal count as zero.
Array hermitian_of_lower(const Array& x);

}  // namespace uni::lax
