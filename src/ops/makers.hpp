// Standard makers of rows that work element by element, and the checks that their type rules share. `Op` is the row
// itself, declared in the family's header; functions come as template arguments because a slot is a plain function.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

using Cotangents = std::span<const Array>;
using Operands = std::span<const Operand>;

// Kinds of dtypes that an operation takes.
enum class Takes : std::uint8_t { boolean = 1, integer = 2, floating = 4, complex = 8, key = 16 };
constexpr Takes operator|(Takes a, Takes b) { return static_cast<Takes>(static_cast<int>(a) | static_cast<int>(b)); }
constexpr bool overlap(Takes a, Takes b) { return (static_cast<int>(a) & static_cast<int>(b)) != 0; }
namespace takes {
inline constexpr Takes reals = Takes::integer | Takes::floating;
inline constexpr Takes inexact = Takes::floating | Takes::complex;
inline constexpr Takes numbers = reals | Takes::complex;
inline constexpr Takes bits = Takes::boolean | Takes::integer;
inline constexpr Takes values = numbers | Takes::boolean;  // all but keys
inline constexpr Takes ordered = reals | Takes::boolean;
inline constexpr Takes anything = values | Takes::key;
}  // namespace takes

bool accepts(Takes takes, Dtype dtype);
void check_operand_count(const ir::Op& op, std::span<const Type> in, std::size_t count);
void check_dtype(const ir::Op& op, const Type& type, Takes takes);
void check_same_dtype(const ir::Op& op, std::span<const Type> in);
void check_same_shape(const ir::Op& op, std::span<const Type> in);
// The common type of `count` operands with equal dtypes and shapes.
Type common_type(const ir::Op& op, std::span<const Type> in, std::size_t count, Takes takes);
// For transposes: the row is linear, but not in these operands.
[[noreturn]] void not_linear(const ir::Op& op, std::string_view in_what);

// x, or 1 where it is 0.
Array one_for_zero(const Array& x);

Batch batch_pointwise(const Primitive& op, const BatchArgs& args, const Params& params);
// Every dimension of the first operand is a factor of all operands and of the result.
ShardRule shard_pointwise(std::span<const Type> in);

template <const Primitive& Op, Takes T, std::size_t Count, class P = NoParams>
Types same_type(std::span<const Type> in, const P&) {
  return {common_type(Op, in, Count, T)};
}
template <const Primitive& Op, class P = NoParams>
Batch pointwise_batch(const BatchArgs& args, const P& p) {
  return batch_pointwise(Op, args, Params(p));
}
template <class P = NoParams>
ShardRule pointwise_shard(std::span<const Type> in, const P&) {
  return shard_pointwise(in);
}
// Piecewise constant, or of a result that has no tangent.
template <const Primitive& Op, class P = NoParams>
Jvp zero_jvp(std::span<const Array> x, std::span<const Array>, const P& p) {
  return {core::bind(Op, x, Params(p)), {Array()}};
}
// Of a row that is linear in its only operand.
template <const Primitive& Op, class P = NoParams>
Jvp linear_jvp(std::span<const Array> x, std::span<const Array> t, const P& p) {
  return {core::bind(Op, x, Params(p)), is_zero(t[0]) ? Arrays(1) : core::bind(Op, t, Params(p))};
}

inline constexpr Absent not_linear_row = {"not linear"};
inline constexpr Absent no_tangents = {"bool, integers and keys have no tangent"};
inline constexpr Absent by_backends = {"computed directly by backends"};

// The slots in which rows of one maker differ.
template <class P = NoParams>
struct Slots {
  decltype(Rules<P>::transpose) transpose = not_linear_row;
  decltype(Rules<P>::expand) expand = by_backends;
};

// y = Op(x); Tangent(t, x, y) gives the tangent of y.
template <const Primitive& Op, Takes T, auto Tangent>
constexpr Rules<NoParams> unary(std::string_view name, Slots<> slots = {}) {
  return {.name = name,
          .type = same_type<Op, T, 1>,
          .jvp = [](std::span<const Array> x, std::span<const Array> t, const NoParams&) -> Jvp {
            const Array y = core::bind1(Op, {x[0]});
            return {{y}, {is_zero(t[0]) ? Array() : Tangent(t[0], x[0], y)}};
          },
          .transpose = slots.transpose,
          .batch = pointwise_batch<Op>,
          .shard = pointwise_shard<>,
          .expand = slots.expand};
}

// z = Op(x, y); Dx(t, x, y, z) and Dy(t, x, y, z) give what the tangent of x or y adds to the tangent of z.
template <const Primitive& Op, Takes T, auto Dx, auto Dy>
constexpr Rules<NoParams> binary(std::string_view name, Slots<> slots = {}) {
  return {.name = name,
          .type = same_type<Op, T, 2>,
          .jvp = [](std::span<const Array> x, std::span<const Array> t, const NoParams&) -> Jvp {
            const Array z = core::bind1(Op, {x[0], x[1]});
            return {{z},
                    {add_tangents(is_zero(t[0]) ? Array() : Dx(t[0], x[0], x[1], z),
                                  is_zero(t[1]) ? Array() : Dy(t[1], x[0], x[1], z))}};
          },
          .transpose = slots.transpose,
          .batch = pointwise_batch<Op>,
          .shard = pointwise_shard<>,
          .expand = slots.expand};
}

// Piecewise constant in all `Count` operands.
template <const Primitive& Op, Takes T, std::size_t Count>
constexpr Rules<NoParams> stepwise(std::string_view name) {
  return {.name = name,
          .type = same_type<Op, T, Count>,
          .jvp = zero_jvp<Op>,
          .transpose = not_linear_row,
          .batch = pointwise_batch<Op>,
          .shard = pointwise_shard<>,
          .expand = by_backends};
}

// Of bool and integers only.
template <const Primitive& Op, Takes T, std::size_t Count>
constexpr Rules<NoParams> bitwise(std::string_view name) {
  static_assert(!overlap(T, takes::inexact));
  Rules<NoParams> rules = stepwise<Op, T, Count>(name);
  rules.jvp = no_tangents;
  return rules;
}

}  // namespace uni::ops
