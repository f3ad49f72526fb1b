// Every operation there is, rows and higher-order ones: for the parser, the coverage table and the tests.
#pragma once
#include "ops/rules.hpp"

namespace uni::ops {

std::vector<const Primitive*> all_rows();
std::vector<const core::HigherOrder*> all_higher_order();
const ir::Op* find_op(std::string_view name);

}  // namespace uni::ops
