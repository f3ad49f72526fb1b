// transpose(dot(a, b)) that swaps the two sides is dot(b, a).
#include <numeric>

#include "backend/native/plan.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
// The permutation that moves the last `right` dimensions before the `left` ones.
bool swaps(const std::vector<int>& permutation, int left, int right) {
  if (static_cast<int>(permutation.size()) != left + right) return false;
  for (int i = 0; i < left + right; ++i)
    if (permutation[static_cast<std::size_t>(i)] != (i + left) % (left + right)) return false;
  return true;
}
}  // namespace

ir::Program swap_transposed_dots(const ir::Program& program) {
  std::vector<int> uses(program.types.size(), 0), producer(program.types.size(), -1);
  for (std::size_t i = 0; i < program.eqns.size(); ++i) {
    for (ir::Var v : program.eqns[i].in) ++uses[static_cast<std::size_t>(v)];
    for (ir::Var v : program.eqns[i].out) producer[static_cast<std::size_t>(v)] = static_cast<int>(i);
  }
  for (ir::Var v : program.outputs) ++uses[static_cast<std::size_t>(v)];
  ir::Program out = program;
  for (ir::Eqn& e : out.eqns) {
    if (e.op != &ops::transpose) continue;
    const auto x = static_cast<std::size_t>(e.in[0]);
    if (producer[x] < 0 || uses[x] != 1) continue;
    const ir::Eqn& dot = program.eqns[static_cast<std::size_t>(producer[x])];
    if (dot.op != &ops::dot_general) continue;
    const auto& p = dot.params.as<ops::DotGeneral>();
    const int left =
        program.types[static_cast<std::size_t>(dot.in[0])].shape.rank() - static_cast<int>(p.lhs_contract.size());
    const int right =
        program.types[static_cast<std::size_t>(dot.in[1])].shape.rank() - static_cast<int>(p.rhs_contract.size());
    if (!p.lhs_batch.empty() || !swaps(e.params.as<ops::Transpose>().permutation, left, right)) continue;
    e.op = dot.op;
    e.in = {dot.in[1], dot.in[0]};
    e.params = ops::DotGeneral{p.rhs_contract, p.lhs_contract, {}, {}};
  }
  return ir::remove_dead_code(out);
}

}  // namespace uni::native
