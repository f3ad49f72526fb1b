// Dot products and convolutions become contractions. They wait until something reads them, as a transpose or a sum over
// devices that alone reads one becomes a part of it.
#include <algorithm>

#include "backend/native/planner.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"

namespace uni::native {

bool Planner::take_contraction(const ir::Eqn& e) {
  if (e.op == &ops::transpose) return transpose_contraction(e);
  if (e.op == &ops::psum) return sum_contraction(e);
  if (e.op != &ops::dot_general && e.op != &ops::conv) return false;
  const auto operand = [&](ir::Var v) {
    Strided x = view_of(v);
    if (x.base >= 0) {
      make_available(x.base);
      return x;
    }
    make_available(v);
    return whole(value(v).root, value(v).type.shape);
  };
  PendingContraction c{&e, operand(e.in[0]), operand(e.in[1]), {}, value(e.out[0]).varying};
  for (int d = 0; d < value(e.out[0]).type.shape.rank(); ++d) c.place.push_back(d);
  contractions_.emplace(e.out[0], std::move(c));
  return true;
}

// The pending contraction that only this equation reads.
Planner::PendingContraction* Planner::sole_contraction(const ir::Eqn& e) {
  const auto it = contractions_.find(e.in[0]);
  return it == contractions_.end() || uses_[static_cast<std::size_t>(e.in[0])] != 1 ? nullptr : &it->second;
}

bool Planner::transpose_contraction(const ir::Eqn& e) {
  PendingContraction* c = sole_contraction(e);
  if (!c) return false;
  const std::vector<int>& permutation = e.params.as<ops::Transpose>().permutation;
  PendingContraction moved = std::move(*c);
  for (int& p : moved.place)
    p = static_cast<int>(std::find(permutation.begin(), permutation.end(), p) - permutation.begin());
  contractions_.erase(e.in[0]);
  contractions_.emplace(e.out[0], std::move(moved));
  return true;
}

// A sum over all devices of products that differ: one contraction, over the devices too. 16-bit sums round once per
// device.
bool Planner::sum_contraction(const ir::Eqn& e) {
  PendingContraction* c = sole_contraction(e);
  if (!c || plan_.devices == 1 || !covers_all(e.params, plan_.mesh) || !c->varying) return false;
  const Dtype dtype = value(e.in[0]).type.dtype;
  if (!value(c->a.base).varying || !value(c->b.base).varying || !is_inexact(dtype) || itemsize(dtype) < 4) return false;
  ++plan_.collectives;
  plan_.collective_bytes += value(e.in[0]).type.bytes();
  PendingContraction summed = std::move(*c);
  summed.varying = false;
  contractions_.erase(e.in[0]);
  contractions_.emplace(e.out[0], std::move(summed));
  return true;
}

void Planner::flush_contraction(int root) {
  const auto it = contractions_.find(root);
  if (it == contractions_.end()) return;
  const PendingContraction c = std::move(it->second);
  contractions_.erase(it);
  const Value& out = value(root);
  const std::vector<i64> stored = row_strides(out.type.shape);
  std::vector<i64> result;
  for (int p : c.place) result.push_back(stored[static_cast<std::size_t>(p)]);
  const auto apart = [&](int v) { return value(v).varying ? value(v).type.count() : 0; };
  DeviceSteps devices;
  if (c.varying || value(c.a.base).varying)
    devices = {plan_.devices, apart(c.a.base), apart(c.b.base), c.varying ? out.type.count() : 0};
  Step s;
  s.kind = Step::Kind::dense;
  s.in = {c.a.base, c.b.base};
  s.out = {root};
  s.dense = std::make_unique<Dense>(contraction_of(*c.eqn, value(c.eqn->out[0]).type, c.a, c.b, result, devices));
  if (const i64 bytes = s.dense->scratch_bytes()) s.out.push_back(new_value({Dtype::u8, {bytes}, false, {}}, false));
  steps_.push_back(std::move(s));
}

}  // namespace uni::native
