// The text form of every operation: read back it is the same, and damaged it is an error or another program.
#include <gtest/gtest.h>

#include <random>

#include "ir/program.hpp"
#include "ops/list.hpp"
#include "row_contract.hpp"
#include <unisono/error.hpp>

namespace uni::contract {

namespace {
ir::Program program_of(const Sample& s) {
  ir::Program p;
  ir::Eqn e;
  e.op = s.row;
  e.params = s.params;
  for (const OperandSpec& o : s.operands) e.in.push_back(p.add({o.dtype, o.shape, false, {}}));
  p.inputs = static_cast<int>(p.types.size());
  for (const ir::Type& t : ir::infer(*s.row, p.input_types(), s.params)) {
    e.out.push_back(p.add(t));
    p.outputs.push_back(e.out.back());
  }
  p.eqns.push_back(std::move(e));
  return p;
}

TEST(Text, EverySampleIsReadBack) {
  for (const Sample& s : all_samples()) {
    const ir::Program p = program_of(s);
    const std::string text = ir::print(p);
    SCOPED_TRACE(text);
    const ir::Program again = ir::parse(text, &ops::find_op);
    EXPECT_EQ(ir::print(again), text);
    ASSERT_EQ(again.eqns.size(), 1u);
    EXPECT_EQ(again.eqns[0].op, s.row);
    EXPECT_TRUE(again.eqns[0].params == p.eqns[0].params);
    EXPECT_EQ(again.types, p.types);
    EXPECT_EQ(ir::fingerprint(again), ir::fingerprint(p));
    ir::verify(again);
  }
}

TEST(Text, DamagedParametersAreErrors) {
  constexpr std::string_view likely = "0123456789-,[]{}#";
  std::mt19937 random(2);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (const Sample& s : all_samples()) {
    const std::string text = ir::print(program_of(s));
    for (int round = 0; round < 40; ++round) {
      std::string changed = text;
      for (std::size_t k = below(2); k < 2; ++k) {
        const std::size_t at = below(changed.size());
        if (below(3) == 0)
          changed.insert(at, 1, likely[below(likely.size())]);
        else
          changed[at] = likely[below(likely.size())];
      }
      try {
        ir::verify(ir::parse(changed, &ops::find_op));
      } catch (const Error&) {
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what() << "\n" << changed;
      }
    }
  }
}
}  // namespace

}  // namespace uni::contract
