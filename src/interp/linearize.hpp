// Reverse mode's first half: primal values now, tangents as a linear Program.
#pragma once
#include "interp/stage.hpp"

namespace uni::interp {

// f at the primals, and its linear map: `program` takes the tangents of the active inputs, then the residuals, and
// gives the tangents of the active outputs.
struct LinearMap {
  Arrays out;
  ProgramPtr program;
  Arrays residuals;
  std::vector<bool> active;  // outputs with a nonzero tangent
};
LinearMap linearize(Fn f, std::span<const Array> primals, const std::vector<bool>& active_inputs);

// A program split in two: `primal` gives (outputs, residuals); `linear` takes (tangents of active inputs, residuals).
struct SplitProgram {
  ProgramPtr primal, linear;
  std::size_t residuals = 0;
  std::vector<bool> active;
};
SplitProgram linearize_program(const Program& program, const std::vector<bool>& active_inputs);

}  // namespace uni::interp
