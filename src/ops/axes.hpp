// Axes, sizes and factor tables, as rows that move or contract dimensions need them.
#pragma once
#include "ops/makers.hpp"

namespace uni::ops {

inline std::size_t at(int i) { return static_cast<std::size_t>(i); }
inline bool has_axis(const std::vector<int>& axes, int axis) {
  for (int a : axes)
    if (a == axis) return true;
  return false;
}
std::vector<int> axis_range(int first, int count);  // first, first + 1, ...
std::vector<int> shifted(std::vector<int> axes, int by = 1);
std::vector<int> inverse_permutation(const std::vector<int>& permutation);
// The axes of a rank that are in none of the lists, in order.
std::vector<int> other_axes(int rank, const std::vector<int>& a, const std::vector<int>& b = {});
Dims sizes_at(const Dims& shape, const std::vector<int>& axes);
Dims prepended(i64 size, Dims dims);
Dims joined(Dims a, const Dims& b);
Dims repeated(i64 value, int count);
// Sizes of dimensions that are spread or padded; they saturate at huge_size, which check_shape refuses.
inline constexpr i64 huge_size = i64{1} << 59;
i64 dilated_size(i64 size, i64 dilation);  // size elements with dilation - 1 gaps between them
i64 padded_size(i64 size, i64 low, i64 high);

// Checks of type rules, beside those of makers.hpp.
void check_axis(const ir::Op& op, int axis, const Type& type);
void check_axes(const ir::Op& op, const std::vector<int>& axes, const Type& type);  // in range and distinct
// A parameter with one entry per axis.
void check_entries(const ir::Op& op, std::string_view field, std::size_t entries, const Type& type);
// Sizes are not negative and the number of bytes can be counted.
void check_shape(const ir::Op& op, const Dims& shape);

// The derivative of an operation that is linear in all operands together.
Jvp jointly_linear_jvp(const Primitive& op, std::span<const Array> in, std::span<const Array> tangents,
                       const Params& params);
// The derivative of an operation that is linear in its first operand and piecewise constant in the others.
Jvp linear_in_first_jvp(const Primitive& op, std::span<const Array> in, std::span<const Array> tangents,
                        const Params& params);
// Throws for an operand that is linear where only a known value can be.
void require_known(const ir::Op& op, std::span<const Operand> operands, std::size_t operand);

// Splits dimension `dim` into (parts, rest).
Array split_dim(const Array& x, int dim, i64 parts);
// Merges dimensions dim and dim + 1.
Array merge_dims(const Array& x, int dim);

// Factors of a ShardRule, numbered as they are made.
class Factors {
 public:
  using Kind = ShardRule::Kind;
  int add(Kind kind = Kind::pass) {
    rule.kinds.push_back(kind);
    return static_cast<int>(rule.kinds.size()) - 1;
  }
  std::vector<int> add(int count, Kind kind) {
    std::vector<int> factors;
    for (int i = 0; i < count; ++i) factors.push_back(add(kind));
    return factors;
  }
  ShardRule rule;
};
// Operands and results of one shape each other: every dimension passes, except the named ones.
ShardRule same_shape_rule(std::size_t operands, std::size_t results, int rank, const std::vector<int>& special = {},
                          ShardRule::Kind kind = ShardRule::Kind::replicate);
// Operands and results of one rank. Along `moved` elements change places: such an axis is permuted where it has one
// size everywhere, else replicated.
ShardRule moving_rule(std::span<const Type> in, const Type& out, const std::vector<int>& moved);

}  // namespace uni::ops
