// Programs for the tests of this folder: traced from the public API, and their text.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace uni::testing_ir {

struct Named {
  std::string name;
  std::shared_ptr<const ir::Program> program;
};
// One of every operation that holds programs, nested in each other, and a derivative.
const std::vector<Named>& traced_programs();

// Throws Error for text that is no program.
ir::Program parse(const std::string& text);
// The text of a parsed program; equal to what was parsed when the text is canonical.
std::string reprinted(const std::string& text);
// What parsing says, empty when it succeeds.
std::string parse_error(const std::string& text);

}  // namespace uni::testing_ir
