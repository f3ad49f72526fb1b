// The text of programs: printing and parsing agree, and the parser says where it stopped.
#include <limits>
#include <set>

#include "ir/params.hpp"
#include "ir/parser.hpp"
#include "ir/programs.hpp"
#include "ops/collectives.hpp"
#include "ops/list.hpp"

namespace uni::testing_ir {

namespace {
using ir::Scalar;

template <class T>
std::string text_of(const T& value) {
  std::string out;
  ir::write(out, value);
  return out;
}
template <class T>
T value_of(std::string_view text) {
  ir::Reader in(text, &ops::find_op);
  T value{};
  ir::read(in, value);
  EXPECT_TRUE(in.at_end()) << text;
  return value;
}
template <class T>
void expect_round_trip(const T& value) {
  EXPECT_EQ(value_of<T>(text_of(value)), value) << text_of(value);
}

TEST(ProgramText, TracedProgramsAreReadBack) {
  for (const Named& n : traced_programs()) {
    const std::string text = ir::print(*n.program);
    SCOPED_TRACE(n.name + "\n" + text);
    const ir::Program again = parse(text);
    EXPECT_EQ(ir::print(again), text);
    EXPECT_EQ(ir::fingerprint(again), ir::fingerprint(*n.program));
    EXPECT_EQ(again.types, n.program->types);
    ir::verify(again);
  }
}

void collect_operations(const ir::Program& p, std::set<const ir::Op*>& out) {
  for (const ir::Eqn& e : p.eqns) {
    out.insert(e.op);
    for (const ir::ProgramPtr& nested : e.params.programs()) collect_operations(*nested, out);
  }
}
// All other operations are read back from samples, in tests/ops.
TEST(ProgramText, TracedProgramsHoldEveryNestedAndCollectiveOperation) {
  std::set<const ir::Op*> found;
  for (const Named& n : traced_programs()) collect_operations(*n.program, found);
  for (const core::HigherOrder* h : ops::all_higher_order()) EXPECT_TRUE(found.contains(h)) << h->name;
  for (const ops::Primitive* row : ops::collective_rows()) EXPECT_TRUE(found.contains(row)) << row->name;
}

TEST(ProgramText, LocationsAreComments) {
  for (const Named& n : traced_programs()) {
    const std::string text = ir::print(*n.program, {.locations = true});
    EXPECT_EQ(reprinted(text), ir::print(*n.program)) << text;
  }
}

TEST(ProgramText, WhiteSpaceAndCommentsDoNotCount) {
  const std::string text = "program(v0: f32[2]) {\n  v1: f32[2] = sin{}(v0)\n  return v1\n}";
  EXPECT_EQ(reprinted(text), text);
  EXPECT_EQ(reprinted("program( v0 :f32[ 2 ] ){v1:f32[2]=sin{}( v0 )// a comment\nreturn v1}  // end"), text);
}

TEST(ProgramText, Scalars) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dtype d : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128})
    for (const double v : {0.0, -0.0, 1.0, -0.1, 1e-45, 5e-324, 65504.0, 1e308, infinity, -infinity, nan, -nan})
      expect_round_trip(Scalar::of_double(d, v));
  expect_round_trip(Scalar::of(Dtype::f32, 0x7f800123u));  // a signalling NaN with a payload
  expect_round_trip(Scalar::of(Dtype::c64, Complex<float>{-0.0f, static_cast<float>(nan)}));
  expect_round_trip(Scalar::of(Dtype::c128, Complex<double>{1.5, -infinity}));
  for (const Dtype d : {Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64, Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64,
                        Dtype::b8, Dtype::key})
    for (const i64 v :
         {i64{0}, i64{1}, i64{-1}, i64{127}, std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()})
      expect_round_trip(Scalar::of_int(d, v));
  EXPECT_EQ(text_of(Scalar::of_double(Dtype::f32, -0.0)), "f32:-0");
  EXPECT_EQ(text_of(Scalar::of_double(Dtype::f32, 0.1)), "f32:0.10000000149011612");
  EXPECT_EQ(text_of(Scalar::of_double(Dtype::f64, -infinity)), "f64:-inf");
  EXPECT_EQ(text_of(Scalar::of_double(Dtype::f32, nan)), "f32:#2143289344#0");
  EXPECT_EQ(text_of(Scalar::of_int(Dtype::u64, -1)), "u64:#18446744073709551615#0");
  EXPECT_EQ(text_of(Scalar::of_int(Dtype::i8, -1)), "i8:-1");
}

TEST(ProgramText, Numbers) {
  for (const double v : {0.0, -0.0, 0.1, 1e-300, std::numeric_limits<double>::infinity()}) expect_round_trip(v);
  const double nan = value_of<double>(text_of(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(std::isnan(nan));
  for (const i64 v : {std::numeric_limits<i64>::min(), i64{-1}, std::numeric_limits<i64>::max()}) expect_round_trip(v);
  expect_round_trip(std::optional<i64>());
  expect_round_trip(std::optional<i64>(-3));
  expect_round_trip(std::vector<std::pair<int, int>>{{0, 1}, {-1, 2}});
  expect_round_trip(true);
  expect_round_trip(Dims{0, 3, i64{1} << 40});
}

TEST(ProgramText, Strings) {
  for (const char* s :
       {"", "i", "two words", "a\"b", "\\", "\\\"", "a\nb", "// no comment", "a,b", "P(\"x\")", "\xc3\xa9"}) {
    expect_round_trip(std::string(s));
    expect_round_trip(make_mesh({{std::string("x") + s, 2}}));
    expect_round_trip(P{std::string(s), none, {std::string(s), "j"}});
  }
}

TEST(ProgramText, Types) {
  expect_round_trip(ir::Type{Dtype::bf16, {2, 0}, true, {}});
  expect_round_trip(ir::Type{Dtype::key, {}, false, {"i", "j"}});
  EXPECT_EQ(text_of(ir::Type{Dtype::f32, {2}, true, {"i", "j"}}), "f32[2]{V:i,j}*");
  for (const char* s : {"two words", "a,b", "a}b", "a\"b", "{", "", "a.b", "\xc3\xa9", "1"}) {
    expect_round_trip(ir::Type{Dtype::f32, {2}, false, {s}});
    EXPECT_NE(text_of(ir::Type{Dtype::f32, {2}, false, {s, "z"}}),
              text_of(ir::Type{Dtype::f32, {2}, false, {std::string(s) + ",z"}}));
  }
}

TEST(ProgramText, Errors) {
  struct Case {
    const char *text, *error;
  };
  const Case cases[] = {
      {"", "program text, line 1, column 1: expected \"program(\", the text ends"},
      {"programme", "program text, line 1, column 1: expected \"program(\", found \"programme\""},
      {"program(v1: f32[2]) {", "program text, line 1, column 10: input 0 is named v1"},
      {"program(v0: f33[2]) {", "program text, line 1, column 13: unknown dtype \"f33\"; did you mean \"f32\"?"},
      {"program(v0: f8_e4m3[2]) {", "program text, line 1, column 13: dtype \"f8_e4m3\" is reserved and not available"},
      {"program(v0: f32[2]) {\n  v1: f32[2] = sine{}(v0)\n  return v1\n}",
       "program text, line 2, column 16: unknown operation \"sine\""},
      {"program(v0: f32[2]) {\n  v1: f32[2] = sin{}(v7)\n  return v1\n}",
       "program text, line 2, column 23: v7 is used before it is defined"},
      {"program(v0: f32[2]) {\n  v0: f32[2] = sin{}(v0)\n  return v0\n}",
       "program text, line 2, column 4: v0 is defined twice"},
      {"program(v0: f32[2]) {\n  v1: f32[2] = sin{}(v0)\n  return v2\n}",
       "program text, line 3, column 11: v2 is used before it is defined"},
      {"program(v0: f32[2]) {\n  v1: f32[2] = sin{(v0)\n  return v1\n}",
       "program text, line 2, column 20: expected \"}\", found \"(v0)\""},
      {"program(v0: f32[2]) {\n  v1: f32[2] = reshape{shapes=[2]}(v0)\n  return v1\n}",
       "program text, line 2, column 29: expected \"=\", found \"s=[2]}(v0)\""},
      {"program(v0: f32[2]) {\n  v1: f32[2] = reshape{shape=[x]}(v0)\n  return v1\n}",
       "program text, line 2, column 31: expected a number, found \"x]}(v0)\""},
      {"program(v0: f32[2]) {\n  return v0\n}\nprogram",
       "program text, line 4, column 1: text after the program's end"},
      {"program(v0: f32[2]) {", "program text, line 1, column 22: expected \"v\", the text ends"},
      {"program(v0: f32[-2]) {", "program text, line 1, column 19: a shape has no size -2"},
      {"program() {\n  v999999999: f32[2] = sin{}()",
       "program text, line 2, column 4: v999999999 is no variable of a text of 42 characters"},
      {"program() {\n  v0: i8[] = full{value=i8:300, shape=[], weak=false}()",
       "program text, line 2, column 28: 300 does not fit i8"},
      {"program() {\n  v0: i8[] = full{value=i8:#300#0, shape=[], weak=false}()",
       "program text, line 2, column 33: the bits 300, 0 do not fit i8"},
      {"program(v0: f32[2]{V:j,i}) {", "program text, line 1, column 24: axis names are not sorted"},
  };
  for (const Case& c : cases) EXPECT_EQ(parse_error(c.text), c.error);
}

TEST(ProgramText, DeepNestingIsAnError) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "program() { = call{body=";
  EXPECT_THAT(parse_error(text), testing::HasSubstr("programs are nested more than 200 deep"));
}
}  // namespace

}  // namespace uni::testing_ir
