// Control flow: the plans of its programs, run again and again on the blocks of the plan around them.
#pragma once
#include "backend/native/execute.hpp"
#include "ops/control.hpp"

namespace uni::native {

struct Control {
  Control(const ir::Eqn& e, const Mesh& mesh, std::deque<Plan> plans, int number);

  enum class Kind : std::uint8_t { cond, loop, scan } kind;
  std::deque<Plan> bodies;  // branches; condition and body; body
  int number;               // among the steps of control flow of the plan around it
  i64 cond_consts = 0, consts = 0, carry = 0, length = 0;
  bool reverse = false;
  ops::Agreement agreement;

  // How a result of a body comes to its place: written there by the body itself, or copied from where it is.
  struct Result {
    int root = -1;
    bool own = false;        // its storage is this result's alone
    bool varying = false;    // as the body makes it
    i64 bytes = 0;           // on one device
    bool in_place = false;   // may lie over the input of the same carry
    bool passed_on = false;  // is the input of the same carry
  };
  std::vector<std::vector<Result>> results;  // by body
};

// Blocks for carries and gathered slices.
ControlState make_control_state(const Plan& plan, const Control& control);
void run_control(const Plan& plan, Context& context, const Step& step);

}  // namespace uni::native
