// What the flat functions of control flow share: leaves, carries that must stay what they are, captured values.
#pragma once
#include <string>
#include <vector>

#include "interp/stage.hpp"
#include <unisono/control.hpp>

namespace uni::api {

struct TreeLeaves {
  Arrays values;
  std::vector<std::string> paths;
};
TreeLeaves tree_leaves_of(const detail::TreeRef& tree, std::string_view root);

// A scalar of dtype bool.
void check_predicate(std::string_view who, const ir::Type& type);

// A loop body, staged until the carry keeps its types: a weak start takes the dtype that the body gives it, a weak
// result the carry's. Throws ShapeError, DtypeError or TreeError by path for a carry that changes.
struct LoopBody {
  ir::ProgramPtr program;  // (captured, inputs...) -> results, the carry's first
  Arrays captured;
  Arrays carry;  // the start, converted
};
struct LoopShape {
  std::string_view who;
  const detail::LoopStart& init;
  ir::Types before, after;  // inputs in front of the carry (a counter) and behind it (slices of xs)
};
LoopBody stage_body(const LoopShape& shape, const detail::Traced& body);
// Calls a function of the user, whose operations have lines of their own.
Arrays call_user(detail::FlatFunction f, std::span<const Array> in);
// The program with captured inputs in front.
ir::ProgramPtr captured_first(const interp::Staged& staged, std::size_t inputs);

}  // namespace uni::api
