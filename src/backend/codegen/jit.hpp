// Texts of kernels to loaded code.
#pragma once
#include <span>
#include <vector>

#include "backend/codegen/loop.hpp"

namespace uni::codegen {

// One function per text. Kernels are kept until the process ends, and equal ones are compiled once. Throws Error when
// the library with LLVM cannot be loaded, or refuses a kernel.
std::vector<KernelFn> compile(std::span<const KernelText> texts);
// Kernels compiled so far.
i64 compiled_count();

}  // namespace uni::codegen
