// Running programs on a client.
#pragma once
#include "case.hpp"

namespace uni::random_programs {

struct Execution {
  std::vector<Value> results;  // by output
  bool kept = true;            // arguments that were not donated hold what they held
};
Execution execute(runtime::Executable& executable, const runtime::LocalProgram& program, const Case& c, bool donate);

// The results of one equation on all devices, by the reference backend.
std::vector<Value> step(const Mesh& mesh, const ir::Eqn& eqn, const ir::Program& program,
                        const std::vector<const Value*>& in);

// The blocks of an input as the program takes it: each device's own, or all of them on every device.
Value placed(const Case& c, std::size_t input, const ir::Type& local);

}  // namespace uni::random_programs
