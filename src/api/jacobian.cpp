// Jacobians: the linear map at the argument, applied to all unit vectors at once by vmap.
#include "api/control.hpp"
#include "api/fail.hpp"
#include "interp/batch.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/call.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/jacobian.hpp>

namespace uni::detail {

using base::cat;

namespace {
void check_real(std::string_view who, const std::string& path, const Array& a) {
  if (!is_float(a.dtype()))
    api::fail<DtypeError>(
        cat(who, ": `", path, "` is ", ir::to_string(core::type_of(a)), ", only real floating arrays have a Jacobian"));
}
i64 total(const Arrays& leaves) {
  i64 n = 0;
  for (const Array& a : leaves) n += a.size();
  return n;
}
// The rows of the unit matrix, cut and shaped as the leaves: [total, leaf...] for each.
Arrays unit_vectors(const Arrays& leaves) {
  const i64 n = total(leaves);
  Arrays out;
  i64 offset = 0;
  for (const Array& a : leaves) {
    const Array row = lax::iota(Dtype::i64, {n, a.size()}, 0), column = lax::iota(Dtype::i64, {n, a.size()}, 1);
    const Array one = lax::eq(row, lax::add(column, lax::full_int(offset, Dtype::i64, {n, a.size()})));
    Dims shape = a.shape();
    shape.insert(0, n);
    out.push_back(lax::reshape(lax::convert(one, a.dtype()), shape));
    offset += a.size();
  }
  return out;
}
// The linear map on values with a leading batch dimension.
Arrays each(const interp::LinearMap& map, const Arrays& inputs, bool transposed, std::size_t count) {
  Arrays in = ops::joined({inputs, map.residuals});
  ops::Flags batched(in.size(), false);
  std::fill(batched.begin(), batched.begin() + static_cast<std::ptrdiff_t>(inputs.size()), true);
  const auto forward = [&](std::span<const Array> x) { return interp::interpret(*map.program, x); };
  const auto backward = [&](std::span<const Array> x) {
    std::vector<core::Operand> operands;
    for (std::size_t i = 0; i < count; ++i) operands.push_back({Array(), map.program->types[i]});
    for (std::size_t i = 0; i < map.residuals.size(); ++i)
      operands.push_back({x[inputs.size() + i], map.program->types[count + i]});
    Arrays cts = interp::transpose(*map.program, operands, x.first(inputs.size()));
    cts.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      if (core::is_zero(cts[i])) cts[i] = core::zeros_of(map.program->types[i]);
    return cts;
  };
  const i64 size = inputs[0].shape()[0];
  interp::Batched r =
      transposed ? interp::batch(backward, in, batched, {size, ""}) : interp::batch(forward, in, batched, {size, ""});
  for (std::size_t i = 0; i < r.out.size(); ++i) r.out[i] = ops::force_batched(r.out[i], r.batched[i], size);
  return r.out;
}
Dims joined_shape(const Array& out, const Array& in) {
  Dims shape = out.shape();
  for (i64 s : in.shape()) shape.push_back(s);
  return shape;
}
Array zero_part(const Array& out, const Array& in) { return lax::full(0, in.dtype(), joined_shape(out, in)); }
// Rows [begin, begin + count) of a [rows, ...] array.
Array rows(const Array& x, i64 begin, i64 count) { return lax::slice_axis(x, 0, begin, begin + count); }
}  // namespace

std::vector<Arrays> flat_jacobian(bool forward, const TreeRef& argument, FlatFunction f) {
  const std::string_view who = forward ? "jacfwd" : "jacrev";
  const api::TreeLeaves in = api::tree_leaves_of(argument, "argument");
  for (std::size_t i = 0; i < in.values.size(); ++i) check_real(who, in.paths[i], in.values[i]);
  const interp::LinearMap map = interp::linearize(f, in.values, ops::Flags(in.values.size(), true));
  Arrays active;
  for (std::size_t i = 0; i < map.out.size(); ++i) {
    check_real(who, cat("result ", i), map.out[i]);
    if (map.active[i]) active.push_back(map.out[i]);
  }
  const Arrays& unit = forward ? in.values : active;
  Arrays columns;
  if (total(unit) > 0 && !active.empty()) columns = each(map, unit_vectors(unit), !forward, in.values.size());
  std::vector<Arrays> parts;
  i64 row = 0;
  std::size_t next = 0;
  for (std::size_t o = 0; o < map.out.size(); ++o) {
    const Array& out = map.out[o];
    parts.emplace_back();
    i64 offset = 0;
    for (std::size_t i = 0; i < in.values.size(); ++i) {
      const Array& x = in.values[i];
      if (!map.active[o] || columns.empty() || out.size() == 0 || x.size() == 0) {
        parts.back().push_back(zero_part(out, x));
      } else if (forward) {  // [in size, out...]
        const Array part = rows(columns[next], offset, x.size());
        parts.back().push_back(lax::reshape(lax::move_axis(part, 0, part.rank() - 1), joined_shape(out, x)));
      } else {  // [out size, in...]
        parts.back().push_back(lax::reshape(rows(columns[i], row, out.size()), joined_shape(out, x)));
      }
      offset += x.size();
    }
    if (!map.active[o]) continue;
    ++next;
    row += out.size();
  }
  return parts;
}

Arrays flat_linear_transpose(const TreeRef& like, const TreeRef& cotangent, FlatFunction f, Location where) {
  const core::At at(where);
  const api::TreeLeaves in = api::tree_leaves_of(like, "argument"), ct = api::tree_leaves_of(cotangent, "cotangent");
  const auto call = [&](std::span<const Array> x) { return api::call_user(f, x); };
  const interp::Staged staged = interp::stage(call, core::types_of(in.values), "linear_transpose");
  const ir::Types out = staged.program->output_types();
  if (out.size() != ct.values.size())
    api::fail<TreeError>(
        cat("linear_transpose: ", base::counted(ct.values.size(), "cotangent"), " for ", out.size(), " results"));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const ir::Type& t = core::type_of(ct.values[i]);
    if (!(t.shape == out[i].shape) || t.dtype != out[i].dtype)
      api::fail<ShapeError>(cat("linear_transpose: `", ct.paths[i], "` is ", ir::to_string(t), ", the result is ",
                                ir::to_string(out[i])));
  }
  std::vector<core::Operand> operands;
  for (const Array& a : in.values) operands.push_back({Array(), core::type_of(a)});
  for (const Array& a : staged.captured) operands.push_back({a, core::type_of(a)});
  Arrays cts = interp::transpose(*staged.program, operands, ct.values);
  cts.resize(in.values.size());
  for (std::size_t i = 0; i < cts.size(); ++i)
    if (core::is_zero(cts[i])) cts[i] = core::zeros_of(core::type_of(in.values[i]));
  return cts;
}

}  // namespace uni::detail
