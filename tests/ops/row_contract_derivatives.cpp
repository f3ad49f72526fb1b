// Derivative rules under the engines: differentiated again, and run backwards.
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "interp/jvp.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"

namespace uni::contract {

using base::cat;

namespace {
// Operands and directions along all operands with 64-bit parts.
struct Point {
  Arrays x, t, u;
  std::vector<bool> active;
  bool any = false;
};
Point point_of(const Sample& s) {
  Point p;
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    p.x.push_back(draw(s.operands[i], s.seed * 31 + i));
    const core::Type& type = core::type_of(p.x.back());
    const bool wide = real_part(type.dtype) == Dtype::f64;
    p.active.push_back(wide);
    p.any = p.any || wide;
    p.t.push_back(wide ? draw_direction(type, s.seed * 17 + i) : Array());
    p.u.push_back(wide ? draw_direction(type, s.seed * 19 + i) : Array());
  }
  return p;
}
Arrays moved(const Point& p, long double step) {
  Arrays x = p.x;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (p.u[i].defined()) x[i] = axpy(x[i], p.u[i], step);
  return x;
}
Values values_or_zeros(const Array& a, std::size_t count) { return a.defined() ? read(a) : Values(count); }
}  // namespace

Finding check_second_derivative(const Sample& s) {
  const core::Primitive& row = *s.row;
  const Point p = point_of(s);
  if (!row.jvp.fn || !p.any || s.stopped) return {};
  const Arrays tangents = row.jvp.fn(p.x, p.t, s.params).tangent;
  std::vector<std::size_t> results;  // with a tangent in 64 bits
  for (std::size_t r = 0; r < tangents.size(); ++r)
    if (tangents[r].defined() && real_part(core::type_of(tangents[r]).dtype) == Dtype::f64) results.push_back(r);
  if (results.empty()) return {};
  const auto derivative = [&](std::span<const Array> x) {
    const Arrays all = row.jvp.fn(x, p.t, s.params).tangent;
    Arrays out;
    for (const std::size_t r : results) out.push_back(all[r]);
    return out;
  };
  const core::Jvp second = interp::jvp(derivative, p.x, p.u);
  constexpr long double step = 1e-6L;
  const Arrays high = derivative(moved(p, step)), low = derivative(moved(p, -step));
  for (std::size_t r = 0; r < results.size(); ++r) {
    Values want = read(high[r]);
    const Values below = read(low[r]);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = (want[i] - below[i]) / (2 * step);
    if (const Finding f = difference(values_or_zeros(second.tangent[r], want.size()), want, 1e-5L))
      return cat("second derivative, result ", results[r], ": ", *f);
  }
  return {};
}

Finding check_reverse_mode(const Sample& s) {
  const Point p = point_of(s);
  if (!s.row->jvp.fn || !p.any) return {};
  const auto f = [&](std::span<const Array> x) { return core::bind(*s.row, x, s.params); };
  const interp::LinearMap map = interp::linearize(f, p.x, p.active);
  const core::Jvp jvp = s.row->jvp.fn(p.x, p.t, s.params);
  std::vector<core::Operand> inputs;
  for (std::size_t i = 0; i < p.x.size(); ++i)
    if (p.active[i]) inputs.push_back({Array(), core::type_of(p.x[i])});
  const std::size_t linear = inputs.size();
  for (const Array& residual : map.residuals) inputs.push_back({residual, core::type_of(residual)});
  Arrays cts;
  long double left = 0, size = 1;
  for (std::size_t r = 0; r < jvp.tangent.size(); ++r) {
    if (map.active[r] != jvp.tangent[r].defined()) return cat("reverse: result ", r, " is active in one mode only");
    if (!map.active[r]) continue;
    cts.push_back(draw_direction(core::type_of(jvp.tangent[r]), s.seed * 7 + r));
    left += dot(cts.back(), jvp.tangent[r]);
    size += static_cast<long double>(core::type_of(cts.back()).count());
  }
  if (cts.empty()) return {};
  const Arrays back = interp::transpose(*map.program, inputs, cts);
  long double right = 0;
  for (std::size_t i = 0, next = 0; i < p.x.size(); ++i) {
    if (!p.active[i]) continue;
    const Array& ct = back[next++];
    if (ct.defined()) right += dot(ct, p.t[i]);
  }
  if (back.size() < linear) return cat("reverse: ", back.size(), " cotangents");
  long double tol = 1e-10L;
  for (const Array& ct : cts) tol = std::max(tol, tolerance(core::type_of(ct).dtype));
  if (std::abs(left - right) <= tol * (size + std::abs(left))) return {};
  return cat("reverse: <ct, J t> is ", static_cast<double>(left), ", <J^T ct, t> is ", static_cast<double>(right));
}

}  // namespace uni::contract
