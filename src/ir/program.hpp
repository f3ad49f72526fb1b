// Program: typed SSA. Variables are numbers; the inputs are the first ones. A Program never holds array values: what a
// traced function captured is a trailing input.
#pragma once
#include <source_location>
#include <string>
#include <vector>

#include "ir/op.hpp"

namespace uni::ir {

using Var = int;

struct Eqn {
  const Op* op = nullptr;
  std::vector<Var> in, out;
  Params params;
  std::source_location where;
};

struct Program {
  std::vector<Type> types;  // by variable
  int inputs = 0;           // variables 0 .. inputs-1
  std::vector<Eqn> eqns;
  std::vector<Var> outputs;

  Types input_types() const { return Types(types.begin(), types.begin() + inputs); }
  Types output_types() const;
  Var add(Type type) {
    types.push_back(std::move(type));
    return static_cast<Var>(types.size()) - 1;
  }
};

// Effects of all equations, nested programs included.
Effect effects(const Program& program);

// The text form; parse(print(p), find) gives an equal program (without locations).
struct PrintOptions {
  bool locations = false;  // as comments behind equations
};
std::string print(const Program& program, const PrintOptions& options = {});
// Finds an operation by name, null when there is none.
using FindOp = const Op* (*)(std::string_view name);
// Throws Error with line and column for text that is no program.
Program parse(std::string_view text, FindOp find);

// Throws InternalError with the program's text when variables are used before they are defined, types differ from what
// the type rules give, or outputs are out of range.
void verify(const Program& program);

// Runs a pass: names it in errors, prints before and after when UNISONO_PRINT_PASSES names it, verifies the result.
Program run_pass(std::string_view name, Program (*pass)(const Program&), const Program& program);

// The passes of the simplifier.
Program remove_dead_code(const Program& program);
Program merge_common_subexpressions(const Program& program);
// Renumbers variables densely in order of definition.
Program compact(const Program& program);

// A stable 128-bit hash as 32 hex digits; the same for equal programs in every process.
std::string fingerprint(const Program& program);

}  // namespace uni::ir
