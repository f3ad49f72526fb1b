#include "backend/native/contraction.hpp"

#include <algorithm>

#include "ops/contract.hpp"

namespace uni::native {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
bool contains(const std::vector<int>& v, int x) { return std::find(v.begin(), v.end(), x) != v.end(); }

void dot_loops(const ops::DotGeneral& p, const Strided& a, const Strided& b, const std::vector<i64>& result,
               Contraction& c) {
  std::size_t r = 0;
  for (std::size_t i = 0; i < p.lhs_batch.size(); ++i)
    c.batch.push_back(
        {a.shape[p.lhs_batch[i]], a.strides[at(p.lhs_batch[i])], b.strides[at(p.rhs_batch[i])], result[r++]});
  for (int d = 0; d < a.shape.rank(); ++d)
    if (!contains(p.lhs_batch, d) && !contains(p.lhs_contract, d))
      c.m.push_back({a.shape[d], a.strides[at(d)], 0, result[r++]});
  for (int d = 0; d < b.shape.rank(); ++d)
    if (!contains(p.rhs_batch, d) && !contains(p.rhs_contract, d))
      c.n.push_back({b.shape[d], 0, b.strides[at(d)], result[r++]});
  for (std::size_t i = 0; i < p.lhs_contract.size(); ++i)
    c.k.push_back({a.shape[p.lhs_contract[i]], a.strides[at(p.lhs_contract[i])], b.strides[at(p.rhs_contract[i])], 0});
}

// x [N, spatial..., C], kernel [spatial..., C / groups, O], result [N, spatial..., O].
void conv_loops(const ops::Conv& p, const Dims& out, const Strided& x, const Strided& w, const std::vector<i64>& result,
                Contraction& c) {
  const int spatial = x.shape.rank() - 2, last = spatial + 1;
  const i64 groups = std::max(p.groups, p.batch_groups), channels = w.shape[spatial], features = w.shape[last] / groups;
  const i64 a_group = p.groups > 1 ? channels * x.strides[at(last)] : out[0] * x.strides[0];
  if (groups > 1) c.batch.push_back({groups, a_group, features * w.strides[at(last)], features * result[at(last)]});
  c.m.push_back({out[0], x.strides[0], 0, result[0]});
  for (int d = 0; d < spatial; ++d) {
    c.m.push_back({out[d + 1], p.stride[d] * x.strides[at(d + 1)], 0, result[at(d + 1)]});
    c.k.push_back({w.shape[d], p.kernel_dilation[d] * x.strides[at(d + 1)], w.strides[at(d)], 0});
  }
  c.k.push_back({channels, x.strides[at(last)], w.strides[at(spatial)], 0});
  c.n.push_back({features, 0, w.strides[at(last)], result[at(last)]});
}
}  // namespace

Contraction contraction_of(const ir::Eqn& e, const ir::Type& out, const Strided& a, const Strided& b,
                           const std::vector<i64>& result, const DeviceSteps& devices) {
  Contraction c;
  c.dtype = out.dtype;
  c.a_offset = a.offset;
  c.b_offset = b.offset;
  if (devices.count > 1) {
    const ContractionLoop loop{devices.count, devices.a, devices.b, devices.c};
    (devices.c == 0 ? c.k : devices.a == 0 ? c.n : devices.b == 0 ? c.m : c.batch).push_back(loop);
  }
  if (e.op == &ops::conv)
    conv_loops(e.params.as<ops::Conv>(), out.shape, a, b, result, c);
  else
    dot_loops(e.params.as<ops::DotGeneral>(), a, b, result, c);
  return c;
}

}  // namespace uni::native
