// Typed rows: Rules<P> holds the six slots of a primitive with parameters P; primitive<rules>() erases it. A slot is
// filled or none("reason"); a forgotten one does not compile.
#pragma once
#include <concepts>

#include "core/primitive.hpp"

namespace uni::ops {

using core::Batch;
using core::BatchArgs;
using core::is_zero;
using core::Jvp;
using core::Operand;
using core::Primitive;
using core::ShardRule;
using ir::AxisNames;
using ir::NoParams;
using ir::Params;
using ir::Scalar;
using ir::Type;
using ir::Types;

struct Absent {
  std::string_view why;
};
consteval Absent none(const char* why) { return {why}; }

template <class Fn>
struct Slot {
  Fn fn = nullptr;
  std::string_view why = "";
  constexpr Slot() = default;
  template <std::convertible_to<Fn> G>
  constexpr Slot(G g) : fn(g) {}
  constexpr Slot(Absent a) : why(a.why) {}
  constexpr bool declared() const { return fn != nullptr || !why.empty(); }
};

template <class P>
struct Rules {
  using ParamType = P;
  std::string_view name;
  Slot<Types (*)(std::span<const Type>, const P&)> type;
  Slot<Jvp (*)(std::span<const Array>, std::span<const Array>, const P&)> jvp;
  Slot<Arrays (*)(std::span<const Array>, std::span<const Operand>, const P&)> transpose;
  Slot<Batch (*)(const BatchArgs&, const P&)> batch;
  Slot<ShardRule (*)(std::span<const Type>, const P&)> shard;
  Slot<Arrays (*)(std::span<const Array>, const P&)> expand;
  ir::OpTraits traits = {};
};

template <auto Member, const auto& R, class Ret, class... A>
constexpr auto thunk() {
  using P = typename std::remove_cvref_t<decltype(R)>::ParamType;
  using Fn = Ret (*)(A..., const Params&);
  static_assert((R.*Member).declared(), "a slot of this row is neither filled nor none(\"reason\")");
  if constexpr ((R.*Member).fn != nullptr)
    return Primitive::Entry<Fn>{[](A... a, const Params& p) -> Ret { return (R.*Member).fn(a..., p.template as<P>()); },
                                {}};
  else
    return Primitive::Entry<Fn>{nullptr, (R.*Member).why};
}

template <const auto& R>
constexpr Primitive primitive() {
  using RT = std::remove_cvref_t<decltype(R)>;
  using P = typename RT::ParamType;
  static_assert(R.type.fn != nullptr, "every row has a type rule");
  return Primitive(R.name, thunk<&RT::type, R, Types, std::span<const Type>>().fn, &ir::read_params<P>, R.traits,
                   thunk<&RT::jvp, R, Jvp, std::span<const Array>, std::span<const Array>>(),
                   thunk<&RT::transpose, R, Arrays, std::span<const Array>, std::span<const Operand>>(),
                   thunk<&RT::batch, R, Batch, const BatchArgs&>(),
                   thunk<&RT::shard, R, ShardRule, std::span<const Type>>(),
                   thunk<&RT::expand, R, Arrays, std::span<const Array>>());
}

// Helpers that rows share.
using core::add_tangents;
using core::zeros_of;
Array instantiate(const Array& t, const Type& type);  // zeros_of for a symbolic zero
// Unbatched operands get the batch dimension by broadcasting; batched ones are returned as they are.
Array with_batch(const BatchArgs& args, std::size_t operand);
// All outputs batched.
Batch all_batched(Arrays out);

}  // namespace uni::ops
