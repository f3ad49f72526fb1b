// Rows of expected values (tests/data/golden/*.json) as host arrays.
#pragma once
#include <nlohmann/json.hpp>

#include "build.hpp"

namespace uni::backend_test {

using nlohmann::json;

// The rows of a file whose name begins with "group/".
std::vector<json> golden_rows(const std::string& file, const std::string& group);
bool is_array(const json& value);
HostArray from_golden(const json& value);
Dtype golden_dtype(const std::string& name);  // "float32"

// Empty, or where the arrays differ: dtypes, shapes, NaN, infinities and signs of zero must agree; floats by `ulp` of
// the expected value, or by `absolute`.
std::string difference(const HostArray& got, const HostArray& expected, double ulp = 0, double absolute = 0);

}  // namespace uni::backend_test
