// Element by element, on values that are there as often as on new ones, so that chains grow.
#include <algorithm>

#include "builder.hpp"
#include "ops/elementwise.hpp"

namespace uni::random_programs {

namespace {
std::size_t operand_count(const ir::Op& op) {
  for (const ir::Op* three : {&ops::fma, &ops::select, &ops::clamp})
    if (&op == three) return 3;
  for (const ir::Op* two :
       {&ops::add, &ops::sub, &ops::mul, &ops::div, &ops::rem, &ops::pow, &ops::maximum, &ops::minimum, &ops::atan2,
        &ops::nextafter, &ops::and_, &ops::or_, &ops::xor_, &ops::shift_left, &ops::shift_right_logical,
        &ops::shift_right_arithmetic, &ops::complex, &ops::compare})
    if (&op == two) return 2;
  return 1;
}

ir::Params drawn_params(Builder& b, const ir::Op& op, Dtype dtype) {
  if (&op == &ops::integer_pow) return ops::IntegerPow{static_cast<int>(b.random.number(-3, 5))};
  if (&op == &ops::compare) return ops::Compare{static_cast<ops::Compare::Direction>(b.random.number(0, 5))};
  if (&op == &ops::convert) return ops::Convert{b.dtype(), b.random.chance(10)};
  if (&op == &ops::bitcast) {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (const Dtype to = b.dtype(); itemsize(to) == itemsize(dtype)) return ops::Bitcast{to};
    return ops::Bitcast{dtype};
  }
  return {};
}

bool draw(Builder& b, const ir::Op& op) {
  const std::size_t count = operand_count(op);
  const ir::Var x = b.any();
  const Dims shape = b.type(x).shape;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Dtype dtype = attempt == 0 ? b.type(x).dtype : b.dtype();
    const ir::Params params = drawn_params(b, op, dtype);
    ir::Types in(count, ir::Type{dtype, shape, false, {}});
    if (&op == &ops::select) in[0].dtype = Dtype::b8;
    if (!b.accepts(op, in, params)) continue;
    const auto own = static_cast<std::size_t>(b.random.number(0, static_cast<i64>(count) - 1));
    std::vector<ir::Var> operands;
    for (std::size_t k = 0; k < count; ++k)
      operands.push_back(k == own && in[k].dtype == b.type(x).dtype ? x : b.of(in[k].dtype, shape));
    return b.add(op, operands, params) >= 0;
  }
  return false;
}
}  // namespace

const std::vector<Drawer>& elementwise_drawers() {
  static const std::vector<Drawer> all = [] {
    std::vector<Drawer> out;
    for (const core::Primitive* row : ops::elementwise_rows()) out.push_back({row, draw});
    return out;
  }();
  return all;
}

}  // namespace uni::random_programs
