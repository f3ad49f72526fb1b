// Passes over the per-device program that say in other operations what is then fused or shared.
#include <algorithm>
#include <utility>

#include "backend/native/plan.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
Dims repeated(i64 value, int rank) { return Dims(std::vector<i64>(at(rank), value)); }

bool all(const Dims& d, i64 value) {
  return std::all_of(d.begin(), d.end(), [&](i64 v) { return v == value; });
}

// A program that grows equation by equation out of another one's.
class Rewriter {
 public:
  explicit Rewriter(const ir::Program& program) : in_(program), out_(program) {
    out_.eqns.clear();
    producer_.resize(program.types.size(), nullptr);
    for (const ir::Eqn& e : program.eqns)
      for (ir::Var v : e.out) producer_[at(v)] = &e;
  }
  // `replace(rewriter, e)` adds what takes an equation's place, or returns false.
  template <class Replace>
  ir::Program run(const Replace& replace) {
    bool any = false;
    for (const ir::Eqn& e : in_.eqns) {
      if (replace(*this, e))
        any = true;
      else
        out_.eqns.push_back(e);
    }
    if (!any) return in_;
    return ir::compact(ir::remove_dead_code(ir::merge_common_subexpressions(out_)));
  }
  const ir::Type& type(ir::Var v) const { return out_.types[at(v)]; }
  const ir::Eqn* producer(ir::Var v) const { return producer_[at(v)]; }
  // An equation at the place of `near`.
  ir::Var add(const ir::Op& op, std::vector<ir::Var> in, ir::Params params, const ir::Eqn& near) {
    ir::Types types;
    for (ir::Var v : in) types.push_back(type(v));
    ir::Type result = ir::infer(op, types, params)[0];
    if (!in.empty()) result.varying = types[0].varying;
    const ir::Var v = out_.add(std::move(result));
    out_.eqns.push_back({&op, std::move(in), {v}, std::move(params), near.where});
    return v;
  }
  void add(ir::Eqn e) { out_.eqns.push_back(std::move(e)); }

 private:
  const ir::Program& in_;
  ir::Program out_;
  std::vector<const ir::Eqn*> producer_;
};

// A transposed operand is padded before, so that the convolutions of both directions share what they read.
ir::Var padded(Rewriter& r, ir::Var x, ir::Var zero, const ops::Pad& p, const ir::Eqn& near) {
  const ir::Eqn* transpose = r.producer(x);
  if (!transpose || transpose->op != &ops::transpose) return r.add(ops::pad, {x, zero}, p, near);
  const std::vector<int>& permutation = transpose->params.as<ops::Transpose>().permutation;
  ops::Pad before = p;
  for (int to = 0; to < static_cast<int>(permutation.size()); ++to) {
    const int from = permutation[at(to)];
    before.low[from] = p.low[to];
    before.high[from] = p.high[to];
    before.interior[from] = p.interior[to];
  }
  return r.add(ops::transpose, {r.add(ops::pad, {transpose->in[0], zero}, before, near)}, transpose->params, near);
}

bool pad_convolution(Rewriter& r, const ir::Eqn& e) {
  if (e.op != &ops::conv || r.type(e.out[0]).count() == 0) return false;
  ops::Conv p = e.params.as<ops::Conv>();
  if (all(p.low, 0) && all(p.high, 0) && all(p.input_dilation, 1)) return false;
  const ir::Type x = r.type(e.in[0]);
  const int rank = x.shape.rank();
  ops::Pad padding{repeated(0, rank), repeated(0, rank), repeated(0, rank)};
  for (int d = 0; d + 2 < rank; ++d) {
    padding.low[d + 1] = std::exchange(p.low[d], 0);
    padding.high[d + 1] = std::exchange(p.high[d], 0);
    padding.interior[d + 1] = std::exchange(p.input_dilation[d], 1) - 1;
  }
  const ir::Var zero = r.add(ops::full, {}, ops::Full{ir::Scalar::of(x.dtype, std::uint64_t{0}), {}, false}, e);
  ir::Eqn conv = e;
  conv.in[0] = padded(r, e.in[0], zero, padding, e);
  conv.params = p;
  r.add(std::move(conv));
  return true;
}

// Windows of few positions, all inside: strided slices that are added, or compared.
bool unroll_window(Rewriter& r, const ir::Eqn& e) {
  const bool sum = e.op == &ops::reduce_window_sum;
  if (!sum && e.op != &ops::reduce_window_max) return false;
  const auto& p = e.params.as<ops::Window>();
  const ir::Type x = r.type(e.in[0]), out = r.type(e.out[0]);
  constexpr i64 few = 16;
  const bool rounds_once = sum && itemsize(x.dtype) == 2 && is_inexact(x.dtype);
  if (p.size.count() == 1 || p.size.count() > few || !all(p.low, 0) || !all(p.high, 0) || rounds_once ||
      x.dtype == Dtype::b8)
    return false;
  ir::Var total = -1;
  for (i64 position = 0; position < p.size.count(); ++position) {
    ops::SliceParams s{p.size, p.size, p.stride};
    i64 rest = position;
    for (int d = p.size.rank() - 1; d >= 0; --d) {
      s.start[d] = rest % p.size[d];
      rest /= p.size[d];
      s.limit[d] = s.start[d] + (out.shape[d] - 1) * p.stride[d] + 1;
    }
    const ir::Var slice = r.add(ops::slice, {e.in[0]}, s, e);
    if (position + 1 < p.size.count())
      total = total < 0 ? slice : r.add(sum ? ops::add : ops::maximum, {total, slice}, ir::NoParams{}, e);
    else
      r.add({sum ? &ops::add : &ops::maximum, {total, slice}, e.out, ir::NoParams{}, e.where});
  }
  return true;
}
}  // namespace

ir::Program pad_convolutions(const ir::Program& program) { return Rewriter(program).run(pad_convolution); }

ir::Program unroll_windows(const ir::Program& program, i64 from_elements) {
  return Rewriter(program).run([&](Rewriter& r, const ir::Eqn& e) {
    return r.type(e.out[0]).count() >= std::max<i64>(1, from_elements) && unroll_window(r, e);
  });
}

}  // namespace uni::native
