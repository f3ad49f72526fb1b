#include "backend/native/contraction.hpp"

#include <algorithm>
#include <numeric>

#include "backend/native/kernel.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"

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

namespace {
bool is_padded(const ops::Conv& p) {
  const auto is = [](i64 value) { return [value](i64 v) { return v == value; }; };
  return !std::all_of(p.low.begin(), p.low.end(), is(0)) || !std::all_of(p.high.begin(), p.high.end(), is(0)) ||
         !std::all_of(p.input_dilation.begin(), p.input_dilation.end(), is(1));
}

class Rewriter {
 public:
  explicit Rewriter(const ir::Program& program) : in_(program), out_(program) {
    out_.eqns.clear();
    producer_.resize(program.types.size(), nullptr);
    for (const ir::Eqn& e : program.eqns)
      for (ir::Var v : e.out) producer_[at(v)] = &e;
  }
  ir::Program run() {
    for (const ir::Eqn& e : in_.eqns) {
      out_.eqns.push_back(e);
      const bool conv = e.op == &ops::conv && in_.types[at(e.out[0])].count() > 0;
      if (conv && is_padded(e.params.as<ops::Conv>())) pad(e);
    }
    return std::move(out_);
  }

 private:
  ir::Var add(const ir::Op& op, std::vector<ir::Var> in, ir::Params params, const ir::Eqn& near) {
    ir::Types types;
    for (ir::Var v : in) types.push_back(out_.types[at(v)]);
    ir::Type type = ir::infer(op, types, params)[0];
    if (!in.empty()) type.varying = types[0].varying;
    const ir::Var v = out_.add(std::move(type));
    out_.eqns.push_back({&op, std::move(in), {v}, std::move(params), near.where});
    return v;
  }
  // Replaces the convolution that was added last.
  void pad(const ir::Eqn& e) {
    out_.eqns.pop_back();
    ops::Conv p = e.params.as<ops::Conv>();
    const int rank = in_.types[at(e.in[0])].shape.rank();
    ops::Pad padding;
    for (Dims* d : {&padding.low, &padding.high, &padding.interior}) *d = Dims(std::vector<i64>(at(rank), 0));
    for (int d = 0; d + 2 < rank; ++d) {
      padding.low[d + 1] = std::exchange(p.low[d], 0);
      padding.high[d + 1] = std::exchange(p.high[d], 0);
      padding.interior[d + 1] = std::exchange(p.input_dilation[d], 1) - 1;
    }
    const ir::Var zero =
        add(ops::full, {}, ops::Full{ir::Scalar::of(in_.types[at(e.in[0])].dtype, std::uint64_t{0}), {}, false}, e);
    ir::Eqn conv = e;
    conv.in[0] = padded(e.in[0], zero, padding, e);
    conv.params = p;
    out_.eqns.push_back(std::move(conv));
  }
  // A transposed operand is padded before, so that the convolutions of both directions share what they read.
  ir::Var padded(ir::Var x, ir::Var zero, const ops::Pad& p, const ir::Eqn& near) {
    const ir::Eqn* transpose = producer_[at(x)];
    if (!transpose || transpose->op != &ops::transpose) return add(ops::pad, {x, zero}, p, near);
    const std::vector<int>& permutation = transpose->params.as<ops::Transpose>().permutation;
    ops::Pad before = p;
    for (std::size_t d = 0; d < permutation.size(); ++d) {
      const int from = permutation[d], to = static_cast<int>(d);
      before.low[from] = p.low[to];
      before.high[from] = p.high[to];
      before.interior[from] = p.interior[to];
    }
    return add(ops::transpose, {add(ops::pad, {transpose->in[0], zero}, before, near)}, transpose->params, near);
  }

  const ir::Program& in_;
  ir::Program out_;
  std::vector<const ir::Eqn*> producer_;
};
}  // namespace

ir::Program pad_convolutions(const ir::Program& program) {
  const auto padded = [](const ir::Eqn& e) { return e.op == &ops::conv && is_padded(e.params.as<ops::Conv>()); };
  if (std::none_of(program.eqns.begin(), program.eqns.end(), padded)) return program;
  return ir::compact(ir::remove_dead_code(ir::merge_common_subexpressions(Rewriter(program).run())));
}

}  // namespace uni::native
