#include "ir/params.hpp"

#include <unisono/error.hpp>

namespace uni::ir {

const std::string& Params::text() const {
  static const std::string nothing = "{}";
  if (!box_) return nothing;
  if (box_->text.empty()) box_->text = box_->print();
  return box_->text;
}

const AxisNames& Params::axes() const {
  static const AxisNames nothing;
  const AxisNames* axes = box_ ? box_->axes() : nullptr;
  return axes ? *axes : nothing;
}

Params Params::with_programs(detail::FunctionRef<ProgramPtr(const ProgramPtr&)> f) const {
  return programs().empty() ? *this : box_->with_programs(f);
}
std::vector<ProgramPtr> Params::programs() const {
  std::vector<ProgramPtr> out;
  if (box_) box_->programs(out);
  return out;
}

void Params::wrong_tag() { throw InternalError("parameters of another operation were handed to a rule"); }

}  // namespace uni::ir
