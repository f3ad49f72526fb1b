// x[index] and x.at(index): slices first, then one gather or scatter over the axes that arrays index.
#include <algorithm>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/index_plan.hpp"
#include "api/limits.hpp"
#include "api/positions.hpp"
#include "ops/structural.hpp"
#include <unisono/array.hpp>
#include <unisono/elementwise.hpp>

namespace uni {

using namespace api;

namespace {
bool strided(const IndexPlan& plan) {
  return std::any_of(plan.slices.begin(), plan.slices.end(), [](const AxisSlice& s) { return s.stride != 1; });
}

std::vector<int> reversed_axes(const IndexPlan& plan) {
  std::vector<int> axes;
  for (std::size_t i = 0; i < plan.slices.size(); ++i)
    if (plan.slices[i].reversed) axes.push_back(static_cast<int>(i));
  return axes;
}

Array unless_empty(const Array& x, const std::vector<int>& axes) { return axes.empty() ? x : lax::reverse(x, axes); }

// The sliced array, integers and new axes not yet applied.
Array take_slices(const Array& x, const IndexPlan& plan) {
  const Array whole = lax::reshape(x, plan.shape);
  if (!plan.sliced) return whole;
  Dims start, limit, stride;
  for (const AxisSlice& s : plan.slices) {
    start.push_back(s.start);
    limit.push_back(s.limit);
    stride.push_back(s.stride);
  }
  return unless_empty(lax::slice(whole, start, limit, stride), reversed_axes(plan));
}

// x with the sliced part replaced. Strided parts are spread out and chosen by a mask.
Array put_slices(const Array& x, const Array& part, const IndexPlan& plan) {
  const ir::Type type = core::type_of(x);
  if (!plan.sliced) return lax::reshape(part, type.shape);
  const Array whole = lax::reshape(x, plan.shape);
  const Array turned = unless_empty(part, reversed_axes(plan));
  if (part.size() == 0) return x;
  if (!strided(plan)) {
    Arrays starts;
    for (const AxisSlice& s : plan.slices) starts.push_back(lax::full_int(s.start, Dtype::i64, {}));
    return lax::reshape(lax::dynamic_update_slice(whole, turned, starts), type.shape);
  }
  Dims low, high, interior;
  for (std::size_t i = 0; i < plan.slices.size(); ++i) {
    const AxisSlice& s = plan.slices[i];
    const i64 covered = (s.count() - 1) * s.stride + 1;
    low.push_back(s.start);
    high.push_back(plan.shape[static_cast<int>(i)] - s.start - covered);
    interior.push_back(s.stride - 1);
  }
  const ir::Type part_type = core::type_of(turned);
  const Array zero = lax::full_scalar(ir::Scalar::of_int(type.dtype, 0), {}, part_type.weak);
  const Array chosen =
      lax::pad(lax::full_int(1, Dtype::b8, part_type.shape), lax::full_int(0, Dtype::b8, {}), low, high, interior);
  const Array spread = lax::pad(turned, zero, low, high, interior);
  return lax::reshape(lax::select(chosen, spread, whole), type.shape);
}

// The order of axes with the indexed ones first.
std::vector<int> advanced_first(const IndexPlan& plan) {
  std::vector<int> order = plan.advanced;
  for (int i = 0; i < plan.shape.rank(); ++i)
    if (std::find(plan.advanced.begin(), plan.advanced.end(), i) == plan.advanced.end()) order.push_back(i);
  return order;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return out;
}

Array permuted(const Array& x, const std::vector<int>& order) {
  return std::is_sorted(order.begin(), order.end()) ? x : lax::transpose(x, order);
}

// The order that brings the batch axes of the result to the front.
std::vector<int> batch_first(const IndexPlan& plan) {
  std::vector<int> order;
  for (int i = 0; i < plan.batch.rank(); ++i) order.push_back(plan.batch_at + i);
  for (int i = 0; i < plan.result.rank(); ++i)
    if (i < plan.batch_at || i >= plan.batch_at + plan.batch.rank()) order.push_back(i);
  return order;
}

Dims permuted_shape(const Dims& shape, const std::vector<int>& order) {
  Dims out;
  for (int axis : order) out.push_back(shape[axis]);
  return out;
}

void check_readable(const IndexPlan& plan, const Array& sliced) {
  for (int axis : plan.advanced) check_not_empty("index", sliced, axis, plan.batch.count());
}

// Single indices that clip are a window, which compiles to less than a gather.
Array take_window(const Array& sliced, const IndexPlan& plan) {
  Arrays starts;
  for (int i = 0; i < sliced.rank(); ++i) starts.push_back(lax::full_int(0, Dtype::i64, {}));
  Dims sizes = sliced.shape();
  for (std::size_t k = 0; k < plan.advanced.size(); ++k) {
    starts[static_cast<std::size_t>(plan.advanced[k])] = lax::convert(plan.indices[k], Dtype::i64);
    sizes[plan.advanced[k]] = 1;
  }
  return lax::reshape(lax::dynamic_slice(sliced, starts, sizes), plan.result);
}

Array read_plan(const Array& x, const IndexPlan& plan, const AtOptions& options) {
  const Array sliced = take_slices(x, plan);
  if (plan.advanced.empty()) return lax::reshape(sliced, plan.result);
  const ops::IndexMode m = index_mode(options.mode, OutOfBounds::clip);
  if (m == ops::IndexMode::clip) {
    check_readable(plan, sliced);
    if (plan.batch.rank() == 0) return take_window(sliced, plan);
  }
  const Array front = permuted(sliced, advanced_first(plan));
  const ir::Scalar fill =
      options.fill ? constant("get", detail::HostScalar::of(*options.fill), x.dtype()) : fill_value(x.dtype());
  const Array rows = lax::gather(front, index_columns(plan.indices), m, fill);
  const std::vector<int> order = batch_first(plan);
  return permuted(lax::reshape(rows, permuted_shape(plan.result, order)), inverse(order));
}
}  // namespace

Array Array::operator[](const Index& index) const {
  const core::At at(index.where());
  return read_plan(*this, plan_index(core::type_of(*this), index, OutOfBounds::standard), {});
}

AtIndex Array::at(const Index& index) const { return AtIndex(*this, index); }

Array AtIndex::get(const AtOptions& options) const {
  const core::At at(index_.where());
  return read_plan(array_, plan_index(core::type_of(array_), index_, options.mode), options);
}

namespace {
Binary combiner(ops::Combine combine) {
  switch (combine) {
    case ops::Combine::set:
      return [](const Array&, const Array& value) { return value; };
    case ops::Combine::add:
      return lax::add;
    case ops::Combine::mul:
      return lax::mul;
    case ops::Combine::min:
      return lax::minimum;
    case ops::Combine::max:
      return lax::maximum;
  }
  throw InternalError("an update of an unknown kind");
}

// The value in the array's dtype.
Array update_value(std::string_view who, const Array& x, const In& value) {
  const ValueType own = value_type(x);
  if (value.is_scalar()) return as_type(who, value, own);
  const ValueType given = value_type(value);
  if ((given.dtype == Dtype::key) != (own.dtype == Dtype::key))
    fail<DtypeError>(base::cat(who, ": a value of dtype ", name(given.dtype), " cannot be put into ",
                               ir::to_string(core::type_of(x))));
  return lax::convert(value.array(), own.dtype, given.weak && own.weak);
}

Array fit_value(std::string_view who, const Array& value, const Dims& shape) {
  const Dims both[] = {shape, value.shape()};
  bool fits = value.rank() <= shape.rank();
  for (int i = 1; fits && i <= value.rank(); ++i) fits = value.shape()[-i] == shape[-i] || value.shape()[-i] == 1;
  if (!fits)
    fail<ShapeError>(
        base::cat(who, ": a value of shape ", both[1], " does not broadcast to the indexed shape ", shape));
  return lax::broadcast_to(value, shape);
}

Array write_plan(std::string_view who, const Array& x, const IndexPlan& plan, const Array& value, ops::Combine combine,
                 OutOfBounds mode) {
  const Array fitted = fit_value(who, value, plan.result);
  if (plan.advanced.empty()) {
    const Array put = lax::reshape(fitted, plan.basic_shape);
    if (combine == ops::Combine::set) return put_slices(x, put, plan);
    return put_slices(x, combiner(combine)(take_slices(x, plan), put), plan);
  }
  const Array sliced = take_slices(x, plan);
  const ops::IndexMode m = index_mode(mode, OutOfBounds::drop);
  if (m == ops::IndexMode::clip) check_readable(plan, sliced);
  const std::vector<int> axes = advanced_first(plan);
  const Array front = permuted(sliced, axes);
  Dims rows{plan.batch.count()};
  for (int i = static_cast<int>(plan.advanced.size()); i < front.rank(); ++i) rows.push_back(front.shape()[i]);
  const Array updates = lax::reshape(permuted(fitted, batch_first(plan)), rows);
  const Array written = lax::scatter(front, index_columns(plan.indices), updates, combine, m);
  return put_slices(x, permuted(written, inverse(axes)), plan);
}

// A mask alone with one value for all true elements needs no positions, so it works on traced masks too.
bool is_mask(const Index& index, const Array& x) {
  if (index.items().size() != 1 || index.items()[0].kind() != IndexItem::Kind::array) return false;
  const Array& mask = index.items()[0].array();
  if (!is_bool(mask.dtype()) || mask.rank() == 0 || mask.rank() > x.rank()) return false;
  for (int i = 0; i < mask.rank(); ++i)
    if (mask.shape()[i] != x.shape()[i]) return false;
  return true;
}

Array write_mask(std::string_view who, const Array& x, const Array& mask, const Array& value, ops::Combine combine) {
  Dims spread = mask.shape(), rest;
  for (int i = mask.rank(); i < x.rank(); ++i) {
    spread.push_back(1);
    rest.push_back(x.shape()[i]);
  }
  const Array everywhere = lax::broadcast_to(fit_value(who, value, rest), x.shape());
  const Array chosen = lax::broadcast_to(lax::reshape(mask, spread), x.shape());
  return lax::select(chosen, combiner(combine)(x, everywhere), x);
}

Array update(std::string_view who, const Array& x, const Index& index, const In& value, ops::Combine combine,
             const AtOptions& options) {
  const core::At at(index.where());
  const Array put = update_value(who, x, value);
  if (is_mask(index, x)) {
    const Array& mask = index.items()[0].array();
    if (put.rank() <= x.rank() - mask.rank()) return write_mask(who, x, mask, put, combine);
  }
  return write_plan(who, x, plan_index(core::type_of(x), index, options.mode), put, combine, options.mode);
}
}  // namespace

Array AtIndex::set(In value, const AtOptions& options) const {
  return update("set", array_, index_, value, ops::Combine::set, options);
}
Array AtIndex::add(In value, const AtOptions& options) const {
  return update("add", array_, index_, value, ops::Combine::add, options);
}
Array AtIndex::subtract(In value, const AtOptions& options) const {
  const core::At at(index_.where());
  const Array put = update_value("subtract", array_, value);
  return update("subtract", array_, index_, negative(put), ops::Combine::add, options);
}
Array AtIndex::multiply(In value, const AtOptions& options) const {
  return update("multiply", array_, index_, value, ops::Combine::mul, options);
}
// The divisors are collected first, so that several of one element act together.
Array AtIndex::divide(In value, const AtOptions& options) const {
  const core::At at(index_.where());
  const Array ones = constant_like(array_, 1);
  const Array divisor = update("divide", ones, index_, value, ops::Combine::mul, options);
  if (!is_inexact(array_.dtype()))
    fail<DtypeError>(base::cat("divide: ", ir::to_string(core::type_of(array_)), " is not of a floating dtype"));
  return lax::div(array_, divisor);
}
Array AtIndex::min(In value, const AtOptions& options) const {
  return update("min", array_, index_, value, ops::Combine::min, options);
}
Array AtIndex::max(In value, const AtOptions& options) const {
  return update("max", array_, index_, value, ops::Combine::max, options);
}

}  // namespace uni
