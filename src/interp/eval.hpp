// The bottom trace: evaluates operations on concrete arrays with the default client.
#pragma once
#include "core/trace.hpp"

namespace uni::interp {

// Compiles (through the process-wide cache) and runs a program on concrete arguments. Defined in spmd/launch.cpp, which
// knows how manual regions become per-device programs.
Arrays launch(const ir::Program& program, std::span<const Array> args);

}  // namespace uni::interp
