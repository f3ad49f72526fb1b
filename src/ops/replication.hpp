// Which values are equal on all devices of a region: a forward analysis by value, for regions whose types do not say
// it.
#pragma once
#include <vector>

#include "ir/program.hpp"

namespace uni::ops {

// For each output, whether it may differ between devices along `axes`. varying[i] says it of input i.
std::vector<bool> varying_outputs(const ir::Program& program, const std::vector<bool>& varying,
                                  const ir::AxisNames& axes);

}  // namespace uni::ops
