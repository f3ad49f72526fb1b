// Result dtypes against JAX's tables. Ours are those of the 64-bit mode where 64-bit operands are given, with 32-bit
// defaults for weak scalars and for results that have the default integer type.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ops/contract.hpp"
#include "ops/elementwise.hpp"

using namespace uni;
using golden::Row;

namespace {
// A scalar of "int8", or a weak one of "int*".
Array scalar_of(const std::string& name) {
  if (name == "int*") return Array(1);
  if (name == "float*") return Array(1.0);
  if (name == "complex*") return lax::convert(Array(1.0), Dtype::c64, true);
  return ones({}, golden::dtype_from(name));
}
Array vector(const Array& x) { return broadcast_to(x, {3}); }

std::string text_of(const Array& x) { return golden::name_of(x.dtype()) + (x.weak() ? "*" : ""); }

bool is_64_bit(const std::string& name) {
  return name == "int64" || name == "uint64" || name == "float64" || name == "complex128";
}
bool is_weak(const std::string& name) { return name.ends_with("*"); }

// What we give where JAX's 64-bit mode gives `expected`: weak results have the 32-bit default of their kind, unless two
// strong integers met in a float.
std::string with_32_bit_defaults(const std::string& expected, const std::vector<std::string>& operands) {
  bool all_strong = true;
  for (const std::string& o : operands) all_strong = all_strong && !is_weak(o);
  if (expected == "int64*") return "int32*";
  if (expected == "complex128*") return "complex64*";
  return expected == "float64*" && (operands.size() == 1 || !all_strong) ? "float32*" : expected;
}

using Compute = std::function<Array(const Array&)>;
template <class Options>
Compute of_vector(Array (*f)(In, const Options&)) {
  return [f](const Array& x) { return f(vector(x), {}); };
}
Compute of_scalar(Array (*f)(In)) {
  return [f](const Array& x) { return f(x); };
}

void add_elementwise(std::map<std::string, Compute>& ops) {
  ops["negative"] = of_scalar(negative);
  ops["abs"] = of_scalar(uni::abs);
  ops["sign"] = of_scalar(sign);
  ops["sqrt"] = of_scalar(uni::sqrt);
  ops["sin"] = of_scalar(uni::sin);
  ops["exp"] = of_scalar(uni::exp);
  ops["floor"] = of_scalar(uni::floor);
  ops["round"] = [](const Array& x) { return uni::round(x); };
  ops["square"] = of_scalar(square);
  ops["reciprocal"] = of_scalar(reciprocal);
  ops["invert"] = of_scalar(bitwise_not);
  ops["real"] = of_scalar(real);
  ops["angle"] = of_scalar(angle);
  ops["isnan"] = of_scalar(uni::isnan);
  ops["logical_not"] = of_scalar(logical_not);
  ops["sigmoid"] = of_scalar(sigmoid);
  ops["plus_int"] = [](const Array& x) { return x + 1; };
  ops["plus_float"] = [](const Array& x) { return x + 1.0; };
  ops["times_true"] = [](const Array& x) { return x * true; };
  ops["power_2"] = [](const Array& x) { return power(x, 2); };
  ops["power_half"] = [](const Array& x) { return power(x, 0.5); };
  ops["floor_divide_2"] = [](const Array& x) { return floor_divide(x, 2); };
  ops["mod_2"] = [](const Array& x) { return x % 2; };
  ops["divide_2"] = [](const Array& x) { return x / 2; };
  ops["shift_1"] = [](const Array& x) { return x << 1; };
  ops["maximum_0"] = [](const Array& x) { return maximum(x, 0); };
  ops["clip_0_1"] = [](const Array& x) { return clip(x, 0, 1); };
  ops["arctan2_self"] = [](const Array& x) { return atan2(x, x); };
  ops["where_float"] = [](const Array& x) { return where(true, x, 1.0); };
}

void add_arrays(std::map<std::string, Compute>& ops) {
  ops["sum"] = of_vector(sum);
  ops["prod"] = of_vector(prod);
  ops["mean"] = of_vector(mean);
  ops["var"] = of_vector(var);
  ops["std"] = of_vector(uni::std);
  ops["max"] = of_vector(max);
  ops["any"] = of_vector(any);
  ops["argmax"] = of_vector(argmax);
  ops["argsort"] = of_vector(argsort);
  ops["sort"] = of_vector(sort);
  ops["cumsum"] = of_vector(cumsum);
  ops["cumprod"] = of_vector(cumprod);
  ops["median"] = of_vector(median);
  ops["count_nonzero"] = of_vector(count_nonzero);
  ops["logsumexp"] = of_vector(logsumexp);
  ops["softmax"] = of_vector(softmax);
  ops["trace"] = [](const Array& x) { return trace(broadcast_to(x, {2, 2})); };
  ops["diff"] = of_vector(diff);
  ops["dot_self"] = [](const Array& x) { return dot(vector(x), vector(x)); };
  ops["einsum_self"] = [](const Array& x) { return einsum("i,i->", vector(x), vector(x)); };
  ops["searchsorted"] = [](const Array& x) { return searchsorted(vector(x), vector(x)); };
  ops["zeros_like"] = [](const Array& x) { return zeros_like(x); };
  ops["full_like_half"] = [](const Array& x) { return full_like(x, 0.5); };
  ops["linspace_to"] = [](const Array& x) { return linspace(0, x, 3); };
  ops["arange_dtype"] = [](const Array& x) { return arange(3, {}, 1, {.dtype = x.dtype()}); };
  ops["array_of"] = [](const Array& x) { return x; };
  ops["asarray"] = [](const Array& x) { return x; };
  ops["concat_int32"] = [](const Array& x) { return concatenate({vector(x), zeros({1}, Dtype::i32)}); };
  ops["stack_float32"] = [](const Array& x) { return stack({x, zeros({})}); };
  ops["lax_reduce_sum"] = [](const Array& x) { return lax::reduce_sum(vector(x), {0}); };
}

// Rows that name an expression of their own.
std::map<std::string, std::function<Array()>> expressions() {
  const auto z = [](Dtype d) { return zeros({2}, d); };
  std::map<std::string, std::function<Array()>> e;
  e["arange(3)"] = e["arange(int)"] = [] { return arange(3); };
  e["arange(3.)"] = e["arange(float)"] = [] { return arange(3.0); };
  e["arange(0,1,.25)"] = [] { return arange(0, 1, .25); };
  e["zeros(2)"] = e["zeros"] = [] { return zeros({2}); };
  e["ones(2)"] = [] { return ones({2}); };
  e["full(2,1)"] = e["full(int)"] = [] { return full({2}, 1); };
  e["full(2,1.)"] = e["full(float)"] = [] { return full({2}, 1.0); };
  e["eye(2)"] = e["eye"] = e["identity(2)"] = [] { return eye(2); };
  e["array(1)"] = e["asarray(1)"] = e["array(int)"] = [] { return Array(1); };
  e["array(1.)"] = e["asarray(1.)"] = e["array(float)"] = e["array(nan)"] = [] { return Array(1.0); };
  e["array(1j)"] = [] { return scalar_of("complex*"); };
  e["array(True)"] = [] { return Array(true); };
  e["array([1,2])"] = e["array(list int)"] = [] { return array({1, 2}); };
  e["array([1,2.])"] = e["asarray([1.])"] = [] { return array({1, 2.}); };
  e["array([])"] = [] { return array({}); };
  e["linspace(0,1,3)"] = e["linspace"] = [] { return linspace(0, 1, 3); };
  e["linspace int"] = [] { return linspace(0, 1, 3, {.dtype = Dtype::i32}); };
  e["array(2**40)"] = [] { return Array(i64{1} << 40); };
  e["array(-1,uint8)"] = [] { return array({-1}, {.dtype = Dtype::u8}); };
  e["float32(1)+1"] = [] { return ones({}) + 1; };
  e["1+array(1.)"] = [] { return 1 + Array(1.0); };
  e["array(1)+array(1.)"] = [] { return Array(1) + Array(1.0); };
  e["where(c,1,2.)"] = e["where(float,float)"] = [] { return where(true, 1, 2.); };
  e["where(int32,float)"] = [=] { return where(true, z(Dtype::i32), 2.); };
  e["where(bfloat16,float)"] = [=] { return where(true, z(Dtype::bf16), 2.); };
  e["sum(array(1))"] = [] { return sum(Array(1)); };
  e["tri(2)"] = e["tri"] = [] { return tril(ones({2, 2})); };
  e["iota int32"] = [] { return arange(3); };
  e["normal"] = [] { return normal(Key(0), {2}); };
  e["randint"] = [] { return randint(Key(0), {2}, 0, 3); };
  e["nonzero"] = [] { return nonzero(array({1, 0}))[0]; };
  e["count_nonzero"] = [] { return count_nonzero(array({1, 0})); };
  e["searchsorted"] = [] { return searchsorted(array({1, 2}), array({1})); };
  e["one_hot"] = [] { return one_hot(array({1, 0}), 2); };
  e["argmax"] = [] { return argmax(array({1, 0})); };
  e["argsort"] = [] { return argsort(array({1, 0})); };
  e["int32/int32"] = [=] { return z(Dtype::i32) / z(Dtype::i32); };
  e["int8/int8"] = [=] { return z(Dtype::i8) / z(Dtype::i8); };
  e["bool/bool"] = [=] { return z(Dtype::b8) / z(Dtype::b8); };
  e["int32//int32"] = [=] { return floor_divide(z(Dtype::i32), z(Dtype::i32)); };
  e["int32**int32"] = [=] { return power(z(Dtype::i32), z(Dtype::i32)); };
  e["bool+bool"] = [=] { return z(Dtype::b8) + z(Dtype::b8); };
  e["bool*bool"] = [=] { return z(Dtype::b8) * z(Dtype::b8); };
  e["int8*int"] = [=] { return z(Dtype::i8) * 2; };
  e["int8*float"] = [=] { return z(Dtype::i8) * 2.0; };
  e["bool*float"] = [=] { return z(Dtype::b8) * 2.0; };
  e["bfloat16*float"] = [=] { return z(Dtype::bf16) * 2.0; };
  e["bfloat16*np.float32"] = [=] { return z(Dtype::bf16) * ones({}); };
  e["iota_like arange(uint8)"] = [] { return arange(3, {}, 1, {.dtype = Dtype::u8}); };
  return e;
}

// The result as text, or "error".
std::string result(const std::function<Array()>& f) {
  try {
    return text_of(f());
  } catch (const Error&) {
    return "error";
  }
}

std::string expected_of(const Row& row, const std::vector<std::string>& operands) {
  if (row.raises() || golden::must_raise(row)) return "error";
  const auto text = row.expected.get<std::string>();
  if (!row.name.starts_with("x64/")) return text;
  if (row.op == "concat_int32") return with_32_bit_defaults(text, {operands[0], "int32"});
  const bool default_integer = row.op == "argmax" || row.op == "argsort" || row.op == "count_nonzero";
  return default_integer ? "int32" : with_32_bit_defaults(text, operands);
}

std::vector<std::string> operands_of(const Row& row) { return row.inputs.get<std::vector<std::string>>(); }

// "sum(int8)" -> sum and int8.
Array compute_named(const std::map<std::string, Compute>& ops, const std::string& text) {
  const std::size_t open = text.find('(');
  std::string op = text.substr(0, open);
  if (op == "dot" || op == "einsum") op += "_self";
  const auto f = ops.find(op);
  if (f == ops.end()) throw InternalError("no handler for the operation " + text);
  return f->second(scalar_of(text.substr(open + 1, text.size() - open - 2)));
}

void check_row(const Row& row, const std::map<std::string, Compute>& ops,
               const std::map<std::string, std::function<Array()>>& made) {
  const std::vector<std::string> in = operands_of(row);
  const std::string expected = expected_of(row, in);
  if (row.op == "promote" || row.op == "add" || row.op == "true_divide") {
    const bool divide = row.op == "true_divide";
    const auto f = [&] {
      const Array a = scalar_of(in[0]), b = scalar_of(in[1]);
      return divide ? a / b : a + b;
    };
    EXPECT_EQ(result(f), expected) << row.name;
    return;
  }
  const std::string expression = row.op == "made" ? row.params["expression"].get<std::string>() : row.op;
  if (const auto e = made.find(expression); in.empty() && e != made.end()) {
    EXPECT_EQ(result(e->second), expected) << row.name;
    return;
  }
  if (in.empty()) {
    EXPECT_EQ(result([&] { return compute_named(ops, row.op); }), expected) << row.name;
    return;
  }
  const auto f = ops.find(row.op);
  ASSERT_TRUE(f != ops.end()) << "no handler for the operation " << row.op << " of " << row.name;
  EXPECT_EQ(result([&] { return f->second(scalar_of(in[0])); }), expected) << row.name;
}

// The 64-bit tables repeat the 32-bit ones for narrow operands, with wider defaults that we do not have: of functions
// of one operand only those of 64-bit operands are looked at.
bool decided_by_32_bit_rows(const Row& row) {
  if (!row.name.starts_with("x64/") || row.op == "promote" || row.op == "add" || row.op == "true_divide") return false;
  for (const std::string& name : operands_of(row))
    if (is_64_bit(name)) return false;
  return true;
}

void run_file(const std::string& file) {
  golden::check_left_out(file);
  std::map<std::string, Compute> ops;
  add_elementwise(ops);
  add_arrays(ops);
  const auto made = expressions();
  for (const Row& row : golden::rows(file))
    if (!golden::left_out(row) && !decided_by_32_bit_rows(row)) check_row(row, ops, made);
}

TEST(Golden, Promotion) { run_file("promotion.json"); }
TEST(Golden, CorePromotion) { run_file("core_promotion.json"); }
}  // namespace
