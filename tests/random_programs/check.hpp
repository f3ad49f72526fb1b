// What must hold of every program.
#pragma once
#include <optional>

#include "case.hpp"

namespace uni::random_programs {

struct Tally {
  double outputs = 0;
  double open = 0;  // the parts of them where rounding decides everything
};
// What is wrong with the program's text, its simplification or its results, or nothing.
std::optional<std::string> finding(const Case& c, Tally* tally = nullptr);
// A smaller program with a finding.
Case shrunk(const Case& c);
std::string describe(const Case& c);

}  // namespace uni::random_programs
