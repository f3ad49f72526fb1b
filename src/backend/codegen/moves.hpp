// Operations that only move elements, one by one.
#pragma once
#include <vector>

#include "ir/program.hpp"

namespace uni::codegen {

struct Origin {
  std::size_t operand = 0;
  i64 element = 0;
};
// Slices, concatenations, reversals, transpositions, broadcasts, padding.
bool is_move(const ir::Op* op);
// Where each element of such an operation's result comes from.
std::vector<Origin> moved_from(const ir::Eqn& e, const ir::Program& program);

}  // namespace uni::codegen
