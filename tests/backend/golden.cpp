#include "golden.hpp"

#include <fstream>
#include <limits>

#include "base/text.hpp"

namespace uni::backend_test {

std::vector<json> golden_rows(const std::string& file, const std::string& group) {
  const std::string path = std::string(UNISONO_TEST_DATA) + "/golden/" + file + ".json";
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<json> rows;
  for (const json& row : json::parse(in))
    if (row["name"].get<std::string>().rfind(group + "/", 0) == 0) rows.push_back(row);
  EXPECT_FALSE(rows.empty()) << file << " has no rows " << group;
  return rows;
}
bool is_array(const json& value) { return value.is_object() && value.contains("dtype") && value.contains("data"); }
Dtype golden_dtype(const std::string& name) {
  static const std::map<std::string, Dtype> names = {
      {"bool", Dtype::b8},     {"int8", Dtype::i8},       {"int16", Dtype::i16},      {"int32", Dtype::i32},
      {"int64", Dtype::i64},   {"uint8", Dtype::u8},      {"uint16", Dtype::u16},     {"uint32", Dtype::u32},
      {"uint64", Dtype::u64},  {"float16", Dtype::f16},   {"bfloat16", Dtype::bf16},  {"float32", Dtype::f32},
      {"float64", Dtype::f64}, {"complex64", Dtype::c64}, {"complex128", Dtype::c128}};
  return names.at(name);
}

namespace {
double number(const json& v) {
  if (!v.is_string()) return v.get<double>();
  const std::string text = v;
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "nan" ? std::nan("") : text == "inf" ? infinity : -infinity;
}
ir::Scalar element(Dtype dtype, const json& v) {
  if (is_complex(dtype)) {
    const double re = number(v[0]), im = number(v[1]);
    if (dtype == Dtype::c128) return ir::Scalar::of(dtype, std::pair(re, im));
    return ir::Scalar::of(dtype, std::pair(static_cast<float>(re), static_cast<float>(im)));
  }
  if (is_float(dtype)) return ir::Scalar::of_double(dtype, number(v));
  if (is_bool(dtype)) return ir::Scalar::of_int(dtype, v.get<bool>());
  return ir::Scalar::of_int(dtype, v.is_number_unsigned() ? static_cast<i64>(v.get<std::uint64_t>()) : v.get<i64>());
}
double real_of(Dtype dtype, std::uint64_t bits) { return ir::Scalar{dtype, bits, 0}.to_double(); }

// Whether two floats agree.
bool agree(double got, double want, Dtype dtype, double ulp, double absolute) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want);
  if (std::isinf(got) || std::isinf(want)) return got == want;
  if (want == 0 && got == 0) return std::signbit(got) == std::signbit(want);
  const int digits = dtype == Dtype::f64 ? 52 : dtype == Dtype::f32 ? 23 : dtype == Dtype::f16 ? 10 : 7;
  const double step = want == 0 ? 0 : std::ldexp(1.0, std::ilogb(want) - digits);
  return std::fabs(got - want) <= std::max(ulp * step, absolute);
}
}  // namespace

HostArray from_golden(const json& value) {
  const Dtype dtype = golden_dtype(value["dtype"]);
  Dims shape;
  for (const json& s : value["shape"]) shape.push_back(s.get<i64>());
  std::vector<ir::Scalar> elements;
  for (const json& v : value["data"]) elements.push_back(element(dtype, v));
  return host_of(dtype, shape, elements);
}

std::string difference(const HostArray& got, const HostArray& expected, double ulp, double absolute) {
  if (got.type() != expected.type())
    return base::cat("type ", ir::to_string(got.type()), " instead of ", ir::to_string(expected.type()));
  const Dtype part = real_part(got.dtype);
  for (i64 i = 0; i < got.shape.count(); ++i) {
    const ir::Scalar a = got.element(i), b = expected.element(i);
    bool same = a == b;
    if (is_inexact(part)) {
      const bool wide = got.dtype == Dtype::c128;
      const std::uint64_t low = is_complex(got.dtype) && !wide ? 0xffffffffu : ~std::uint64_t{0};
      same = agree(real_of(part, a.low & low), real_of(part, b.low & low), part, ulp, absolute);
      if (is_complex(got.dtype))
        same = same && agree(real_of(part, wide ? a.high : a.low >> 32), real_of(part, wide ? b.high : b.low >> 32),
                             part, ulp, absolute);
    }
    if (!same)
      return base::cat("element ", i, " is ", is_inexact(got.dtype) ? a.to_double() : static_cast<double>(a.to_int()),
                       " instead of ", is_inexact(got.dtype) ? b.to_double() : static_cast<double>(b.to_int()));
  }
  return {};
}

}  // namespace uni::backend_test
