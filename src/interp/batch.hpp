// vmap: values with a hidden leading batch dimension.
#pragma once
#include <string>

#include "interp/stage.hpp"

namespace uni::interp {

struct BatchInfo {
  i64 size = 0;
  std::string axis_name;  // empty: unnamed
};
struct Batched {
  Arrays out;
  std::vector<bool> batched;
};
// f on operands whose batched ones carry the batch dimension as axis 0.
Batched batch(Fn f, std::span<const Array> in, const std::vector<bool>& batched, const BatchInfo& info);

struct BatchedProgram {
  ProgramPtr program;
  std::vector<bool> batched;  // outputs
};
BatchedProgram batch_program(const Program& program, const std::vector<bool>& batched, const BatchInfo& info);

// A type with the batch dimension in front.
Type with_batch_dimension(Type type, i64 size);

}  // namespace uni::interp
