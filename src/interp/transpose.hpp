// Reverse mode's second half: a linear Program run backwards.
#pragma once
#include "interp/stage.hpp"

namespace uni::interp {

// Cotangents of the linear inputs (one per input; empty for known inputs and for symbolic zeros).
Arrays transpose(const Program& program, std::span<const core::Operand> inputs, std::span<const Array> cotangents);

// The transposed program: takes the cotangents of the outputs marked in `active`, then the known inputs; gives the
// cotangents of the linear inputs with `nonzero` set.
struct TransposedProgram {
  ProgramPtr program;
  std::vector<bool> nonzero;  // by input of the original program
};
TransposedProgram transpose_program(const Program& program, const std::vector<bool>& linear_inputs,
                                    const std::vector<bool>& active_outputs);

}  // namespace uni::interp
