#include "ir/op.hpp"

namespace uni::ir {

Types infer(const Op& op, std::span<const Type> operands, const Params& params) {
  Types out = op.type(operands, params);
  if (!op.traits.own_varying) {
    AxisNames varying;
    for (const Type& t : operands) varying = unite(varying, t.varying);
    for (Type& t : out) t.varying = varying;
  }
  if (op.traits.own_weak) return out;
  for (Type& t : out) {
    bool any = false, all = true;
    for (const Type& o : operands) {
      if (o.dtype != t.dtype) continue;
      any = true;
      all = all && o.weak;
    }
    t.weak = any && all && !is_bool(t.dtype);
  }
  return out;
}

}  // namespace uni::ir
