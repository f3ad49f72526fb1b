// What every row promises, checked by evaluation. A check takes the row whose slot is under test, which may be a
// mutated copy, and a sample; values are always computed with the sample's own row, because backends know operations by
// address.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/primitive.hpp"

namespace uni::contract {

struct OperandSpec {
  Dtype dtype = Dtype::f64;
  Dims shape;
  double low = -2, high = 2;        // values are drawn from [low, high), those of integers rounded down; keys from all
  std::vector<double> values = {};  // when given: element i of lane l is values[(i + l) % values.size()]
  double diagonal = 0;              // added to the diagonals of the last two axes
};

struct Sample {
  const core::Primitive* row = nullptr;
  std::vector<OperandSpec> operands = {};
  core::Params params = {};
  // The sets of operands in which the row is linear while the others are known; none given: all inexact ones together.
  std::vector<std::vector<std::size_t>> linear = {};
  bool stopped = false;    // its derivative is zero by definition, whatever calculus says
  std::uint64_t seed = 1;  // of the drawn values
};
std::string describe(const Sample& sample);

enum class SlotKind : std::uint8_t { type, jvp, transpose, batch, shard, expand };
inline constexpr SlotKind slot_kinds[] = {SlotKind::type,  SlotKind::jvp,   SlotKind::transpose,
                                          SlotKind::batch, SlotKind::shard, SlotKind::expand};
const char* name(SlotKind slot);
bool filled(const core::Primitive& row, SlotKind slot);

// What is wrong, or nothing. An empty slot is right.
using Finding = std::optional<std::string>;
// The type rule gives the dtypes and shapes that evaluation gives, and survives a wrong number of operands.
Finding check_type(const core::Primitive& row, const Sample& sample);
// Tangents agree with finite differences (operands of 64-bit parts), have the outputs' types, and integers have none.
Finding check_jvp(const core::Primitive& row, const Sample& sample);
// <ct, J t> = <J^T ct, t> with <a, b> = Re(sum a b); known operands get no cotangent.
Finding check_transpose(const core::Primitive& row, const Sample& sample);
// A batch gives what a loop over its lanes gives: each operand batched alone, and all; 3, 1 and 0 lanes.
Finding check_batch(const core::Primitive& row, const Sample& sample);
// Equal factors have equal sizes; halves of a split dimension give halves of the result (pass) or results that combine
// (reduce); what `fill` says may stand in the padding does not disturb the valid part.
Finding check_shard(const core::Primitive& row, const Sample& sample);
// The composite gives what the row gives.
Finding check_expand(const core::Primitive& row, const Sample& sample);
// The rule can be differentiated again, and its second derivative agrees with finite differences of the first.
Finding check_second_derivative(const Sample& sample);
// Linearized and transposed by the engines, the row gives a vjp that agrees with its jvp.
Finding check_reverse_mode(const Sample& sample);
Finding check(SlotKind slot, const core::Primitive& row, const Sample& sample);

// Families of samples announce themselves: static const SampleFamily family(function);
struct SampleFamily {
  explicit SampleFamily(std::vector<Sample> (*make)());
};
const std::vector<Sample>& all_samples();
std::vector<const Sample*> samples_of(const core::Primitive& row);

}  // namespace uni::contract
