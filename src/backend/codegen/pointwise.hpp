// Pointwise operations on register values. 16-bit floats are held as f32 values that they can represent.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "backend/codegen/writer.hpp"
#include "ir/program.hpp"

namespace uni::codegen {

std::optional<Kind> kind_of(Dtype dtype);  // none: complex numbers and keys
// Rounds to a 16-bit float; other dtypes pass.
Val rounded(const Val& x, Dtype dtype);

struct MapContext {
  const ir::Params& params;
  std::span<const Dtype> in;
  Dtype out;
  // Computes the operation lane by lane: for arguments that an emitter's method does not reach.
  std::function<Val()> call;
};
using Emitter = Val (*)(std::span<const Val> in, const MapContext& context);
// Null when there is none for these dtypes.
Emitter find_emitter(const ir::Op& op, const ir::Params& params, std::span<const Dtype> in, Dtype out);
// Of one element, in additions.
int cost_of(const ir::Op& op);

// Two partial results of a reduction, and what they begin with.
Val combine(const ir::Op& reduce, Dtype dtype, const Val& a, const Val& b);
Val neutral(const ir::Op& reduce, Dtype dtype, Writer& writer, int lanes);

}  // namespace uni::codegen
