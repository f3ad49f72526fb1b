// What rounding may change in a program's results. Backends agree up to the rounding of each operation, which later
// operations may magnify without bound (a difference of nearly equal numbers, a comparison, a sort). So the program is
// run several times on the reference backend with the result of every operation that rounds moved at random by a few
// units of rounding: how far the final results move says how far a backend may be off. Where nothing moves, results
// must be equal to the bit.
#pragma once
#include "case.hpp"

namespace uni::random_programs {

// Runs the program equation by equation, disturbed by what is drawn from `random`.
std::vector<Value> disturbed_run(const runtime::LocalProgram& program, const Case& c, Random random);
// The same without disturbance: every variable's value.
std::vector<Value> all_values(const ir::Program& program, const Mesh& mesh, std::vector<Value> inputs);

}  // namespace uni::random_programs
