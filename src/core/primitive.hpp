// A first-order primitive is a row of rules; a higher-order one an interface. Engines (interp/) call these and know no
// operation.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/trace.hpp"

namespace uni::core {

// An empty Array is the symbolic zero of tangents and cotangents.
inline bool is_zero(const Array& a) { return !a.defined(); }

struct Jvp {
  Arrays out;
  Arrays tangent;  // symbolic zeros allowed
};

// An operand of an equation that is being transposed: a known value, or linear (only its type is known).
struct Operand {
  Array value;  // empty when linear
  Type type;
  bool linear() const { return !value.defined(); }
};

// Operands of a batched call. Batched operands carry the batch dimension as axis 0.
struct BatchArgs {
  std::span<const Array> in;
  std::vector<bool> batched;
  i64 size = 0;
  std::string axis_name;  // of the vmap, empty when it has none
};
struct Batch {
  Arrays out;
  std::vector<bool> batched;  // outputs that carry the batch dimension as axis 0
};

// How dimensions of operands and results relate, for propagation and partitioning: equal numbers are one factor.
struct ShardRule {
  enum class Kind : std::uint8_t { pass, reduce, replicate, permute };
  std::vector<std::vector<int>> operands, results;  // factor of each dimension
  std::vector<Kind> kinds;                          // by factor
  // What the padding of unevenly split operand dimensions must hold.
  enum class Fill : std::uint8_t { any, zero, one, lowest, highest, forbid };
  std::vector<Fill> fill;  // by operand; empty: any
  // Parameters for local sizes; null when parameters hold no sizes.
  Params (*localize)(const Params&, std::span<const Type> local_in, std::span<const Type> local_out) = nullptr;
};

struct Primitive : ir::Op {
  using JvpFn = Jvp (*)(std::span<const Array>, std::span<const Array>, const Params&);
  using TransposeFn = Arrays (*)(std::span<const Array>, std::span<const Operand>, const Params&);
  using BatchFn = Batch (*)(const BatchArgs&, const Params&);
  using ShardFn = ShardRule (*)(std::span<const Type>, const Params&);
  using ExpandFn = Arrays (*)(std::span<const Array>, const Params&);
  template <class Fn>
  struct Entry {
    Fn fn = nullptr;
    std::string_view why;  // why there is none
  };
  Entry<JvpFn> jvp;
  Entry<TransposeFn> transpose;
  Entry<BatchFn> batch;
  Entry<ShardFn> shard;
  Entry<ExpandFn> expand;

  constexpr Primitive(std::string_view n, ir::TypeFn t, ir::ReadParamsFn r, ir::OpTraits tr, Entry<JvpFn> j,
                      Entry<TransposeFn> tp, Entry<BatchFn> b, Entry<ShardFn> s, Entry<ExpandFn> e)
      : Op(n, t, r, tr, ir::OpKind::first_order), jvp(j), transpose(tp), batch(b), shard(s), expand(e) {}
};

// The tangent side of a linearized higher-order equation: bind(op, nonzero tangents then residuals) gives the tangents
// of the outputs with `active` set.
struct Linearized {
  Arrays out;
  const Op* op = nullptr;
  Params params;
  Arrays residuals;
  std::vector<bool> active;
};

struct HigherOrder : ir::Op {
  constexpr HigherOrder(std::string_view n, ir::TypeFn t, ir::ReadParamsFn r, ir::OpTraits tr = {})
      : Op(n, t, r, tr, ir::OpKind::higher_order) {}
  constexpr virtual ~HigherOrder() = default;
  virtual Jvp jvp(std::span<const Array> in, std::span<const Array> tangents, const Params& params) const = 0;
  // True when `jvp` is also the way to linearize (its rule is then split into known and linear operations).
  virtual bool linearize_by_jvp() const { return false; }
  // Runs under the trace that computes primal values. active[i]: operand i has a nonzero tangent.
  virtual Linearized linearize(std::span<const Array> in, const std::vector<bool>& active,
                               const Params& params) const = 0;
  virtual Arrays transpose(std::span<const Array> cotangents, std::span<const Operand> operands,
                           const Params& params) const = 0;
  virtual Batch batch(const BatchArgs& args, const Params& params) const = 0;
  // The same computation spelled out with the operations of the nested program, bound under the current trace; only
  // where inlinable() (a manual region is not).
  virtual bool inlinable() const { return true; }
  virtual Arrays inline_body(std::span<const Array> in, const Params& params) const = 0;
  // Parameters without the outputs that nobody uses, and without the inputs that then are unused.
  struct Pruned {
    Params params;
    std::vector<bool> inputs, outputs;  // kept
  };
  virtual Pruned prune(const Params& params, const std::vector<bool>& used_outputs, std::size_t inputs) const = 0;
};

// Which of the two an operation is; rows and higher-order operations are told apart once, by kind.
const Primitive* as_primitive(const Op& op);
const HigherOrder* as_higher_order(const Op& op);

// What engines need of operations without knowing any. Defined in ops/rules.cpp.
Array zeros_of(const Type& type);
Array add_tangents(const Array& a, const Array& b);  // either may be a symbolic zero

// Output types at the current location: errors of the type rule get the user's line.
Types infer_here(const Op& op, std::span<const Array> in, const Params& params);

}  // namespace uni::core
