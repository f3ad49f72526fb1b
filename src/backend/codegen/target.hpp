// The instruction set that kernels are compiled for.
#pragma once
#include <string>
#include <string_view>

namespace uni::codegen {

struct Target {
  std::string_view name;      // "avx2", "avx512"
  std::string_view cpu;       // as LLVM names it
  std::string_view features;  // beyond that processor's
  int vector_bits;
};
// The best one that this processor has, or the lower one that UNISONO_ISA names. Throws Error when the processor has
// none, or UNISONO_ISA names none or one that the processor lacks.
const Target& target();

}  // namespace uni::codegen
