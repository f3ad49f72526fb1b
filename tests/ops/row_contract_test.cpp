// Every row against its contract, slot by slot.
#include <gtest/gtest.h>

#include "ops/collectives.hpp"
#include "ops/list.hpp"
#include "row_contract.hpp"
#include <unisono/error.hpp>

namespace uni::contract {

namespace {
using Case = std::tuple<const core::Primitive*, SlotKind>;

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const core::Primitive* row : ops::all_rows())
    for (const SlotKind slot : slot_kinds)
      if (!samples_of(*row).empty() && filled(*row, slot)) out.emplace_back(row, slot);
  return out;
}

class RowContract : public testing::TestWithParam<Case> {};

TEST_P(RowContract, Holds) {
  const auto [row, slot] = GetParam();
  int told = 0;
  for (const Sample* s : samples_of(*row)) {
    if (const Finding f = check(slot, *row, *s); f && ++told <= 5) ADD_FAILURE() << describe(*s) << "\n  " << *f;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RowContract, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(std::get<0>(info.param)->name) + "_" + name(std::get<1>(info.param));
});

// Tells of the first samples for which the check finds something.
void expect_nothing_found(Finding (*check)(const Sample&)) {
  int told = 0;
  for (const Sample& s : all_samples()) {
    Finding f;
    try {
      f = check(s);
    } catch (const Error& e) {
      f = e.what();
    }
    if (f && ++told <= 20) ADD_FAILURE() << describe(s) << "\n  " << *f;
  }
}

TEST(RowContract, ReverseModeAgreesWithForwardMode) { expect_nothing_found(check_reverse_mode); }

TEST(RowContract, SecondDerivativesAgreeWithDifferencesOfTheFirst) { expect_nothing_found(check_second_derivative); }

TEST(RowContract, EveryRowHasSamples) {
  for (const core::Primitive* row : ops::all_rows()) {
    if (ops::is_collective(*row)) continue;  // these need several devices and have their own tests
    EXPECT_FALSE(samples_of(*row).empty()) << row->name;
  }
}
}  // namespace

}  // namespace uni::contract
