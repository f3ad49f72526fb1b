// Forward mode: values with tangents.
#pragma once
#include "interp/stage.hpp"

namespace uni::interp {

// Outputs and tangents of f at the primals. Symbolic zeros (empty Arrays) are allowed on both sides.
core::Jvp jvp(Fn f, std::span<const Array> primals, std::span<const Array> tangents);

// The program of (primals, nonzero tangents) -> (outputs, nonzero output tangents).
struct JvpProgram {
  ProgramPtr program;
  std::vector<bool> active;  // outputs with a tangent
};
JvpProgram jvp_program(const Program& program, const std::vector<bool>& active_inputs);

}  // namespace uni::interp
