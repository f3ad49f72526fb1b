// Programs that must not compile, and the sentence that their author reads.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {
struct Compiled {
  bool ok = false;
  std::string output;
};
Compiled run(const std::string& command) {
  Compiled result;
  FILE* pipe = popen(("LC_ALL=C " + command + " 2>&1").c_str(), "r");
  if (!pipe) return {false, "the compiler did not start"};
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), n);
  result.ok = pclose(pipe) == 0;
  return result;
}

// A folder with the public header, compiled once for all tests.
class CompileFail : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::filesystem::path(testing::TempDir()) / ("unisono_compile_fail_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder());
    const std::string include = std::string(UNISONO_SOURCE_DIR) + "/include";
    const Compiled c = run(compiler() + " -x c++-header " + include + "/unisono/unisono.hpp -I" + include + " -o " +
                           (folder() / "all.hpp.gch").string());
    ASSERT_TRUE(c.ok) << c.output;
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
  static std::filesystem::path& folder() {
    static std::filesystem::path path;
    return path;
  }
  static std::string compiler() {
    const char* given = std::getenv("CXX");
    return std::string(given && *given ? given : "g++") + " -std=c++20";
  }
  static Compiled compile(const std::string& body) {
    std::ofstream(folder() / "test.cpp") << "using namespace uni;\n" << body << "\n";
    return run(compiler() + " -fsyntax-only -include " + (folder() / "all.hpp").string() + " " +
               (folder() / "test.cpp").string());
  }
  // The sentence stands in the first error, or in the line of the library that the first error points to.
  static void expect_refused(const std::string& body, const std::string& sentence) {
    const Compiled c = compile(body);
    EXPECT_FALSE(c.ok) << body;
    const std::size_t first = c.output.find("error: ");
    const std::size_t second = c.output.find("error: ", first + 1);
    EXPECT_THAT(c.output.substr(0, second), testing::HasSubstr(sentence)) << body;
  }
};

TEST_F(CompileFail, SoundProgramsCompile) {
  const Compiled c = compile("struct M { Array w; int n; }; auto f(const M& m) { return tree_map(uni::exp, m); }");
  EXPECT_TRUE(c.ok) << c.output;
}

TEST_F(CompileFail, CArrayInATree) {
  expect_refused("struct M { Array w[2]; }; auto f(const M& m) { return tree_leaves(m); }",
                 "a struct with a C array cannot be a tree: use std::array");
  expect_refused("struct M { Array w; int n[3]; Array b; }; auto f(const M& m) { return tree_leaves(m); }",
                 "a struct with a C array cannot be a tree: use std::array");
  expect_refused("auto f() { Array w[2]; return tree_leaves(w); }",
                 "a C array cannot be part of a tree: use std::array");
}

TEST_F(CompileFail, BaseClassInATree) {
  expect_refused("struct B { Array b; }; struct M : B { Array w; }; auto f(const M& m) { return tree_leaves(m); }",
                 "a struct with a base class cannot be a tree: make the base a field");
}

TEST_F(CompileFail, ClassWithConstructors) {
  expect_refused(
      "class M { public: M(int); Array w; }; auto f(const M& m) { return tree_leaves(m); }",
      "this type is no tree: use a plain aggregate struct of Arrays, numbers, strings and containers of them");
}

TEST_F(CompileFail, TooManyFields) {
  std::string fields;
  for (int i = 0; i < 65; ++i) fields += "Array a" + std::to_string(i) + "; ";
  expect_refused("struct M { " + fields + "}; auto f(const M& m) { return tree_leaves(m); }",
                 "a struct of more than 64 fields cannot be a tree: group them in structs");
}

TEST_F(CompileFail, FunctionsToTransform) {
  const std::string nothing = "a transformed function must return its results, void has none";
  expect_refused("auto f() { return jit([](const Array&) {})(zeros({2})); }", nothing);
  expect_refused("auto f() { return vmap([](const Array&) {})(zeros({2})); }", nothing);
  expect_refused("auto f() { return pmap([](const Array&) {}, {.axis = \"i\"})(zeros({2})); }", nothing);
  expect_refused("auto f() { return jit([](const Array& x) { return x; })(zeros({2}), zeros({2})); }",
                 "the function cannot be called with these arguments");
  expect_refused("auto f() { return jit([](Array& x) { return x; })(zeros({2})); }",
                 "the function cannot be called with these arguments (as const values");
  expect_refused("auto f() { return grad([](const Array& x) { return std::vector<Array>{x}; })(zeros({2})); }",
                 "a function to differentiate must return one scalar Array, or a pair of it and auxiliary results");
  expect_refused("auto f() { return grad<1>([](const Array& x) { return x; })(zeros({})); }",
                 "an argument number is out of range");
}

TEST_F(CompileFail, CustomRules) {
  const std::string own = "const auto own = [](const Array& x) { return x * x; }; ";
  expect_refused(own + "auto f() { return custom_jvp(own, own)(zeros({})); }",
                 "the rule of a custom_jvp takes (argument, tangent), or two std::tuple of several arguments");
  expect_refused(own + "auto f() { return custom_jvp(own, [](Array x, Array) { return x; })(zeros({})); }",
                 "the rule of a custom_jvp must return a pair of the function's result and its tangent");
  expect_refused(own + "auto f() { return custom_vjp(own, own, [](Array, Array c) { return c; })(zeros({})); }",
                 "the forward rule of a custom_vjp must return a pair of the function's result and the residuals");
  expect_refused(own +
                     "auto f() { return custom_vjp(own, [](Array x) { return std::pair{x, x}; }, own)"
                     "(zeros({})); }",
                 "the backward rule of a custom_vjp takes (residuals, cotangent of the result)");
}

TEST_F(CompileFail, ArraysHaveNoTruthValue) {
  const std::string sentence = "no truth value: where(x, a, b), or x.item<bool>() outside traced code";
  expect_refused("void f(const Array& x) { if (x) return; }", sentence);
  expect_refused("void f(const Array& x) { while (x > 0) return; }", sentence);
  expect_refused("bool f(const Array& x) { return !x; }", sentence);
  expect_refused("bool f(const Array& x, const Array& y) { return x && y; }", sentence);
  expect_refused("double f(const Array& x) { return x; }", "cannot convert 'const uni::Array' to 'double'");
  expect_refused("auto f(const Array& x) { return x.to_vector<bool>(); }",
                 "to_vector<bool>: use to_vector<std::uint8_t>");
}

TEST_F(CompileFail, PartsAreNotAssigned) {
  expect_refused("void f(Array x) { x[0] = 1.0; }", "parts are not assigned: x = x.at({...}).set(v)");
  expect_refused("void f(Array x, Array y) { x[0] = y; }", "parts are not assigned: x = x.at({...}).set(v)");
  expect_refused("void f(Array x, Array y) { x[{0, slice()}] += y; }",
                 "rebinds the handle; of parts: x = x.at({...}).add(v)");
  expect_refused("void f(Array x, Array y) { x + y = x; }", "parts are not assigned");
}

TEST_F(CompileFail, OptionsTakeWhatTheySay) {
  const std::string options = "SumOptions&";
  expect_refused("auto f(const Array& x) { return sum(x, {0, 1}); }", options);
  expect_refused("auto f(const Array& x) { return sum(x, {.keepdims = 1}); }", options);
  expect_refused("auto f(const Array& x) { return sum(x, 0); }", options);
  expect_refused("auto f(const Array& x) { return x[none]; }", "no match for 'operator[]'");
  expect_refused("auto f(const Array& x) { return x[1.5]; }", "no match for 'operator[]'");
}
}  // namespace
