// Which values of a program differ between devices: a forward analysis, through control flow too.
#pragma once
#include <vector>

#include "ir/program.hpp"

namespace uni::native {

using Flags = std::vector<bool>;

// By variable. `inputs` are the flags of the program's inputs.
Flags varying_values(const ir::Program& program, const Flags& inputs, const Mesh& mesh);
// Of the results of one equation.
Flags varying_results(const ir::Eqn& e, const Flags& operands, const Mesh& mesh);
// Whether a collective with these parameters runs over all axes of the mesh.
bool covers_all(const ir::Params& params, const Mesh& mesh);
// For each program of a control-flow equation, the flags of its inputs: carries differ where any step makes them.
std::vector<Flags> nested_inputs(const ir::Eqn& e, const Flags& operands, const Mesh& mesh);

}  // namespace uni::native
