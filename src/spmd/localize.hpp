// From a global program with manual regions to the one program that every device runs.
#pragma once
#include "ir/program.hpp"
#include "runtime/client.hpp"

namespace uni::spmd {

// Calls must be inlined. Values outside regions are whole on every device; what regions take and give is sliced and
// gathered only where the placements differ. Throws ShardingError when the regions need different numbers of devices.
runtime::LocalProgram localize(const ir::Program& program);

}  // namespace uni::spmd
