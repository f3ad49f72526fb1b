// Rows of the pointwise kernels: an operation and the choice of its loop.
#pragma once
#include "backend/native/kernel.hpp"

namespace uni::native {

struct PointwiseRow {
  const ir::Op* op;
  FlatFn (*choose)(std::span<const ir::Type> in, const ir::Type& out);
};
std::span<const PointwiseRow> uniform_rows();  // one dtype for operands and result
std::span<const PointwiseRow> mixed_rows();    // several dtypes, parameters, or three operands

}  // namespace uni::native
