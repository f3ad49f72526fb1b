// Dead code, common subexpressions, renumbering and fingerprints.
#include "ir/programs.hpp"

namespace uni::testing_ir {

namespace {
std::string after(ir::Program (*pass)(const ir::Program&), const std::string& text) {
  return ir::print(ir::run_pass("pass", pass, parse(text)));
}
void expect_pass(ir::Program (*pass)(const ir::Program&), const std::string& text, const std::string& want) {
  EXPECT_EQ(after(pass, text), reprinted(want));
}

TEST(Passes, DeadCode) {
  expect_pass(ir::remove_dead_code,
              "program(v0: f32[2], v1: f32[2]) {"
              "  v2: f32[2] = sin{}(v0) v3: f32[2] = cos{}(v2) v4: f32[2] = exp{}(v2)"
              "  return v4 }",
              "program(v0: f32[2], v1: f32[2]) { v2: f32[2] = sin{}(v0) v3: f32[2] = exp{}(v2) return v3 }");
  expect_pass(ir::remove_dead_code, "program(v0: f32[2]) { v1: f32[2] = sin{}(v0) return v0 v0 }",
              "program(v0: f32[2]) { return v0 v0 }");
  expect_pass(ir::remove_dead_code, "program(v0: f32[2]) { v1: f32[2] = sin{}(v0) return }",
              "program(v0: f32[2]) { return }");
}

TEST(Passes, CommonSubexpressions) {
  expect_pass(ir::merge_common_subexpressions,
              "program(v0: f32[2]) {"
              "  v1: f32[2] = sin{}(v0) v2: f32[2] = sin{}(v0)"
              "  v3: f32[2] = exp{}(v1) v4: f32[2] = exp{}(v2)"
              "  v5: f32[2] = add{}(v3, v4) return v5 v4 }",
              "program(v0: f32[2]) { v1: f32[2] = sin{}(v0) v2: f32[2] = exp{}(v1) v3: f32[2] = add{}(v2, v2)"
              "  return v3 v2 }");
  const char* const kept[] = {
      "program(v0: f32[2], v1: f32[2]) { v2: f32[2] = sub{}(v0, v1) v3: f32[2] = sub{}(v1, v0) return v2 v3 }",
      "program() { v0: f32[] = full{value=f32:0, shape=[], weak=false}()"
      "  v1: f32[] = full{value=f32:-0, shape=[], weak=false}() return v0 v1 }",
      "program() { v0: f32[] = full{value=f32:1, shape=[], weak=false}()"
      "  v1: f32[]* = full{value=f32:1, shape=[], weak=true}() return v0 v1 }",
      "program() { v0: f32[] = full{value=f32:1, shape=[], weak=false}()"
      "  v1: f64[] = full{value=f64:1, shape=[], weak=false}() return v0 v1 }",
      "program(v0: f32[4]) { v1: f32[2,2] = reshape{shape=[2,2]}(v0) v2: f32[4,1] = reshape{shape=[4,1]}(v0)"
      "  return v1 v2 }",
  };
  for (const char* text : kept) expect_pass(ir::merge_common_subexpressions, text, text);
  // Operands that differ in their digits only: v1 and v11 must not be taken for each other.
  std::string many = "program(v0: f32[2]) {";
  for (int v = 1; v < 12; ++v)
    many += " v" + std::to_string(v) + ": f32[2] = add{}(v0, v" + std::to_string(v - 1) + ")";
  many += " return v1 v11 }";
  expect_pass(ir::merge_common_subexpressions, many, many);
}

TEST(Passes, PassesKeepTracedProgramsSound) {
  for (const Named& n : traced_programs())
    for (const auto pass : {ir::remove_dead_code, ir::merge_common_subexpressions, ir::compact}) {
      const ir::Program once = ir::run_pass("pass", pass, *n.program);
      EXPECT_EQ(once.output_types(), n.program->output_types()) << n.name;
      EXPECT_EQ(once.input_types(), n.program->input_types()) << n.name;
      EXPECT_EQ(ir::print(ir::run_pass("pass", pass, once)), ir::print(once)) << n.name;
    }
}

TEST(Passes, Compact) {
  EXPECT_EQ(ir::print(ir::compact(parse("program(v0: f32[2]) { v17: f32[2] = sin{}(v0) v3: f32[2] = exp{}(v17)"
                                        "  return v3 v0 }"))),
            reprinted("program(v0: f32[2]) { v1: f32[2] = sin{}(v0) v2: f32[2] = exp{}(v1) return v2 v0 }"));
}

std::string print_of(const std::string& text) { return ir::fingerprint(parse(text)); }

TEST(Fingerprint, SameForRenumberedPrograms) {
  const std::string a = print_of("program(v0: f32[2]) { v1: f32[2] = sin{}(v0) v2: f32[2] = exp{}(v1) return v2 }");
  EXPECT_EQ(a.size(), 32u);
  EXPECT_EQ(a, print_of("program(v0: f32[2]) { v9: f32[2] = sin{}(v0) v4: f32[2] = exp{}(v9) return v4 }"));
}

TEST(Fingerprint, TellsProgramsApart) {
  const char* const texts[] = {
      "program(v0: f32[2]) { return v0 }",
      "program(v0: f32[3]) { return v0 }",
      "program(v0: f64[2]) { return v0 }",
      "program(v0: f32[2]*) { return v0 }",
      "program(v0: f32[2]) { return v0 v0 }",
      "program(v0: f32[2]) { return }",
      "program(v0: f32[2], v1: f32[2]) { return v0 }",
      "program(v0: f32[2], v1: f32[2]) { return v1 }",
      "program(v0: f32[2], v1: f32[2]) { v2: f32[2] = sub{}(v0, v1) return v2 }",
      "program(v0: f32[2], v1: f32[2]) { v2: f32[2] = sub{}(v1, v0) return v2 }",
      "program(v0: f32[2], v1: f32[2]) { v2: f32[2] = add{}(v0, v1) return v2 }",
      "program() { v0: f32[] = full{value=f32:0, shape=[], weak=false}() return v0 }",
      "program() { v0: f32[] = full{value=f32:-0, shape=[], weak=false}() return v0 }",
      "program() { v0: f32[] = full{value=f32:#2143289344#0, shape=[], weak=false}() return v0 }",
      "program() { v0: f32[] = full{value=f32:#2143289345#0, shape=[], weak=false}() return v0 }",
      "program(v0: f32[4]) { v1: f32[2,2] = reshape{shape=[2,2]}(v0) return v1 }",
      "program(v0: f32[4]) { v1: f32[4,1] = reshape{shape=[4,1]}(v0) return v1 }",
      "program(v0: f32[2]) { v1: f32[2] = call{body=program(v0: f32[2]) { return v0 }, name=\"f\"}(v0) return v1 }",
      "program(v0: f32[2]) { v1: f32[2] = call{body=program(v0: f32[2]) { v1: f32[2] = sin{}(v0) return v1 }, "
      "name=\"f\"}(v0) return v1 }",
      "program(v0: f32[2]{V:i}) { return v0 }",
      "program(v0: f32[2]{V:\"i,j\"}) { return v0 }",
      "program(v0: f32[2]{V:i,j}) { return v0 }",
  };
  std::map<std::string, std::string> seen;
  for (const char* text : texts) {
    const auto [it, fresh] = seen.try_emplace(print_of(text), text);
    EXPECT_TRUE(fresh) << text << "\n" << it->second;
  }
}

TEST(Fingerprint, HoldsNoPointersNorLocations) {
  const auto build = [] {
    std::vector<std::string> prints;
    const auto f = jit([](const Array& x) {
      return custom_jvp([](const Array& y) { return y * y; },
                        [](const Array& y, const Array& t) {
                          return std::pair{y * y, 2.0 * y * t};
                        })(x);
    });
    prints.push_back(make_program(f)(zeros({3})).fingerprint());
    prints.push_back(make_program(pmap(f, {.axis = "i"}))(zeros({4, 3})).fingerprint());
    prints.push_back(make_program(grad([&](const Array& x) { return sum(f(x)); }))(zeros({3})).fingerprint());
    return prints;
  };
  const auto first = build();
  const Array between = zeros({100});  // the second time objects lie elsewhere
  EXPECT_EQ(build(), first);
  const auto here = [](const Array& x) { return x + 1.0; };
  const auto there = [](const Array& x) { return x + 1.0; };
  EXPECT_EQ(make_program(here)(between).fingerprint(), make_program(there)(between).fingerprint());
  // Known answers: the same in every process, with every compiler.
  EXPECT_EQ(print_of("program(v0: f32[2]) { v1: f32[2] = sin{}(v0) return v1 }"), "5c9445de0c751682635a9b6671a028ff");
}
}  // namespace

}  // namespace uni::testing_ir
