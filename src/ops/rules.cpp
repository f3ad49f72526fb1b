#include "ops/rules.hpp"

#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::core {

Array zeros_of(const Type& type) {
  if (type.dtype == Dtype::key) throw InternalError(base::cat("zeros of ", ir::to_string(type), " were asked for"));
  return make_varying(lax::full_int(0, type.dtype, type.shape, type.weak), type.varying);
}

Array add_tangents(const Array& a, const Array& b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  return lax::add(a, b);
}

}  // namespace uni::core

namespace uni::ops {

Array instantiate(const Array& t, const Type& type) { return is_zero(t) ? zeros_of(type) : t; }

Array with_batch(const BatchArgs& args, std::size_t operand) {
  const Array& x = args.in[operand];
  if (args.batched[operand]) return x;
  Dims shape = core::type_of(x).shape;
  shape.insert(0, args.size);
  return lax::broadcast_to(x, shape);
}

Batch all_batched(Arrays out) {
  std::vector<bool> batched(out.size(), true);
  return {std::move(out), std::move(batched)};
}

}  // namespace uni::ops
