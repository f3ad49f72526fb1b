#include <unisono/products.hpp>

#include <algorithm>

#include "api/fail.hpp"
#include "api/named_axes.hpp"
#include "api/products.hpp"
#include "api/promote.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

namespace api {

// Bool has no sums: products of bool are counted and compared with zero.
Array contract(const Array& x, const Array& y, const ops::DotGeneral& dims) {
  if (!is_bool(x.dtype())) return lax::dot_general(x, y, dims);
  const Array count = lax::dot_general(lax::convert(x, Dtype::i32), lax::convert(y, Dtype::i32), dims);
  return lax::convert(count, Dtype::b8);
}

Factors factors(std::string_view who, const In& x, const In& y) {
  const ValueType type = promote(who, {x, y});
  if (type.dtype == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no numeric value"));
  return {as_type(who, x, type), as_type(who, y, type)};
}

void check_contracted(std::string_view who, const Array& x, int x_axis, const Array& y, int y_axis) {
  const i64 a = x.shape()[x_axis], b = y.shape()[y_axis];
  if (a != b)
    fail<ShapeError>(base::cat(who, ": lhs ", ir::to_string(core::type_of(x)), " and rhs ",
                               ir::to_string(core::type_of(y)), " disagree on the contracted size: ", a, " (lhs axis ",
                               x_axis, ") vs ", b, " (rhs axis ", y_axis, ")"));
}
}  // namespace api

using namespace api;

namespace {
// Sums over one axis of each; the other axes of x, then those of y.
Array contract_axes(std::string_view who, const Factors& f, int x_axis, int y_axis) {
  check_contracted(who, f.x, x_axis, f.y, y_axis);
  return contract(f.x, f.y, {.lhs_contract = {x_axis}, .rhs_contract = {y_axis}, .lhs_batch = {}, .rhs_batch = {}});
}

// The product where both operands have leading axes.
Array batched_matmul(const Array& x, const Array& y) {
  const int x_rank = x.rank(), y_rank = y.rank();
  const Dims heads[] = {Dims(x.shape().begin(), x.shape().end() - 2), Dims(y.shape().begin(), y.shape().end() - 2)};
  Dims batch = broadcast_shapes("matmul", heads);
  Dims x_shape = batch, y_shape = batch;
  for (int i : {-2, -1}) {
    x_shape.push_back(x.shape()[x_rank + i]);
    y_shape.push_back(y.shape()[y_rank + i]);
  }
  const int n = batch.rank();
  ops::DotGeneral dims{.lhs_contract = {n + 1}, .rhs_contract = {n}, .lhs_batch = {}, .rhs_batch = {}};
  for (int i = 0; i < n; ++i) {
    dims.lhs_batch.push_back(i);
    dims.rhs_batch.push_back(i);
  }
  return contract(lax::broadcast_to(x, x_shape), lax::broadcast_to(y, y_shape), dims);
}
}  // namespace

Array matmul(In x, In y) {
  const core::At at(x.where());
  const Factors f = factors("matmul", x, y);
  const int x_rank = f.x.rank(), y_rank = f.y.rank();
  if (x_rank == 0 || y_rank == 0)
    fail<ShapeError>(base::cat("matmul: lhs ", ir::to_string(core::type_of(f.x)), " and rhs ",
                               ir::to_string(core::type_of(f.y)), ": a scalar has no axis to contract"),
                     "multiply with *");
  const int y_axis = y_rank == 1 ? 0 : y_rank - 2;
  check_contracted("matmul", f.x, x_rank - 1, f.y, y_axis);
  if (x_rank > 2 && y_rank > 2) return batched_matmul(f.x, f.y);
  // At most one operand has leading axes, which are free then.
  const Array product = contract_axes("matmul", f, x_rank - 1, y_axis);
  return x_rank == 2 && y_rank > 2 ? lax::move_axis(product, 0, y_rank - 2) : product;
}

Array dot(In x, In y) {
  const core::At at(x.where());
  const Factors f = factors("dot", x, y);
  if (f.x.rank() == 0 || f.y.rank() == 0) {
    const Dims shapes[] = {f.x.shape(), f.y.shape()};
    const Dims shape = broadcast_shapes("dot", shapes);
    return lax::mul(lax::broadcast_to(f.x, shape), lax::broadcast_to(f.y, shape));
  }
  return contract_axes("dot", f, f.x.rank() - 1, f.y.rank() == 1 ? 0 : f.y.rank() - 2);
}

Array inner(In x, In y) {
  const core::At at(x.where());
  const Factors f = factors("inner", x, y);
  if (f.x.rank() == 0 || f.y.rank() == 0) return dot(x, y);
  return contract_axes("inner", f, f.x.rank() - 1, f.y.rank() - 1);
}

Array outer(In x, In y) {
  const core::At at(x.where());
  const Factors f = factors("outer", x, y);
  const Dims shape{f.x.size(), f.y.size()};
  return lax::mul(lax::broadcast_to(lax::reshape(f.x, {f.x.size(), 1}), shape),
                  lax::broadcast_to(lax::reshape(f.y, {1, f.y.size()}), shape));
}

Array kron(In x, In y) {
  const core::At at(x.where());
  const Factors f = factors("kron", x, y);
  const int rank = std::max(f.x.rank(), f.y.rank());
  Dims blocks, inside, shape;
  for (int d = -rank; d < 0; ++d) {
    const i64 outer = -d <= f.x.rank() ? f.x.shape(d) : 1, inner = -d <= f.y.rank() ? f.y.shape(d) : 1;
    for (const i64 size : {outer, i64{1}}) blocks.push_back(size);
    for (const i64 size : {i64{1}, inner}) inside.push_back(size);
    shape.push_back(outer * inner);
  }
  const Dims shapes[] = {blocks, inside};
  const Dims all = broadcast_shapes("kron", shapes);
  return lax::reshape(
      lax::mul(lax::broadcast_to(lax::reshape(f.x, blocks), all), lax::broadcast_to(lax::reshape(f.y, inside), all)),
      shape);
}

Array cross(In x, In y, const CrossOptions& options) {
  const core::At at(x.where());
  Factors f = factors("cross", x, y);
  if (is_bool(f.x.dtype())) fail<DtypeError>("cross: bool has no subtract", "astype to a number");
  int places[2];
  for (int i : {0, 1}) {
    const Array& each = i == 0 ? f.x : f.y;
    places[i] = resolve_axis("cross", options.axis, core::type_of(each));
    if (each.shape(places[i]) != 3)
      fail<ShapeError>(base::cat("cross: axis ", options.axis, " of ", ir::to_string(core::type_of(each)), " has size ",
                                 each.shape(places[i]), ", not 3"));
  }
  const Array a = lax::move_axis(f.x, places[0], f.x.rank() - 1), b = lax::move_axis(f.y, places[1], f.y.rank() - 1);
  const Dims shapes[] = {a.shape(), b.shape()};
  const Dims shape = broadcast_shapes("cross", shapes);
  const Array u = lax::broadcast_to(a, shape), v = lax::broadcast_to(b, shape);
  const int last = shape.rank() - 1;
  // Elements 1, 2, 0 and 2, 0, 1.
  const auto turned = [&](const Array& w, i64 by) {
    const Array parts[] = {lax::slice_axis(w, last, by, 3), lax::slice_axis(w, last, 0, by)};
    return lax::concatenate(parts, last);
  };
  const Array out = lax::sub(lax::mul(turned(u, 1), turned(v, 2)), lax::mul(turned(u, 2), turned(v, 1)));
  const int axis = options.axis < 0 ? options.axis + shape.rank() : options.axis;
  return lax::move_axis(out, last, axis);
}

Array vdot(In x, In y) {
  const core::At at(x.where());
  Factors f = factors("vdot", x, y);
  if (f.x.size() != f.y.size())
    fail<ShapeError>(base::cat("vdot: lhs ", ir::to_string(core::type_of(f.x)), " and rhs ",
                               ir::to_string(core::type_of(f.y)), " have ", f.x.size(), " and ", f.y.size(),
                               " elements"));
  if (is_complex(f.x.dtype())) f.x = lax::conj(f.x);
  return contract_axes("vdot", {lax::reshape(f.x, {f.x.size()}), lax::reshape(f.y, {f.y.size()})}, 0, 0);
}

Array tensordot(In x, In y, const ContractAxes& axes) {
  const core::At at(x.where());
  const Factors f = factors("tensordot", x, y);
  ops::DotGeneral dims;
  if (axes.count() >= 0) {
    if (axes.count() > std::min(f.x.rank(), f.y.rank()))
      fail<ShapeError>(base::cat("tensordot: ", axes.count(), " axes of ", ir::to_string(core::type_of(f.x)), " and ",
                                 ir::to_string(core::type_of(f.y))));
    for (int i = 0; i < axes.count(); ++i) {
      dims.lhs_contract.push_back(f.x.rank() - axes.count() + i);
      dims.rhs_contract.push_back(i);
    }
  } else {
    dims.lhs_contract = resolve_axes("tensordot", Axes(axes.x()), core::type_of(f.x));
    dims.rhs_contract = resolve_axes("tensordot", Axes(axes.y()), core::type_of(f.y));
    if (dims.lhs_contract.size() != dims.rhs_contract.size())
      fail<ShapeError>(base::cat("tensordot: ", dims.lhs_contract.size(), " axes of the lhs and ",
                                 dims.rhs_contract.size(), " of the rhs"));
  }
  for (std::size_t i = 0; i < dims.lhs_contract.size(); ++i)
    check_contracted("tensordot", f.x, dims.lhs_contract[i], f.y, dims.rhs_contract[i]);
  return contract(f.x, f.y, dims);
}

}  // namespace uni
