// call: a program as one operation (what jit leaves in a trace), and what all operations that hold programs share.
#pragma once
#include <string>

#include "ops/rules.hpp"

namespace uni::ops {

struct CallParams {
  ir::ProgramPtr body;
  std::string name;  // of the function, for people
};
extern const core::HigherOrder& call;

// Binds `op` whose body takes exactly these inputs, after making operands vary as much as the body's inputs do.
Arrays bind_body(const ir::Op& op, const ir::Program& body, Arrays in, Params params);
// Throws InternalError unless there is a body and the operands fit its inputs.
void check_body(std::string_view name, const ir::ProgramPtr& body, std::span<const Type> in);
// Throws InternalError unless there is a rule with these numbers of inputs and results.
void check_rule(std::string_view name, const ir::ProgramPtr& rule, std::size_t inputs, std::size_t outputs);

using Flags = std::vector<bool>;
bool any(const Flags& flags);
Flags part(const Flags& all, i64 begin, i64 count);
std::span<const Array> part(std::span<const Array> all, i64 begin, i64 count);
Flags joined(std::initializer_list<Flags> parts);
Arrays joined(std::initializer_list<std::span<const Array>> parts);

// Splits operands and puts results back in their places.
Arrays pick(std::span<const Array> all, const std::vector<bool>& which);
std::vector<bool> nonzero(std::span<const Array> tangents);
// Symbolic zeros where `active` is false.
Arrays spread(std::span<const Array> values, const std::vector<bool>& active);
// A batched value where `batched` says it is not.
Array force_batched(const Array& value, bool batched, i64 size);

// The program with these outputs only, without what then is dead.
ir::Program keep_outputs(const ir::Program& program, const std::vector<bool>& keep);
std::vector<bool> used_inputs(const ir::Program& program);
// The program without the other inputs, which must be unused.
ir::Program keep_inputs(const ir::Program& program, const std::vector<bool>& keep);
// The program without unused outputs, and without inputs that nobody uses then.
struct PrunedBody {
  ir::ProgramPtr program;
  std::vector<bool> inputs;
};
PrunedBody prune_body(const ir::Program& body, const std::vector<bool>& used_outputs);

}  // namespace uni::ops
