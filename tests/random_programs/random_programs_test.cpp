// Random programs over every row of the operation table: both backends give the same, whatever is fused, shared,
// donated or split. UNISONO_RANDOM_PROGRAMS=N runs N programs, UNISONO_RANDOM_SEED=S begins with that of seed S (and
// runs only it unless N is given).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "builder.hpp"
#include "check.hpp"
#include "ops/linalg.hpp"
#include "ops/list.hpp"

namespace uni::random_programs {

namespace {
std::optional<i64> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text) return {};
  return std::strtoll(text, nullptr, 10);
}

// Factorisations of matrices that chance draws say nothing: a nearly singular one has results of any size and order.
// The contract tests of these rows draw matrices of good condition.
bool is_factorisation(const core::Primitive* row) {
  const auto rows = ops::linalg_rows();
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

TEST(RandomPrograms, BackendsAgree) {
  const std::optional<i64> seed = from_environment("UNISONO_RANDOM_SEED"),
                           count = from_environment("UNISONO_RANDOM_PROGRAMS");
  const i64 programs = count.value_or(seed ? 1 : 100);
  Tally tally;
  std::map<std::string_view, i64> used;
  int failures = 0;
  constexpr int most_failures = 10;
  for (i64 k = 0; k < programs && failures < most_failures; ++k) {
    const Case c = drawn_case(static_cast<std::uint64_t>(seed.value_or(1) + k));
    for (const ir::Eqn& e : c.body.eqns) ++used[e.op->name];
    const std::optional<std::string> wrong = finding(c, &tally);
    if (!wrong) continue;
    ++failures;
    const Case small = shrunk(c);
    ADD_FAILURE() << "seed " << c.seed << ": " << *wrong << "\nshrunk: " << finding(small).value_or("nothing") << "\n"
                  << describe(small);
  }
  RecordProperty("outputs", std::to_string(tally.outputs));
  RecordProperty("open", std::to_string(tally.open));
  if (programs < 100) return;
  EXPECT_LT(tally.open, 0.1 * tally.outputs) << "too much is left to rounding";
  for (const core::Primitive* row : ops::all_rows())
    EXPECT_TRUE(used[row->name] > 0 || programs < 1000 || is_factorisation(row)) << row->name << " is never drawn";
}

TEST(RandomPrograms, EveryRowHasADrawer) {
  std::map<std::string_view, i64> drawers;
  for (const auto family :
       {elementwise_drawers, structural_drawers, contract_drawers, random_drawers, collective_drawers})
    for (const Drawer& d : family()) ++drawers[d.op->name];
  for (const core::Primitive* row : ops::all_rows())
    EXPECT_EQ(drawers[row->name], is_factorisation(row) ? 0 : 1) << row->name;
}
}  // namespace

}  // namespace uni::random_programs
