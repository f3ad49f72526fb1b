// Staging: a function's operations become a Program. Values that are not the trace's own become captured inputs.
#pragma once
#include <unordered_map>

#include "core/primitive.hpp"
#include "core/trace.hpp"

namespace uni::interp {

using core::Op;
using core::Params;
using ir::Program;
using ir::ProgramPtr;
using ir::Type;
using ir::Types;
using Fn = detail::FunctionRef<Arrays(std::span<const Array>)>;

class StageTrace final : public core::Trace {
 public:
  explicit StageTrace(const char* name = "jit");
  Arrays process(const Op& op, std::span<const Array> in, const Params& params) override;
  // All inputs must be made before the first operation.
  Array input(Type type);
  ir::Var var(const Array& a);  // captures what is not this trace's own
  // The program with inputs first, then captured values; outputs in order.
  Program finish(std::span<const ir::Var> outputs) const;
  const Arrays& captured() const { return captured_; }

 private:
  Array fresh(Type type, ir::Var v);
  Program program_;
  int inputs_ = 0;
  Arrays captured_;
  std::vector<ir::Var> captured_vars_;
  std::unordered_map<const core::Node*, ir::Var> seen_;
};

struct Staged {
  ProgramPtr program;  // inputs: the arguments, then captured
  Arrays captured;
};
// Traces f on arguments of these types. `name` is told in errors about escaped values.
Staged stage(Fn f, const Types& arguments, const char* name = "jit");

// Runs a program's equations through bind, so that it works under any trace.
Arrays interpret(const Program& program, std::span<const Array> in);

}  // namespace uni::interp
