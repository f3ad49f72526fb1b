// Control flow: operations that run their programs by a value, or again and again. What a traced branch or body
// captured is an operand in front of what it takes.
#pragma once
#include "interp/stage.hpp"
#include "ops/call.hpp"

namespace uni::ops {

// (index, operands...) -> the results of branches[index], clamped. index: i32[]. All branches take all operands.
struct CondParams {
  std::vector<ir::ProgramPtr> branches;
};
// (constants of cond, constants of body, carry...) -> carry, while cond(constants, carry) holds.
struct WhileParams {
  ir::ProgramPtr cond, body;
  i64 cond_consts = 0, body_consts = 0;
};
// (constants, carry, xs) -> (carry, ys): body(constants, carry, x) -> (carry, y) for each x along axis 0 of xs.
struct ScanParams {
  ir::ProgramPtr body;
  i64 consts = 0, carry = 0, length = 0;
  bool reverse = false;
};
extern const core::HigherOrder& cond;
extern const core::HigherOrder& while_loop;
extern const core::HigherOrder& scan;

// Bind them. What a program takes is made to vary over axes as its operands do, and carries as what replaces them,
// until nothing changes (dtypes and shapes must fit already).
Arrays bind_cond(CondParams p, Arrays in);
Arrays bind_while(WhileParams p, Arrays in);
Arrays bind_scan(ScanParams p, Arrays in);

// Which devices must take the same way: those that meet in a collective of a branch or loop. Where the way depends on
// the device this is found while running (a typed region refuses it when tracing).
class Agreement {
 public:
  Agreement(const ir::Eqn& e, const Mesh& mesh);
  // way[device]; throws ExecutionError when devices that meet differ.
  void check(std::span<const i64> way) const;

 private:
  std::vector<std::vector<i64>> groups_;  // by collective: the group of each device
  std::string_view name_;
  std::source_location where_;
};

// Throws TraceError when the way through these programs varies over an axis at which devices meet in them: those that
// go another way would be waited for without end.
void refuse_varying_way(std::string_view name, const AxisNames& varying, std::span<const ir::ProgramPtr> programs);

// Parts of them.
// f staged on these types; throws InternalError when it captures anything.
ir::ProgramPtr staged(interp::Fn f, const Types& types);
// The program on inputs that vary as these types do, with results that vary at least as `outputs` say (where given).
ir::ProgramPtr vary_as(const ir::ProgramPtr& program, const Types& inputs, std::span<const AxisNames> outputs);
// Throws InternalError unless `carry` of the results have the types of these inputs.
void check_carry(std::string_view name, const ir::Program& body, i64 consts, i64 carry);
// The values under vmap, with the batch dimension where `batched` says so.
Arrays batched_results(const ir::Program& program, std::span<const Array> in, const Flags& batched,
                       const BatchArgs& args, const Flags& force, Flags* found = nullptr);

}  // namespace uni::ops
