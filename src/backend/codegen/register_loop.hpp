// Loops over few elements, as one function: the values of a step stay in registers.
#pragma once
#include <functional>

#include "backend/codegen/loop.hpp"
#include "ops/control.hpp"

namespace uni::codegen {

// How an operation is called that has no emitter; without a function when there is no way.
using FindCall = std::function<Call(const ir::Eqn&, const ir::Program&)>;

inline constexpr std::size_t most_loop_arguments = 64;

// Whether all of a while_loop or scan can be such a function: element-wise operations, constants, broadcasts of one
// element and reductions to one, on arrays of few elements, and branches and loops of these inside.
bool fits_registers(const ir::Eqn& loop, const ir::Program& around, const FindCall& find);

// The function's arguments: the operands, then the results. Rows [0, row_end) are the steps of a scan. `once`: results
// that are the same on all devices; only chunk 0 writes them.
KernelText emit_registers(const ir::Eqn& loop, const std::vector<bool>& once, const FindCall& find);

}  // namespace uni::codegen
