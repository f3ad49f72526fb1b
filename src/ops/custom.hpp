// custom_jvp and custom_vjp: a program with derivative rules that are programs too. What the rules captured are
// operands like all others, so nothing can go stale.
#pragma once
#include <string>

#include "ops/rules.hpp"

namespace uni::ops {

// Operands: args, then what the body captured, then what the rule captured.
struct CustomJvpParams {
  ir::ProgramPtr body;  // (args, captured) -> outputs
  ir::ProgramPtr rule;  // (args, tangents of inexact args, captured) -> (outputs, tangents of inexact outputs)
  i64 args = 0, body_captured = 0, rule_captured = 0;
  std::string name;
};
extern const core::HigherOrder& custom_jvp;

// Operands: args, then what body, forward and backward captured.
struct CustomVjpParams {
  ir::ProgramPtr body;      // (args, captured) -> outputs
  ir::ProgramPtr forward;   // (args, captured) -> (outputs, residuals)
  ir::ProgramPtr backward;  // (residuals, cotangents of inexact outputs, captured) -> cotangents of inexact args
  i64 args = 0, body_captured = 0, forward_captured = 0, backward_captured = 0;
  std::string name;
};
extern const core::HigherOrder& custom_vjp;

// The linear map whose transpose is `backward`. Operands: tangents of the active args, residuals, captured.
struct CustomLinearParams {
  ir::ProgramPtr backward;
  Types args;               // of the inexact args
  std::vector<int> active;  // which of them have a tangent operand
  Types outputs;            // of the inexact outputs
  i64 residuals = 0;
  std::string name;
};
extern const core::HigherOrder& custom_linear;

}  // namespace uni::ops
