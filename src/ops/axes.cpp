#include "ops/axes.hpp"

#include "base/text.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

std::vector<int> axis_range(int first, int count) {
  std::vector<int> axes;
  for (int i = 0; i < count; ++i) axes.push_back(first + i);
  return axes;
}
std::vector<int> shifted(std::vector<int> axes, int by) {
  for (int& a : axes) a += by;
  return axes;
}
std::vector<int> inverse_permutation(const std::vector<int>& permutation) {
  std::vector<int> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) inverse[at(permutation[i])] = static_cast<int>(i);
  return inverse;
}
std::vector<int> other_axes(int rank, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i)
    if (!has_axis(a, i) && !has_axis(b, i)) axes.push_back(i);
  return axes;
}
Dims sizes_at(const Dims& shape, const std::vector<int>& axes) {
  Dims sizes;
  for (int a : axes) sizes.push_back(shape[a]);
  return sizes;
}
Dims prepended(i64 size, Dims dims) {
  dims.insert(0, size);
  return dims;
}
Dims joined(Dims a, const Dims& b) {
  for (i64 size : b) a.push_back(size);
  return a;
}
Dims repeated(i64 value, int count) { return Dims(std::vector<i64>(at(count), value)); }

i64 dilated_size(i64 size, i64 dilation) {
  i64 result = 0;
  if (size == 0) return 0;
  return __builtin_mul_overflow(size - 1, dilation, &result) || result >= huge_size ? huge_size : result + 1;
}
i64 padded_size(i64 size, i64 low, i64 high) {
  for (i64 padding : {low, high})
    if (padding <= -huge_size || padding >= huge_size) return huge_size;
  return size + low + high;
}

void check_axis(const ir::Op& op, int axis, const Type& type) {
  if (axis < 0 || axis >= type.shape.rank())
    throw ShapeError(cat(op.name, ": axis ", axis, " of ", ir::to_string(type), " does not exist"));
}
void check_axes(const ir::Op& op, const std::vector<int>& axes, const Type& type) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    check_axis(op, axes[i], type);
    for (std::size_t j = 0; j < i; ++j)
      if (axes[j] == axes[i])
        throw ShapeError(cat(op.name, ": axis ", axes[i], " of ", ir::to_string(type), " is named twice"));
  }
}
void check_entries(const ir::Op& op, std::string_view field, std::size_t entries, const Type& type) {
  if (entries != at(type.shape.rank()))
    throw ShapeError(cat(op.name, ": ", field, " has ", entries, " entries for ", ir::to_string(type)));
}
void check_shape(const ir::Op& op, const Dims& shape) {
  i64 count = 1;
  bool overflow = false;
  for (i64 size : shape) {
    if (size < 0) throw ShapeError(cat(op.name, ": shape ", shape, " has a negative size"));
    overflow = overflow || __builtin_mul_overflow(count, size == 0 ? 1 : size, &count);
  }
  if (overflow || count > (i64{1} << 58)) throw ShapeError(cat(op.name, ": shape ", shape, " has too many elements"));
}
Jvp jointly_linear_jvp(const Primitive& op, std::span<const Array> in, std::span<const Array> tangents,
                       const Params& params) {
  Arrays t;
  for (std::size_t i = 0; i < in.size(); ++i) t.push_back(instantiate(tangents[i], core::type_of(in[i])));
  return {core::bind(op, in, params), core::bind(op, t, params)};
}
Jvp linear_in_first_jvp(const Primitive& op, std::span<const Array> in, std::span<const Array> tangents,
                        const Params& params) {
  Jvp result{core::bind(op, in, params), {Array()}};
  if (is_zero(tangents[0])) return result;
  Arrays t(in.begin(), in.end());
  t[0] = tangents[0];
  result.tangent = core::bind(op, t, params);
  return result;
}
void require_known(const ir::Op& op, std::span<const Operand> operands, std::size_t operand) {
  if (operands[operand].linear()) not_linear(op, cat("operand ", operand));
}

Array split_dim(const Array& x, int dim, i64 parts) {
  Dims shape = x.shape();
  shape[dim] /= parts;
  shape.insert(dim, parts);
  return lax::reshape(x, shape);
}
Array merge_dims(const Array& x, int dim) {
  Dims shape = x.shape();
  shape[dim] *= shape[dim + 1];
  shape.erase(dim + 1);
  return lax::reshape(x, shape);
}

ShardRule same_shape_rule(std::size_t operands, std::size_t results, int rank, const std::vector<int>& special,
                          ShardRule::Kind kind) {
  Factors f;
  std::vector<int> factors;
  for (int i = 0; i < rank; ++i) factors.push_back(f.add(has_axis(special, i) ? kind : ShardRule::Kind::pass));
  f.rule.operands.assign(operands, factors);
  f.rule.results.assign(results, factors);
  return f.rule;
}
ShardRule moving_rule(std::span<const Type> in, const Type& out, const std::vector<int>& moved) {
  using Kind = ShardRule::Kind;
  Factors f;
  f.rule.operands.resize(in.size());
  f.rule.results.resize(1);
  for (int i = 0; i < out.shape.rank(); ++i) {
    bool resized = false;
    for (const Type& t : in) resized = resized || t.shape[i] != out.shape[i];
    const int shared = resized ? -1 : f.add(has_axis(moved, i) ? Kind::permute : Kind::pass);
    for (std::vector<int>& operand : f.rule.operands) operand.push_back(resized ? f.add(Kind::replicate) : shared);
    f.rule.results[0].push_back(resized ? f.add(Kind::replicate) : shared);
  }
  return f.rule;
}

}  // namespace uni::ops
