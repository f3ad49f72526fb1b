// Rows inside the engines: vmap of reverse mode, and what transposition leaves.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "interp/linearize.hpp"
#include "interp/transpose.hpp"
#include "ops/contract.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"

namespace uni::contract {

namespace {
using core::Type;

// A sample as a function of its 64-bit floats.
struct Problem {
  const Sample& sample;
  Arrays x;
  std::vector<bool> active;

  Arrays operator()(std::span<const Array> in) const { return core::bind(*sample.row, in, sample.params); }
};
std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const Sample& s : all_samples()) {
    if (!s.row->jvp.fn) continue;
    Problem p{s, {}, {}};
    bool any = false;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
      p.x.push_back(draw(s.operands[i], s.seed * 31 + i));
      p.active.push_back(real_part(s.operands[i].dtype) == Dtype::f64);
      any = any || p.active.back();
    }
    if (any) out.push_back(std::move(p));
  }
  return out;
}
Arrays cotangents(const Problem& p, const Arrays& out, std::uint64_t seed) {
  Arrays ct;
  for (std::size_t r = 0; r < out.size(); ++r)
    ct.push_back(draw_direction(core::type_of(out[r]), p.sample.seed * 89 + seed + r));
  return ct;
}
// Cotangents of the active operands, others empty.
Arrays pull_back(const Problem& p, std::span<const Array> x, const Arrays& ct) {
  const interp::LinearMap map = interp::linearize([&](std::span<const Array> in) { return p(in); }, x, p.active);
  Arrays cts;
  for (std::size_t r = 0; r < map.active.size(); ++r)
    if (map.active[r]) cts.push_back(ct[r]);
  std::vector<core::Operand> operands;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (p.active[i]) {
      which.push_back(i);
      operands.push_back({Array(), core::type_of(x[i])});
    }
  for (const Array& residual : map.residuals) operands.push_back({residual, core::type_of(residual)});
  Arrays out(x.size());
  if (cts.empty()) return out;
  const Arrays back = interp::transpose(*map.program, operands, cts);
  for (std::size_t k = 0; k < which.size(); ++k) out[which[k]] = back[k];
  return out;
}

TEST(Engines, VmapOfReverseModeGivesWhatALoopGives) {
  constexpr int lanes = 2;
  for (const Problem& p : problems()) {
    if (!p.sample.row->batch.fn) continue;
    std::vector<Arrays> x(lanes), want(lanes);
    Arrays stacked, ct;
    for (std::size_t i = 0; i < p.x.size(); ++i) {
      std::vector<Array> all;
      for (int l = 0; l < lanes; ++l) {
        x[static_cast<std::size_t>(l)].push_back(draw(p.sample.operands[i], p.sample.seed * 31 + i, l));
        all.push_back(x[static_cast<std::size_t>(l)].back());
      }
      stacked.push_back(stack(all, core::type_of(all[0])));
    }
    ct = cotangents(p, p(p.x), 2);
    for (int l = 0; l < lanes; ++l)
      want[static_cast<std::size_t>(l)] = pull_back(p, x[static_cast<std::size_t>(l)], ct);
    const auto gradients = [&](std::span<const Array> in) {
      Arrays out;
      const Arrays back = pull_back(p, in, ct);
      for (std::size_t i = 0; i < back.size(); ++i)
        if (back[i].defined()) out.push_back(back[i]);
      return out;
    };
    const interp::Batched got = interp::batch(gradients, stacked, std::vector<bool>(stacked.size(), true), {lanes, {}});
    std::size_t next = 0;
    for (std::size_t i = 0; i < p.x.size(); ++i) {
      if (!want[0][i].defined()) continue;
      const std::size_t k = next++;
      std::vector<Array> all;
      for (const Arrays& lane : want) all.push_back(lane[i]);
      const Array expected = got.batched[k] ? stack(all, core::type_of(all[0])) : all[0];
      const auto found = difference(got.out[k], expected, 1e-9L);
      EXPECT_FALSE(found) << describe(p.sample) << " operand " << i << ": " << *found;
    }
  }
}

TEST(Engines, CotangentsOfAMatrixProductMoveNoElements) {
  const core::Types types{{Dtype::f32, {4, 3}, false, {}}, {Dtype::f32, {3, 5}, false, {}}};
  const auto product = [](std::span<const Array> x) { return Arrays{lax::matmul2(x[0], x[1])}; };
  const interp::Staged staged = interp::stage(product, types);
  for (const std::vector<bool>& linear : {std::vector<bool>{true, false}, std::vector<bool>{false, true}}) {
    const interp::TransposedProgram t = interp::transpose_program(*staged.program, linear, {true});
    ASSERT_EQ(t.program->eqns.size(), 1u);
    EXPECT_EQ(t.program->eqns[0].op->name, "dot_general");
  }
}
}  // namespace

}  // namespace uni::contract
