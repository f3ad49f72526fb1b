// Rows of expected values (tests/data/golden/*.json) and the comparison with them. Every row is run, except those that
// tests/data/golden/left_out.txt names with a reason.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <unisono/unisono.hpp>

namespace golden {

using json = nlohmann::json;
using uni::Array;
using uni::Arrays;

struct Row {
  std::string file, name, op;
  json inputs, params, expected;

  // Input number i, or by name. 64-bit inputs are narrowed unless the row was made in 64-bit mode.
  Array in(std::size_t i) const;
  Array in(const std::string& key) const;
  bool wide() const;
  bool raises() const { return expected.is_object() && expected.contains("error"); }
};

uni::Dtype dtype_from(const std::string& name);  // "float32"
std::string name_of(uni::Dtype dtype);           // "float32"
Array array_from(const json& value, bool wide);
uni::Dims dims_from(const json& value);
uni::Key key_from(const json& value);

struct Tolerance {
  double ulp = 0;       // of the expected value in its dtype
  double absolute = 0;  // either suffices
};
// Where the array differs from the expected one, as text; empty when it does not.
std::string difference(const json& expected, const Array& got, const Tolerance& tolerance);

// How a row is computed: the results, one or several.
using Handler = std::function<Arrays(const Row&)>;
struct Suite {
  std::map<std::string, Handler> by_op;
  std::function<Tolerance(const Row&)> tolerance = [](const Row&) { return Tolerance{}; };
};
// Runs every row of the file that is not left out. Expected errors must be uni::Error.
void run(const std::string& file, const Suite& suite);

// All rows of a file (of parallel.json the op is the section and the params are the whole case), and whether one is
// left out (used by tests that compare something else than arrays).
std::vector<Row> rows(const std::string& file);
bool left_out(const Row& row);
// Fails when a line of left_out.txt for this file matches no row.
void check_left_out(const std::string& file);
// Whether left_out.txt says that we raise an error where the row has a value.
bool must_raise(const Row& row);

}  // namespace golden
