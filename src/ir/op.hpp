// What the IR knows of an operation. Rules of transformations stand in core/primitive.hpp; identity is the address.
#pragma once
#include <span>
#include <string_view>

#include "ir/params.hpp"
#include "ir/type.hpp"

namespace uni::ir {

enum class Effect : std::uint8_t { none = 0, io = 1, error = 2 };
constexpr Effect operator|(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<int>(a) | static_cast<int>(b));
}

using TypeFn = Types (*)(std::span<const Type>, const Params&);
using ReadParamsFn = Params (*)(Reader&);

enum class OpKind : std::uint8_t { first_order, higher_order };

struct OpTraits {
  bool own_varying = false;  // the type rule sets `varying` itself (collectives); else the union of the operands'
  bool own_weak = false;     // the type rule sets `weak` itself; else weak when all operands of the result's dtype are
  Effect effect = Effect::none;
};

struct Op {
  std::string_view name;
  TypeFn type = nullptr;
  ReadParamsFn read = nullptr;
  OpTraits traits = {};
  OpKind kind = OpKind::first_order;

  constexpr Op(std::string_view n, TypeFn t, ReadParamsFn r, OpTraits tr, OpKind k)
      : name(n), type(t), read(r), traits(tr), kind(k) {}
  Op(const Op&) = delete;
};

// Output types: the op's rule, with `varying` and `weak` completed.
Types infer(const Op& op, std::span<const Type> operands, const Params& params);

}  // namespace uni::ir
