// The verifier refuses programs that no trace could have made, and prints them.
#include "ir/programs.hpp"
#include "ops/elementwise.hpp"

namespace uni::testing_ir {

namespace {
// The first line of what the verifier says; empty when it is content.
std::string verdict(const ir::Program& p) {
  try {
    ir::verify(p);
  } catch (const InternalError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find('\n'), std::string::npos) << "no program is printed";
    return text.substr(0, text.find('\n'));
  } catch (const Error& e) {
    return std::string("of the type rule: ") + e.what();
  }
  return "";
}
// v1 = sin(v0), v2 = add(v0, v1)
ir::Program sample() {
  return parse("program(v0: f32[2]) { v1: f32[2] = sin{}(v0) v2: f32[2] = add{}(v0, v1) return v2 }");
}

TEST(Verify, Sound) {
  EXPECT_EQ(verdict(sample()), "");
  for (const Named& n : traced_programs()) EXPECT_EQ(verdict(*n.program), "") << n.name;
}

TEST(Verify, Variables) {
  ir::Program p = sample();
  p.inputs = 4;
  EXPECT_EQ(verdict(p), "invalid program: more inputs than variables");
  p = sample();
  p.inputs = -1;
  EXPECT_EQ(verdict(p), "invalid program: more inputs than variables");
  p = sample();
  std::swap(p.eqns[0], p.eqns[1]);
  EXPECT_EQ(verdict(p), "invalid program: add uses v1 before its definition");
  for (const ir::Var v : {-1, 3, 1000}) {
    p = sample();
    p.eqns[1].in[1] = v;
    EXPECT_EQ(verdict(p), "invalid program: add uses v" + std::to_string(v) + " before its definition");
    p = sample();
    p.eqns[1].out[0] = v;
    EXPECT_EQ(verdict(p), "invalid program: add defines v" + std::to_string(v) + " again or out of range");
    p = sample();
    p.outputs[0] = v;
    EXPECT_EQ(verdict(p), "invalid program: output v" + std::to_string(v) + " is undefined");
  }
  p = sample();
  p.eqns[1].out[0] = 1;
  EXPECT_EQ(verdict(p), "invalid program: add defines v1 again or out of range");
  p = sample();
  p.eqns[0].out[0] = 0;
  EXPECT_EQ(verdict(p), "invalid program: sin defines v0 again or out of range");
}

TEST(Verify, Types) {
  ir::Program p = sample();
  p.types[2] = {Dtype::f32, {3}, false, {}};
  EXPECT_EQ(verdict(p), "invalid program: add gives f32[2], v2 is declared f32[3]");
  p = sample();
  p.types[2].weak = true;
  EXPECT_EQ(verdict(p), "invalid program: add gives f32[2], v2 is declared f32[2]*");
  p = sample();
  p.types[1].varying = {"i"};
  EXPECT_EQ(verdict(p), "invalid program: sin gives f32[2], v1 is declared f32[2]{V:i}");
  p = sample();
  p.eqns[1].out.push_back(1);
  EXPECT_EQ(verdict(p), "invalid program: add has 2 results, its type rule gives 1");
  p = sample();
  p.eqns[1].in.pop_back();
  EXPECT_EQ(verdict(p), "of the type rule: add: takes 2 operands, got 1");
}

TEST(Verify, NestedPrograms) {
  const std::string text =
      "program(v0: f32[2]) { v1: f32[2] = call{body=program(v0: f32[2]) { v1: f32[3] = sin{}(v0) return v1 }, "
      "name=\"f\"}(v0) return v1 }";
  EXPECT_EQ(verdict(parse(text)), "invalid program: sin gives f32[2], v1 is declared f32[3]");
}

TEST(Verify, PassesAreNamed) {
  const auto spoil = [](const ir::Program& p) {
    ir::Program out = p;
    out.outputs[0] = 7;
    return out;
  };
  try {
    ir::run_pass("spoil", spoil, sample());
    FAIL() << "no error";
  } catch (const InternalError& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("pass spoil: invalid program: output v7 is undefined\nprogram("));
  }
}
}  // namespace

}  // namespace uni::testing_ir
