#include "backend/codegen/moves.hpp"

#include <algorithm>

#include "ops/structural.hpp"

namespace uni::codegen {

namespace {
using Index = std::vector<i64>;
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

i64 flat(const Index& index, const Dims& shape) {
  i64 sum = 0;
  for (int d = 0; d < shape.rank(); ++d) sum = sum * shape[d] + index[at(d)];
  return sum;
}

Origin concatenated(const ir::Eqn& e, const ir::Program& p, Index index) {
  i64& along = index[at(e.params.as<ops::Concatenate>().axis)];
  std::size_t operand = 0;
  for (;; ++operand) {
    const i64 size = p.types[at(e.in[operand])].shape[e.params.as<ops::Concatenate>().axis];
    if (along < size) break;
    along -= size;
  }
  return {operand, flat(index, p.types[at(e.in[operand])].shape)};
}

Origin padded(const ir::Eqn& e, const Dims& operand, Index index) {
  const auto& pad = e.params.as<ops::Pad>();
  for (int d = 0; d < operand.rank(); ++d) {
    const i64 step = pad.interior[d] + 1, from = index[at(d)] - pad.low[d];
    if (from < 0 || from % step != 0 || from / step >= operand[d]) return {1, 0};
    index[at(d)] = from / step;
  }
  return {0, flat(index, operand)};
}

// The operand's index for an index of the result, where there is one operand.
void to_operand(const ir::Eqn& e, const Dims& operand, const Index& index, Index& from) {
  if (e.op == &ops::slice) {
    const auto& s = e.params.as<ops::SliceParams>();
    for (int d = 0; d < operand.rank(); ++d) from[at(d)] = s.start[d] + index[at(d)] * s.stride[d];
  } else if (e.op == &ops::reverse) {
    from = index;
    for (const int d : e.params.as<ops::Reverse>().axes) from[at(d)] = operand[d] - 1 - index[at(d)];
  } else if (e.op == &ops::transpose) {
    const std::vector<int>& permutation = e.params.as<ops::Transpose>().permutation;
    for (std::size_t d = 0; d < permutation.size(); ++d) from[at(permutation[d])] = index[d];
  } else {
    const std::vector<int>& dims = e.params.as<ops::BroadcastInDim>().dims;
    for (int d = 0; d < operand.rank(); ++d) from[at(d)] = operand[d] == 1 ? 0 : index[at(dims[at(d)])];
  }
}
}  // namespace

bool is_move(const ir::Op* op) {
  const ir::Op* const known[] = {&ops::slice,       &ops::reverse, &ops::transpose, &ops::broadcast_in_dim,
                                 &ops::concatenate, &ops::pad};
  return std::find(std::begin(known), std::end(known), op) != std::end(known);
}

std::vector<Origin> moved_from(const ir::Eqn& e, const ir::Program& p) {
  const Dims &out = p.types[at(e.out[0])].shape, &operand = p.types[at(e.in[0])].shape;
  std::vector<Origin> origins;
  Index index(at(out.rank()), 0), from(at(operand.rank()), 0);
  for (i64 element = 0; element < out.count(); ++element) {
    if (e.op == &ops::concatenate) {
      origins.push_back(concatenated(e, p, index));
    } else if (e.op == &ops::pad) {
      origins.push_back(padded(e, operand, index));
    } else {
      to_operand(e, operand, index, from);
      origins.push_back({0, flat(from, operand)});
    }
    for (int d = out.rank() - 1; d >= 0 && ++index[at(d)] == out[d]; --d) index[at(d)] = 0;
  }
  return origins;
}

}  // namespace uni::codegen
