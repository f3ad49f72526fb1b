// The flat function behind vmap.
#include "api/axes.hpp"
#include "base/text.hpp"
#include "interp/batch.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>
#include <unisono/transform.hpp>

namespace uni::detail {

using base::cat;

Arrays flat_vmap(const VmapCall& call, FlatFunction f) {
  const api::MappedArguments mapped = api::map_arguments("vmap", call.args, call.in_axes, call.axis_size);
  Arrays in;
  std::vector<bool> batched;
  for (const api::MappedLeaf& leaf : mapped.leaves) {
    batched.push_back(leaf.axis.has_value());
    in.push_back(leaf.axis ? lax::move_axis(leaf.value, *leaf.axis, 0) : leaf.value);
  }
  const interp::Batched r = interp::batch(f, in, batched, {mapped.size, call.axis_name});
  const std::vector<AxisSpec> axes = api::result_axes("vmap", call.out_axes, call.result_leaves());
  Arrays out;
  for (std::size_t i = 0; i < r.out.size(); ++i) {
    if (!r.out[i].defined()) {
      out.emplace_back();
      continue;
    }
    if (!axes[i]) {
      if (r.batched[i])
        throw ShapeError(cat("vmap: result ", i, " ", ir::to_string(core::type_of(r.out[i])),
                             " differs between lanes, its out_axes says it is not mapped"));
      out.push_back(r.out[i]);
      continue;
    }
    Array value = r.out[i];
    if (!r.batched[i]) {
      Dims shape = value.shape();
      shape.insert(0, mapped.size);
      value = lax::broadcast_to(value, shape);
    }
    out.push_back(lax::move_axis(value, 0, api::wrapped_axis("vmap: out_axes", *axes[i], value.rank(), value)));
  }
  return out;
}

}  // namespace uni::detail
