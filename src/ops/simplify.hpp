// Passes that know operations.
#pragma once
#include "ir/program.hpp"

namespace uni::ops {

// Replaces every operation that only holds a program (call, custom rules) by its body, inside manual regions too.
ir::Program inline_calls(const ir::Program& program);
// Drops outputs of nested programs that nobody uses, and what then is dead.
ir::Program prune_nested(const ir::Program& program);
// inline_calls, then dead code and common subexpressions.
ir::Program simplify(const ir::Program& program);

}  // namespace uni::ops
