// The executor: every step for all virtual devices, as chunks on the pool, before the next one. Devices are no threads,
// so nothing can wait for anything that has not started.
#pragma once
#include <memory>
#include <vector>

#include "backend/native/plan.hpp"

namespace uni::native {

struct Context;
// What a step of control flow keeps: a context for each of its programs, and blocks for values between steps.
struct ControlState {
  std::vector<std::unique_ptr<Context>> bodies;
  std::vector<runtime::Handle<runtime::Storage>> blocks;
};

// What one execution needs besides its arguments and results. Kept between executions, so that running allocates
// nothing but results; several executions may run at once, each with its own.
struct Context {
  runtime::Handle<runtime::Storage> arena;
  std::vector<std::byte*> data;                            // by root value
  std::vector<runtime::Handle<runtime::Storage>> staged;   // blocks of arguments that lay scattered
  std::vector<runtime::Handle<runtime::Storage>> results;  // by result root
  std::vector<std::uint8_t> taken;                         // arguments whose storage a result took
  std::vector<ControlState> nested;                        // by step of control flow
};
std::unique_ptr<Context> make_context(const Plan& plan);
// Inputs and results must have their places in `context.data`.
void run_steps(const Plan& plan, Context& context);

inline std::byte* place(const Context& c, const Slot& slot, i64 device) {
  return c.data[static_cast<std::size_t>(slot.root)] + device * slot.stride;
}

}  // namespace uni::native
