// What the functions of linear algebra share.
#pragma once
#include <string_view>

#include "api/promote.hpp"
#include "ops/linalg.hpp"
#include "ops/matrix.hpp"
#include <unisono/linalg.hpp>

namespace uni::api {

// The operand as f32, f64, c64 or c128.
Array linalg_operand(std::string_view who, const In& x);
// The same; throws ShapeError "linalg::inv: f32[3] is not a matrix", "linalg::inv: f32[2,3] is not square".
Array matrix_operand(std::string_view who, const In& x);
Array square_operand(std::string_view who, const In& x);
void check_is_matrix(std::string_view who, const Array& x);
void check_is_square(std::string_view who, const Array& x);

Array symmetrized(const Array& x);  // (x + x^H) / 2
double epsilon(Dtype dtype);
Array real_parts(const Array& x);
// The elements of v times the columns of x.
Array scaled_columns(const Array& x, const Array& v);

// A square matrix and right-hand sides with equal batches; throws ShapeError "linalg::solve: f32[3,3] and f32[2]
// disagree: 3 unknowns, 2 equations".
class System {
 public:
  System(std::string_view who, const Array& a, const Array& b);
  const Array& matrix() const { return a_; }
  const Array& sides() const { return b_; }
  // The solution in the shape of what was given.
  Array restored(const Array& x) const;

 private:
  Array a_, b_;
  bool vector_ = false;  // one right-hand side
  Dims folded_;          // one matrix for a batch of right-hand sides: these became columns
};
// Both operands with their common dtype.
struct Pair {
  Array a, b;
};
Pair linalg_operands(std::string_view who, const In& a, const In& b);

}  // namespace uni::api
