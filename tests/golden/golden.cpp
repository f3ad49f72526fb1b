#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

namespace golden {

using namespace uni;

namespace {
const std::map<std::string, Dtype> dtypes = {
    {"bool", Dtype::b8},     {"int8", Dtype::i8},       {"int16", Dtype::i16},      {"int32", Dtype::i32},
    {"int64", Dtype::i64},   {"uint8", Dtype::u8},      {"uint16", Dtype::u16},     {"uint32", Dtype::u32},
    {"uint64", Dtype::u64},  {"float16", Dtype::f16},   {"bfloat16", Dtype::bf16},  {"float32", Dtype::f32},
    {"float64", Dtype::f64}, {"complex64", Dtype::c64}, {"complex128", Dtype::c128}};

double number(const json& v) {
  if (v.is_boolean()) return v.get<bool>() ? 1 : 0;
  if (!v.is_string()) return v.get<double>();
  const auto text = v.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "-inf" ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

i64 integer(const json& v) {
  if (v.is_boolean()) return v.get<bool>() ? 1 : 0;
  return v.is_number_unsigned() ? static_cast<i64>(v.get<std::uint64_t>()) : v.get<i64>();
}

Dtype narrowed(Dtype dtype, bool wide) {
  if (wide) return dtype;
  switch (dtype) {
    case Dtype::i64:
      return Dtype::i32;
    case Dtype::u64:
      return Dtype::u32;
    case Dtype::f64:
      return Dtype::f32;
    case Dtype::c128:
      return Dtype::c64;
    default:
      return dtype;
  }
}

template <class T>
Array from(const json& data, const Dims& shape, T (*convert)(const json&)) {
  std::vector<T> values;
  for (const json& v : data) values.push_back(convert(v));
  return array(std::span<const T>(values), shape);
}

Array numeric(const json& data, const Dims& shape, Dtype dtype) {
  switch (dtype) {
    case Dtype::b8:
      return astype(
          from<std::uint8_t>(data, shape, [](const json& v) { return static_cast<std::uint8_t>(integer(v)); }),
          Dtype::b8);
    case Dtype::u64:
      return from<std::uint64_t>(data, shape, [](const json& v) { return static_cast<std::uint64_t>(integer(v)); });
    case Dtype::f64:
      return from<double>(data, shape, [](const json& v) { return number(v); });
    case Dtype::c64:
      return from<Complex<float>>(data, shape, [](const json& v) {
        return Complex<float>{static_cast<float>(number(v[0])), static_cast<float>(number(v[1]))};
      });
    case Dtype::c128:
      return from<Complex<double>>(data, shape, [](const json& v) {
        return Complex<double>{number(v[0]), number(v[1])};
      });
    case Dtype::f16:
      return from<f16>(data, shape, [](const json& v) { return f16(static_cast<float>(number(v))); });
    case Dtype::bf16:
      return from<bf16>(data, shape, [](const json& v) { return bf16(static_cast<float>(number(v))); });
    case Dtype::f32:
      return from<float>(data, shape, [](const json& v) { return static_cast<float>(number(v)); });
    default:
      return astype(from<i64>(data, shape, integer), dtype);
  }
}

Array keys_from(const json& value) {
  Dims shape = dims_from(value["shape"]);
  shape.push_back(2);
  return key_from_words(numeric(value["data"], shape, Dtype::u32)).array();
}
}  // namespace

Dtype dtype_from(const std::string& name) { return dtypes.at(name); }
std::string name_of(Dtype dtype) {
  for (const auto& [name, d] : dtypes)
    if (d == dtype) return name;
  return "key";
}

Dims dims_from(const json& value) {
  Dims out;
  for (const json& v : value) out.push_back(v.get<i64>());
  return out;
}

Array array_from(const json& value, bool wide) {
  if (value.contains("python")) {
    const auto kind = value["python"].get<std::string>();
    if (kind == "int") return Array(integer(value["data"]));
    if (kind == "complex") return numeric(json::array({value["data"]}), {}, Dtype::c64);
    return kind == "bool" ? Array(value["data"].get<bool>()) : Array(number(value["data"]));
  }
  const auto name = value["dtype"].get<std::string>();
  if (name == "key") return keys_from(value);
  return numeric(value["data"], dims_from(value["shape"]), narrowed(dtype_from(name), wide));
}

Key key_from(const json& value) { return Key(array_from(value, true)); }

Array Row::in(std::size_t i) const { return array_from(inputs.is_array() ? inputs[i] : inputs, wide()); }
Array Row::in(const std::string& key) const { return array_from(inputs[key], wide()); }
// casts.json was made in 64-bit mode throughout.
bool Row::wide() const { return params.is_object() && params.value("x64", file == "casts.json"); }

std::vector<Row> rows(const std::string& file) {
  std::ifstream in(UNISONO_TEST_DATA "/golden/" + file);
  const json all = json::parse(in);
  std::vector<Row> out;
  if (all.is_array())
    for (const json& r : all) out.push_back({file, r["name"], r["op"], r["inputs"], r["params"], r["expected"]});
  else
    for (const json& r : all["cases"])
      out.push_back({file, r["name"], r["section"], r["inputs"], r, r.contains("error") ? r : r["outputs"]});
  return out;
}

namespace {
struct Exception {
  std::string file, pattern, what, reason;
  bool matches(const Row& row) const {
    if (row.file != file) return false;
    const std::size_t star = pattern.find('%');
    if (star == std::string::npos) return row.name == pattern;
    const std::string head = pattern.substr(0, star), tail = pattern.substr(star + 1);
    return row.name.size() >= head.size() + tail.size() && row.name.starts_with(head) && row.name.ends_with(tail);
  }
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Lines "file | pattern | missing, error or differs | reason"; # starts a comment, % stands for any text.
const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> all = [] {
    std::vector<Exception> out;
    std::ifstream in(UNISONO_TEST_DATA "/golden/left_out.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::stringstream parts(line);
      std::string fields[4];
      for (std::string& f : fields) {
        std::getline(parts, f, '|');
        f = trimmed(f);
      }
      EXPECT_TRUE(fields[2] == "missing" || fields[2] == "error" || fields[2] == "differs") << line;
      EXPECT_FALSE(fields[3].empty()) << "no reason: " << line;
      out.push_back({fields[0], fields[1], fields[2], fields[3]});
    }
    return out;
  }();
  return all;
}

const Exception* exception_for(const Row& row) {
  for (const Exception& e : exceptions())
    if (e.matches(row)) return &e;
  return nullptr;
}
}  // namespace

bool left_out(const Row& row) {
  const Exception* e = exception_for(row);
  return e && e->what != "error";
}
bool must_raise(const Row& row) {
  const Exception* e = exception_for(row);
  return e && e->what == "error";
}

void check_left_out(const std::string& file) {
  const std::vector<Row> all = rows(file);
  for (const Exception& e : exceptions()) {
    if (e.file != file) continue;
    bool used = false;
    for (const Row& row : all) used = used || e.matches(row);
    EXPECT_TRUE(used) << "left_out.txt: no row of " << file << " is named " << e.pattern;
  }
}

namespace {
int fraction_bits(Dtype dtype) {
  switch (real_part(dtype)) {
    case Dtype::f16:
      return 10;
    case Dtype::bf16:
      return 7;
    case Dtype::f32:
      return 23;
    default:
      return 52;
  }
}

double rounded(Dtype dtype, double value) {
  switch (real_part(dtype)) {
    case Dtype::f16:
      return f16(static_cast<float>(value));
    case Dtype::bf16:
      return bf16(static_cast<float>(value));
    case Dtype::f32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

bool close(Dtype dtype, double want, double got, const Tolerance& t) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (want == got) return std::signbit(want) == std::signbit(got) || t.ulp > 0 || t.absolute > 0;
  if (std::isinf(want) || std::isinf(got)) return false;
  const double ulp = want == 0 ? 0 : std::ldexp(1.0, std::ilogb(want) - fraction_bits(dtype));
  return std::abs(want - got) <= std::max(t.ulp * ulp, t.absolute);
}

std::vector<double> flat(const Array& a) {
  if (!is_complex(a.dtype())) return a.to_vector<double>();
  std::vector<double> out;
  const std::vector<double> re = real(a).to_vector<double>(), im = imag(a).to_vector<double>();
  for (std::size_t i = 0; i < re.size(); ++i) {
    out.push_back(re[i]);
    out.push_back(im[i]);
  }
  return out;
}

std::string integers_differ(const json& data, const Array& got) {
  const std::vector<i64> values = astype(got, got.dtype() == Dtype::u64 ? Dtype::u64 : Dtype::i64).to_vector<i64>();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (integer(data[i]) != values[i])
      return "element " + std::to_string(i) + ": expected " + data[i].dump() + ", got " + std::to_string(values[i]);
  return "";
}

std::string floats_differ(const json& data, const Array& got, const Tolerance& tolerance) {
  std::vector<double> want;
  for (const json& v : data) {
    if (!is_complex(got.dtype())) {
      want.push_back(number(v));
      continue;
    }
    want.push_back(number(v[0]));
    want.push_back(number(v[1]));
  }
  const std::vector<double> values = flat(got);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double w = rounded(got.dtype(), want[i]);
    if (close(got.dtype(), w, values[i], tolerance)) continue;
    std::ostringstream out;
    out.precision(17);
    out << "number " << i << ": expected " << w << ", got " << values[i];
    return out.str();
  }
  return "";
}
}  // namespace

std::string difference(const json& expected, const Array& got, const Tolerance& tolerance) {
  const auto dtype = expected["dtype"].get<std::string>();
  Array a = got;
  if (a.dtype() == Dtype::key) a = Key(a).words();
  if (name_of(got.dtype()) != dtype && !(got.dtype() == Dtype::key && dtype == "uint32"))
    return "expected dtype " + dtype + ", got " + name_of(got.dtype());
  Dims shape = dims_from(expected["shape"]);
  if (dtype == "key") shape.push_back(2);
  if (!(a.shape() == shape)) return "expected shape " + expected["shape"].dump() + ", got another";
  if (expected.value("weak", false) && !got.weak()) return "expected a weak result";
  const json& data = expected["data"];
  if (is_inexact(a.dtype())) return floats_differ(data, a, tolerance);
  return integers_differ(data, a);
}

namespace {
void expect_equal(const Row& row, const json& expected, const Arrays& got, const Tolerance& tolerance) {
  if (expected.is_array()) {
    ASSERT_EQ(expected.size(), got.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(difference(expected[i], got[i], tolerance), "") << row.name << " result " << i;
    return;
  }
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(difference(expected, got[0], tolerance), "") << row.name;
}

void run_row(const Row& row, const Suite& suite) {
  SCOPED_TRACE(row.file + ": " + row.name);
  const auto handler = suite.by_op.find(row.op);
  ASSERT_TRUE(handler != suite.by_op.end()) << "no handler for the operation " << row.op;
  try {
    const Arrays got = handler->second(row);
    if (row.raises() || must_raise(row)) {
      ADD_FAILURE() << "expected an error";
      return;
    }
    expect_equal(row, row.expected, got, suite.tolerance(row));
  } catch (const std::exception& e) {
    if (!dynamic_cast<const Error*>(&e)) {
      ADD_FAILURE() << "not a uni::Error: " << e.what();
      return;
    }
    if (!row.raises() && !must_raise(row)) ADD_FAILURE() << e.what();
  }
}
}  // namespace

void run(const std::string& file, const Suite& suite) {
  check_left_out(file);
  for (const Row& row : rows(file))
    if (!left_out(row)) run_row(row, suite);
}

}  // namespace golden
