// Each slot of each row is made wrong in turn, and the contract checks must notice. A mutant that changes nothing on
// any sample (the sign of a tangent that is zero) does not count, but every filled slot needs one that does.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "base/text.hpp"
#include "ops/list.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"

namespace uni::contract {

namespace {
using core::Primitive;
using core::ShardRule;
using core::Type;
using core::Types;

// The row that a mutant wraps, and whether the mutant has made a difference yet.
thread_local const Primitive* original = nullptr;
thread_local bool changed = false;

Array altered(const Array& a, Value (*f)(Value)) {
  Values values = read(a);
  const bool is_bool_array = is_bool(core::type_of(a).dtype);
  for (Value& v : values) {
    const Value next = is_bool_array ? Value(v == Value(0)) : f(v);
    changed = changed || next != v;
    v = next;
  }
  return make(core::type_of(a).dtype, core::type_of(a).shape, values);
}
Value negated(Value v) { return -v; }
Value scaled(Value v) { return v * 1.5L; }
Value shifted(Value v) { return v == Value(0) ? Value(1) : Value(0); }

void drop(Array& a) {
  if (!a.defined()) return;
  for (const Value& v : read(a)) changed = changed || v != Value(0);
  a = Array();
}
Array ones(const Type& type) {
  changed = changed || type.count() > 0;
  return make(type.dtype, type.shape, Values(static_cast<std::size_t>(type.count()), Value(1)));
}

using JvpFn = Primitive::JvpFn;
using TransposeFn = Primitive::TransposeFn;
using BatchFn = Primitive::BatchFn;
using ShardFn = Primitive::ShardFn;
using ExpandFn = Primitive::ExpandFn;

template <auto Edit>
constexpr JvpFn jvp_by = [](std::span<const Array> x, std::span<const Array> t, const core::Params& p) {
  core::Jvp r = original->jvp.fn(x, t, p);
  Edit(r);
  return r;
};
core::Jvp without_last_term(std::span<const Array> x, std::span<const Array> t, const core::Params& p) {
  core::Jvp whole = original->jvp.fn(x, t, p);
  Arrays less(t.begin(), t.end());
  std::size_t last = less.size(), active = 0;
  for (std::size_t i = 0; i < less.size(); ++i)
    if (less[i].defined()) {
      last = i;
      ++active;
    }
  if (active < 2) return whole;
  less[last] = Array();
  core::Jvp r = original->jvp.fn(x, less, p);
  for (std::size_t i = 0; i < r.tangent.size(); ++i) {
    if (!whole.tangent[i].defined()) continue;
    if (!r.tangent[i].defined()) r.tangent[i] = altered(whole.tangent[i], [](Value) { return Value(0); });
    changed = changed || difference(r.tangent[i], whole.tangent[i], 1e-6L).has_value();
  }
  return r;
}

template <auto Edit>
constexpr TransposeFn transpose_by =
    [](std::span<const Array> ct, std::span<const core::Operand> x, const core::Params& p) {
      Arrays r = original->transpose.fn(ct, x, p);
      Edit(r, x);
      return r;
    };
template <auto Edit>
constexpr BatchFn batch_by = [](const core::BatchArgs& args, const core::Params& p) {
  core::Batch r = original->batch.fn(args, p);
  Edit(r);
  return r;
};
template <auto Edit>
constexpr ShardFn shard_by = [](std::span<const Type> in, const core::Params& p) {
  ShardRule r = original->shard.fn(in, p);
  Edit(r);
  return r;
};
template <auto Edit>
constexpr ir::TypeFn type_by = [](std::span<const Type> in, const core::Params& p) {
  Types r = original->type(in, p);
  Edit(r);
  changed = true;
  return r;
};

using Operands = std::span<const core::Operand>;

void exchange(Arrays& r, Operands x) {
  for (std::size_t i = 0; i + 1 < r.size(); ++i) {
    const bool alike = x[i].type.dtype == x[i + 1].type.dtype && x[i].type.shape == x[i + 1].type.shape;
    if (!alike || (!r[i].defined() && !r[i + 1].defined())) continue;
    changed = changed || !r[i].defined() || !r[i + 1].defined() || difference(r[i], r[i + 1], 1e-6L);
    std::swap(r[i], r[i + 1]);
    return;
  }
}
void invent_cotangent(Arrays& r, Operands x) {
  for (std::size_t i = 0; i < r.size(); ++i)
    if (!x[i].linear()) r[i] = ones(x[i].type);
}

// Lane l of the result becomes lane f(l, lanes).
void relane(core::Batch& r, i64 (*f)(i64, i64)) {
  for (std::size_t i = 0; i < r.out.size(); ++i) {
    if (!r.batched[i]) continue;
    const Type& type = core::type_of(r.out[i]);
    const i64 lanes = type.shape[0], stride = lanes ? type.count() / lanes : 0;
    const Values from = read(r.out[i]);
    Values to = from;
    for (i64 l = 0; l < lanes; ++l) std::copy_n(from.begin() + f(l, lanes) * stride, stride, to.begin() + l * stride);
    changed = changed || difference(to, from, 0);
    r.out[i] = make(type.dtype, type.shape, to);
  }
}

bool stands_in(const std::vector<std::vector<int>>& factors, int f) {
  return std::any_of(factors.begin(), factors.end(),
                     [&](const auto& dims) { return std::find(dims.begin(), dims.end(), f) != dims.end(); });
}
// Factors that stand on no other side are only renamed.
void swap_factors(std::vector<std::vector<int>>& factors, const std::vector<std::vector<int>>& others) {
  for (auto& dims : factors) {
    if (dims.size() < 2) continue;
    changed = changed || stands_in(others, dims[0]) || stands_in(others, dims[1]);
    std::swap(dims[0], dims[1]);
    return;
  }
}
template <ShardRule::Kind From, ShardRule::Kind To>
void replace_kind(ShardRule& r) {
  for (ShardRule::Kind& k : r.kinds)
    if (k == From) {
      k = To;
      changed = true;
    }
}
void worst_fill(ShardRule& r) {
  using Fill = ShardRule::Fill;
  for (Fill& f : r.fill) {
    if (f == Fill::any || f == Fill::forbid) continue;
    f = f == Fill::highest ? Fill::lowest : f == Fill::lowest ? Fill::highest : Fill::any;
    changed = true;
  }
}

struct Mutation {
  const char* name;
  SlotKind slot;
  Primitive (*make)(const Primitive&);
};

template <JvpFn Fn>
Primitive with_jvp(const Primitive& p) {
  return Primitive(p.name, p.type, p.read, p.traits, {Fn, {}}, p.transpose, p.batch, p.shard, p.expand);
}
template <TransposeFn Fn>
Primitive with_transpose(const Primitive& p) {
  return Primitive(p.name, p.type, p.read, p.traits, p.jvp, {Fn, {}}, p.batch, p.shard, p.expand);
}
template <BatchFn Fn>
Primitive with_batch(const Primitive& p) {
  return Primitive(p.name, p.type, p.read, p.traits, p.jvp, p.transpose, {Fn, {}}, p.shard, p.expand);
}
template <ShardFn Fn>
Primitive with_shard(const Primitive& p) {
  return Primitive(p.name, p.type, p.read, p.traits, p.jvp, p.transpose, p.batch, {Fn, {}}, p.expand);
}
template <ExpandFn Fn>
Primitive with_expand(const Primitive& p) {
  return Primitive(p.name, p.type, p.read, p.traits, p.jvp, p.transpose, p.batch, p.shard, {Fn, {}});
}
template <ir::TypeFn Fn>
Primitive with_type(const Primitive& p) {
  return Primitive(p.name, Fn, p.read, p.traits, p.jvp, p.transpose, p.batch, p.shard, p.expand);
}

template <Value (*F)(Value)>
void alter_tangents(core::Jvp& r) {
  for (Array& t : r.tangent)
    if (t.defined()) t = altered(t, F);
}
template <Value (*F)(Value)>
void alter_cotangents(Arrays& r, Operands) {
  for (Array& t : r)
    if (t.defined()) t = altered(t, F);
}
void drop_tangents(core::Jvp& r) { std::for_each(r.tangent.begin(), r.tangent.end(), drop); }
void invent_tangents(core::Jvp& r) {
  for (std::size_t i = 0; i < r.tangent.size(); ++i)
    if (!r.tangent[i].defined()) r.tangent[i] = ones(core::type_of(r.out[i]));
}
void alter_primals(core::Jvp& r) {
  for (Array& y : r.out) y = altered(y, shifted);
}
void drop_cotangent(Arrays& r, Operands) {
  const auto first = std::find_if(r.begin(), r.end(), [](const Array& a) { return a.defined(); });
  if (first != r.end()) drop(*first);
}
void flip_flags(core::Batch& r) {
  r.batched.flip();
  changed = true;
}
void reverse_lanes(core::Batch& r) {
  relane(r, [](i64 l, i64 lanes) { return lanes - 1 - l; });
}
void repeat_lane(core::Batch& r) {
  relane(r, [](i64, i64) { return i64{0}; });
}
void grow(Types& r) {
  if (r[0].shape.empty())
    r[0].shape.push_back(1);
  else
    ++r[0].shape[-1];
}
void other_dtype(Types& r) { r[0].dtype = r[0].dtype == Dtype::f32 ? Dtype::f64 : Dtype::f32; }
void extra_result(Types& r) { r.push_back(r[0]); }
void swap_result_factors(ShardRule& r) { swap_factors(r.results, r.operands); }
void swap_operand_factors(ShardRule& r) { swap_factors(r.operands, r.results); }
void forget_localize(ShardRule& r) {
  changed = changed || r.localize != nullptr;
  r.localize = nullptr;
}
Arrays wrong_expansion(std::span<const Array> x, const core::Params& p) {
  Arrays r = original->expand.fn(x, p);
  for (Array& a : r) a = altered(a, shifted);
  return r;
}

using Kind = ShardRule::Kind;
constexpr Mutation mutations[] = {
    {"type: last dimension off by one", SlotKind::type, with_type<type_by<grow>>},
    {"type: other dtype", SlotKind::type, with_type<type_by<other_dtype>>},
    {"type: one more result", SlotKind::type, with_type<type_by<extra_result>>},
    {"jvp: sign", SlotKind::jvp, with_jvp<jvp_by<alter_tangents<negated>>>},
    {"jvp: scaled", SlotKind::jvp, with_jvp<jvp_by<alter_tangents<scaled>>>},
    {"jvp: dropped", SlotKind::jvp, with_jvp<jvp_by<drop_tangents>>},
    {"jvp: invented", SlotKind::jvp, with_jvp<jvp_by<invent_tangents>>},
    {"jvp: last term dropped", SlotKind::jvp, with_jvp<without_last_term>},
    {"jvp: wrong result", SlotKind::jvp, with_jvp<jvp_by<alter_primals>>},
    {"transpose: sign", SlotKind::transpose, with_transpose<transpose_by<alter_cotangents<negated>>>},
    {"transpose: scaled", SlotKind::transpose, with_transpose<transpose_by<alter_cotangents<scaled>>>},
    {"transpose: dropped", SlotKind::transpose, with_transpose<transpose_by<drop_cotangent>>},
    {"transpose: exchanged", SlotKind::transpose, with_transpose<transpose_by<exchange>>},
    {"transpose: invented", SlotKind::transpose, with_transpose<transpose_by<invent_cotangent>>},
    {"batch: flags", SlotKind::batch, with_batch<batch_by<flip_flags>>},
    {"batch: lanes reversed", SlotKind::batch, with_batch<batch_by<reverse_lanes>>},
    {"batch: first lane repeated", SlotKind::batch, with_batch<batch_by<repeat_lane>>},
    {"shard: factors of a result exchanged", SlotKind::shard, with_shard<shard_by<swap_result_factors>>},
    {"shard: factors of an operand exchanged", SlotKind::shard, with_shard<shard_by<swap_operand_factors>>},
    {"shard: pass becomes reduce", SlotKind::shard, with_shard<shard_by<replace_kind<Kind::pass, Kind::reduce>>>},
    {"shard: reduce becomes pass", SlotKind::shard, with_shard<shard_by<replace_kind<Kind::reduce, Kind::pass>>>},
    {"shard: replicate becomes pass", SlotKind::shard, with_shard<shard_by<replace_kind<Kind::replicate, Kind::pass>>>},
    {"shard: fill", SlotKind::shard, with_shard<shard_by<worst_fill>>},
    {"shard: localize forgotten", SlotKind::shard, with_shard<shard_by<forget_localize>>},
    {"expand: wrong result", SlotKind::expand, with_expand<wrong_expansion>},
};

struct Outcome {
  bool applicable = false, killed = false;
};
Outcome run(const Mutation& m, const Primitive& row) {
  original = &row;
  const Primitive mutant = m.make(row);
  Outcome o;
  for (const Sample* s : samples_of(row)) {
    changed = false;
    const bool noticed = check(m.slot, mutant, *s).has_value();
    o.applicable = o.applicable || changed;
    if (noticed && changed) {
      o.killed = true;
      break;
    }
  }
  return o;
}

TEST(Mutation, EveryWrongSlotIsNoticed) {
  int applied = 0, killed = 0;
  for (const Primitive* row : ops::all_rows()) {
    if (samples_of(*row).empty()) continue;
    std::map<SlotKind, int> by_slot;
    for (const Mutation& m : mutations) {
      if (!filled(*row, m.slot)) continue;
      const Outcome o = run(m, *row);
      if (!o.applicable) continue;
      ++applied;
      ++by_slot[m.slot];
      killed += o.killed;
      EXPECT_TRUE(o.killed) << row->name << ": " << m.name << " was not noticed";
    }
    for (const SlotKind slot : slot_kinds) {
      if (!filled(*row, slot)) continue;
      EXPECT_GT(by_slot[slot], 0) << row->name << ": no mutant changes its slot " << name(slot);
    }
  }
  ASSERT_GT(applied, 0);
  const double score = 100.0 * killed / applied;
  std::cout << "mutation score: " << score << " % (" << killed << " of " << applied << " mutants noticed)\n";
  RecordProperty("mutation_score", base::cat(score));
  EXPECT_EQ(killed, applied);
}
}  // namespace

}  // namespace uni::contract
