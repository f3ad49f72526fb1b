// Values of element-wise functions, reductions and conversions at the points where languages differ.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "ops/elementwise.hpp"

using namespace uni;
using golden::Row;

namespace {
using Binary = Array (*)(In, In);
using Unary = Array (*)(In);
golden::Handler two(Binary f) {
  return [f](const Row& row) -> Arrays { return {f(row.in(0), row.in(1))}; };
}
golden::Handler one(Unary f) {
  return [f](const Row& row) -> Arrays { return {f(row.in(0))}; };
}
// A function with options that the row does not use.
template <class Options>
golden::Handler plain(Array (*f)(In, const Options&)) {
  return [f](const Row& row) -> Arrays { return {f(row.in(0), Options{})}; };
}
Dtype dtype_of(const Row& row) { return golden::dtype_from(row.params["dtype"].get<std::string>()); }

// Sums of many equal elements: the value, how many of them and in which dtype.
Array repeated(const Row& row) {
  return full({row.params["n"].get<i64>()}, row.in(0).item<double>(), {.dtype = dtype_of(row)});
}
golden::Handler accumulated(Array (*f)(In, const SumOptions&)) {
  return [f](const Row& row) -> Arrays {
    if (row.params.contains("n")) return {f(repeated(row), {})};
    if (!row.params.contains("what")) return {f(row.in(0), {})};
    const std::string dtype = row.name.substr(row.name.rfind('/') + 1);
    const Array ones_of = ones({4096}, golden::dtype_from(dtype));
    const Array ramp = astype(arange(1, 4097), golden::dtype_from(dtype));
    return {f(row.name.find("ramp") != std::string::npos ? ramp : ones_of, {})};
  };
}

void add_arithmetic(golden::Suite& s) {
  s.by_op["floor_divide"] = two(floor_divide);
  s.by_op["mod"] = two(mod);
  s.by_op["lax_rem"] = two(rem);
  s.by_op["fmod"] = two(rem);
  s.by_op["lax_div"] = [](const Row& row) -> Arrays { return {lax::div(row.in(0), row.in(1))}; };
  s.by_op["left_shift"] = two(left_shift);
  s.by_op["shift_left"] = two(left_shift);
  s.by_op["right_shift"] = two(right_shift);
  s.by_op["shift_jnp_right"] = two(right_shift);
  s.by_op["shift_right_arithmetic"] = [](const Row& row) -> Arrays {
    return {lax::shift_right_arithmetic(row.in(0), row.in(1))};
  };
  s.by_op["right_logical"] = two(right_shift_logical);
  s.by_op["shift_right_logical"] = two(right_shift_logical);
  s.by_op["add"] = [](const Row& row) -> Arrays { return {row.in(0) + row.in(row.inputs.size() > 1 ? 1 : 0)}; };
  s.by_op["subtract"] = two(subtract);
  s.by_op["multiply"] = two(multiply);
  s.by_op["mul"] = [](const Row& row) -> Arrays { return {row.in(0) * row.in(0)}; };
  s.by_op["maximum"] = two(maximum);
  s.by_op["minimum"] = two(minimum);
  s.by_op["neg"] = one(negative);
  s.by_op["abs"] = one(uni::abs);
  s.by_op["sign"] = one(sign);
  s.by_op["square"] = one(square);
  s.by_op["invert"] = one(bitwise_not);
  s.by_op["plus_1"] = [](const Row& row) -> Arrays { return {row.in(0) + 1}; };
  s.by_op["minus_1"] = [](const Row& row) -> Arrays { return {row.in(0) - 1}; };
  s.by_op["power_3"] = [](const Row& row) -> Arrays { return {power(row.in(0), 3)}; };
  s.by_op["dot"] = [](const Row& row) -> Arrays { return {dot(row.in(0), row.in(0))}; };
  s.by_op["round"] = plain(uni::round);
}

void add_reductions(golden::Suite& s) {
  s.by_op["sum"] = accumulated(sum);
  s.by_op["mean"] = accumulated(mean);
  s.by_op["sum_same"] = [](const Row& row) -> Arrays {
    const Array x = row.in(0);
    return {sum(x, {.dtype = x.dtype()})};
  };
  s.by_op["prod"] = plain(prod);
  s.by_op["max"] = plain(max);
  s.by_op["min"] = plain(min);
  s.by_op["argmax"] = plain(argmax);
  s.by_op["argmin"] = plain(argmin);
  s.by_op["any"] = plain(any);
  s.by_op["all"] = plain(all);
  s.by_op["nanmax"] = plain(nanmax);
  s.by_op["nanmin"] = plain(nanmin);
  s.by_op["nansum"] = plain(nansum);
  s.by_op["median"] = plain(median);
  s.by_op["logsumexp"] = plain(logsumexp);
  s.by_op["sort"] = plain(sort);
  s.by_op["argsort"] = [](const Row& row) -> Arrays {
    return {argsort(row.in(0), {.descending = row.params.value("descending", false)})};
  };
  s.by_op["cumsum"] = [](const Row& row) -> Arrays {
    if (!row.params.contains("what")) return {cumsum(row.in(0))};
    const std::string dtype = row.name.substr(row.name.rfind('/') + 1);
    return {cumsum(ones({1024}, golden::dtype_from(dtype)))[-1]};
  };
}

Array constant_expression(const std::string& text) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto scalar = [](auto value, Dtype dtype) { return astype(Array(value), dtype); };
  if (text == "int8+300") return scalar(1, Dtype::i8) + 300;
  if (text == "uint8-1") return scalar(0, Dtype::u8) - 1;
  if (text == "uint8+-1") return scalar(1, Dtype::u8) + (-1);
  if (text == "int32+2**31") return scalar(1, Dtype::i32) + (i64{1} << 31);
  if (text == "array(2**31)") return array({i64{1} << 31});
  if (text == "uint32(2**32)") return array({i64{1} << 32}, {.dtype = Dtype::u32});
  if (text == "numpy_int64_2**40") return full({}, i64{1} << 40, {.dtype = Dtype::i32});
  if (text == "array(1e300)") return Array(1e300);
  if (text == "numpy_f64_1e300") return full({}, 1e300, {.dtype = Dtype::f32});
  if (text == "float16(1)+70000.") return scalar(1, Dtype::f16) + 70000.0;
  if (text == "bf16(1)+2**-9") return scalar(1, Dtype::bf16) + 0x1p-9;
  if (text == "array(300,int8)") return full({}, 300, {.dtype = Dtype::i8});
  if (text == "full(2,300,int8)") return full({2}, 300, {.dtype = Dtype::i8});
  if (text == "array(1.7,int32)") return full({}, 1.7, {.dtype = Dtype::i32});
  if (text == "array(nan,int32)") return full({}, nan, {.dtype = Dtype::i32});
  ADD_FAILURE() << "no expression " << text;
  return Array(0);
}

void add_conversions(golden::Suite& s) {
  s.by_op["astype"] = [](const Row& row) -> Arrays { return {astype(row.in(0), dtype_of(row))}; };
  s.by_op["astype then bitcast"] = [](const Row& row) -> Arrays {
    const Array x = astype(row.in(0), dtype_of(row));
    return {bitcast(x, golden::dtype_from(row.expected["dtype"].get<std::string>()))};
  };
  s.by_op["bitcast_convert_type"] = [](const Row& row) -> Arrays {
    const Array x = row.in(0), bits = bitcast(x, dtype_of(row));
    return {row.name.ends_with("/back") ? bitcast(bits, x.dtype()) : bits};
  };
  s.by_op["constant"] = [](const Row& row) -> Arrays {
    return {constant_expression(row.params["expression"].get<std::string>())};
  };
}

golden::Suite suite() {
  golden::Suite s;
  add_arithmetic(s);
  add_reductions(s);
  add_conversions(s);
  // JAX multiplies by the rounded reciprocal of the count.
  s.tolerance = [](const Row& row) { return golden::Tolerance{.ulp = row.op == "mean" ? 1.0 : 0.0}; };
  return s;
}

TEST(Golden, Numerics) { golden::run("numerics.json", suite()); }
TEST(Golden, Casts) { golden::run("casts.json", suite()); }
}  // namespace
