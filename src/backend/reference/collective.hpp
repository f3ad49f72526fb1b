// Collectives: one equation on all devices at once.
#pragma once
#include "backend/reference/eval.hpp"

namespace uni::reference {

// values[device] are the operand and the result there.
struct CollectiveCall {
  const ir::Eqn& eqn;
  const Mesh& mesh;
  std::vector<Value> in, out;  // by device; `in` is empty for axis_index
};
void run_collective(const CollectiveCall& call);

}  // namespace uni::reference
