#include <unisono/sorting.hpp>

#include "api/named_axes.hpp"
#include "api/fail.hpp"
#include "api/promote.hpp"
#include "ops/structural.hpp"

namespace uni {

using namespace api;

namespace {
struct Sorted {
  Array values, indices;
};

Array ordered_array(std::string_view who, const In& x) {
  Array a = as_array(who, x);
  if (is_complex(a.dtype()) || a.dtype() == Dtype::key)
    fail<DtypeError>(base::cat(who, ": ", name(a.dtype()), " has no order"));
  return a;
}
Sorted sort_with_indices(std::string_view who, const In& x, int named_axis, bool descending) {
  Array a = ordered_array(who, x);
  const int axis = resolve_axis(who, named_axis, core::type_of(a));
  Array position = lax::iota(Dtype::i32, a.shape(), axis);
  // Sorted backwards and turned round: the largest come first, equal ones in their order.
  if (descending) {
    a = lax::reverse(a, {axis});
    position = lax::reverse(position, {axis});
  }
  const Array operands[] = {a, position};
  Arrays out = lax::sort(operands, axis, 1);
  if (descending)
    for (Array& each : out) each = lax::reverse(each, {axis});
  return {out[0], out[1]};
}
}  // namespace

Array sort(In x, const SortOptions& options) {
  const core::At at(x.where());
  return sort_with_indices("sort", x, options.axis, options.descending).values;
}

Array argsort(In x, const SortOptions& options) {
  const core::At at(x.where());
  return sort_with_indices("argsort", x, options.axis, options.descending).indices;
}

TopK top_k(In x, i64 k) {
  const core::At at(x.where());
  const Array a = ordered_array("top_k", x);
  const i64 size = a.shape(resolve_axis("top_k", -1, core::type_of(a)));
  if (k < 0 || k > size) fail<ShapeError>(base::cat("top_k: ", k, " of ", size, " elements"));
  const Arrays out = lax::top_k(a, k);
  return {out[0], out[1]};
}

}  // namespace uni
