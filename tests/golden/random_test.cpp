// Keys and samplers against JAX: bits, integers and uniform numbers exactly, what goes through log or erf_inv to a few
// ULP.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

#include "ops/random.hpp"

using namespace uni;
using golden::Row;

namespace {
// The key of a row: an input, or the seed or words among the parameters.
Key key_of(const Row& row) {
  if (row.params.contains("seed")) return Key(row.params["seed"].get<i64>());
  if (row.params.contains("key")) {
    const auto words = row.params["key"].get<std::vector<std::uint32_t>>();
    return Key((static_cast<i64>(words[0]) << 32) | words[1]);
  }
  return golden::key_from(row.inputs[0]);
}
Dims shape_of(const Row& row, const Dims& otherwise = {2}) {
  return row.params.contains("shape") ? golden::dims_from(row.params["shape"]) : otherwise;
}
Dtype dtype_of(const Row& row, Dtype otherwise) {
  return row.params.contains("dtype") ? golden::dtype_from(row.params["dtype"]) : otherwise;
}
Array words(const Key& key) { return key.array(); }

using Sampler = Array (*)(const Key&, const Dims&, const SampleOptions&, Location);
golden::Handler plain(Sampler f) {
  return [f](const Row& row) -> Arrays {
    return {f(key_of(row), shape_of(row), {.dtype = dtype_of(row, Dtype::f32)}, Location::current())};
  };
}
golden::Handler integers(i64 low, i64 high) {
  return [=](const Row& row) -> Arrays {
    return {randint(key_of(row), shape_of(row), low, high, {.dtype = dtype_of(row, Dtype::i32)})};
  };
}
golden::Handler range(double low, double high) {
  return [=](const Row& row) -> Arrays {
    return {uniform(key_of(row), shape_of(row), {.low = low, .high = high, .dtype = dtype_of(row, Dtype::f32)})};
  };
}
golden::Handler truncated(double low, double high) {
  return [=](const Row& row) -> Arrays {
    return {truncated_normal(key_of(row), low, high, shape_of(row), {.dtype = dtype_of(row, Dtype::f32)})};
  };
}

Array threefry_of(const Array& key, const Array& counter) {
  const auto k = key.to_vector<std::uint32_t>(), c = counter.to_vector<std::uint32_t>();
  const ops::Words block = ops::threefry2x32({k[0], k[1]}, {c[0], c[1]});
  const std::uint32_t words[] = {block.a, block.b};
  return array(std::span<const std::uint32_t>(words), {2});
}

void add_keys(golden::Suite& suite) {
  suite.by_op["threefry2x32"] = [](const Row& row) -> Arrays {
    if (row.inputs.is_array()) return {threefry_of(row.in(0), row.in(1))};
    return {threefry_of(row.in("key"), row.in("counter"))};
  };
  suite.by_op["key"] = [](const Row& row) -> Arrays {
    if (!row.params["seed"].is_number_integer()) throw Error("Key takes integers only, so this does not compile");
    return {words(Key(row.params["seed"].get<i64>()))};
  };
  suite.by_op["split"] = [](const Row& row) -> Arrays {
    const auto& n = row.params.contains("num") ? row.params["num"] : row.params["n"];
    const Key key = key_of(row);
    if (n.is_array()) return {reshape(split_batch(key, 6).array(), golden::dims_from(n))};
    Arrays children;
    for (const Key& child : split(key, n.get<int>())) children.push_back(child.array());
    const Array batch = split_batch(key, n.get<i64>()).array();
    EXPECT_TRUE(array_equal(stack(children), batch).item<bool>()) << row.name;
    return {batch};
  };
  suite.by_op["fold_in"] = [](const Row& row) -> Arrays {
    return {words(fold_in(key_of(row), row.params["data"].get<i64>()))};
  };
  suite.by_op["bits"] = [](const Row& row) -> Arrays {
    constexpr Dtype by_width[] = {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u32, Dtype::u64};
    const Dtype dtype =
        row.params.contains("width") ? by_width[row.params["width"].get<int>() / 16] : dtype_of(row, Dtype::u32);
    return {bits(key_of(row), shape_of(row), {.dtype = dtype})};
  };
  suite.by_op["erf_inv"] = [](const Row& row) -> Arrays { return {erf_inv(row.in(0))}; };
  suite.by_op["add"] = [](const Row& row) -> Arrays { return {key_of(row).array() + 1}; };
}

void add_samplers(golden::Suite& suite) {
  suite.by_op["uniform"] = [](const Row& row) -> Arrays {
    return {uniform(key_of(row), shape_of(row),
                    {.low = row.params.value("minval", 0.0),
                     .high = row.params.value("maxval", 1.0),
                     .dtype = dtype_of(row, Dtype::f32)})};
  };
  suite.by_op["uniform_-2_5"] = range(-2, 5);
  suite.by_op["uniform_1_1"] = range(1, 1);
  suite.by_op["uniform_2_1"] = range(2, 1);
  suite.by_op["normal"] = [](const Row& row) -> Arrays {
    return {normal(key_of(row), shape_of(row), {.dtype = dtype_of(row, Dtype::f32)})};
  };
  suite.by_op["truncated_normal"] = truncated(-2, 2);
  suite.by_op["truncated_normal_-2_2"] = truncated(-2, 2);
  suite.by_op["truncated_normal_1_3"] = truncated(1, 3);
  suite.by_op["gumbel"] = plain(gumbel);
  suite.by_op["exponential"] = plain(exponential);
  suite.by_op["laplace"] = plain(laplace);
  suite.by_op["logistic"] = plain(logistic);
  suite.by_op["cauchy"] = plain(cauchy);
  suite.by_op["rademacher"] = [](const Row& row) -> Arrays {
    return {rademacher(key_of(row), shape_of(row), {.dtype = dtype_of(row, Dtype::i32)})};
  };
  suite.by_op["bernoulli"] = [](const Row& row) -> Arrays {
    const auto& p = row.params["p"];
    if (!p.is_array()) return {bernoulli(key_of(row), p.get<double>(), shape_of(row))};
    const auto values = p.get<std::vector<float>>();
    const Array probabilities = array(std::span<const float>(values), {static_cast<i64>(values.size())});
    return {bernoulli(key_of(row), probabilities, probabilities.shape())};
  };
  suite.by_op["randint"] = [](const Row& row) -> Arrays {
    const bool long_names = row.params.contains("minval");
    const i64 low = row.params[long_names ? "minval" : "min"], high = row.params[long_names ? "maxval" : "max"];
    return {randint(key_of(row), shape_of(row, {5}), low, high, {.dtype = dtype_of(row, Dtype::i32)})};
  };
  suite.by_op["randint_0_10"] = integers(0, 10);
  suite.by_op["randint_-5_5"] = integers(-5, 5);
  suite.by_op["randint_full8"] = integers(0, 256);
  suite.by_op["randint_full"] = integers(0, 256);
  suite.by_op["randint_max"] = integers(0, i64{1} << 32);
  suite.by_op["randint_wide"] = integers(-(i64{1} << 31), (i64{1} << 31) - 1);
  suite.by_op["randint_empty"] = integers(5, 5);
  suite.by_op["randint_reversed"] = integers(5, 2);
  suite.by_op["randint_0_2**40"] = integers(0, i64{1} << 40);
}

void add_choices(golden::Suite& suite) {
  suite.by_op["permutation"] = [](const Row& row) -> Arrays {
    if (row.params.contains("n")) return {permutation(key_of(row), row.params["n"].get<i64>())};
    return {permutation(key_of(row), row.in(0),
                        {.axis = row.params["axis"].get<int>(), .independent = row.params["independent"].get<bool>()})};
  };
  suite.by_op["categorical"] = [](const Row& row) -> Arrays {
    CategoricalOptions options{.axis = row.params.value("axis", -1), .replace = row.params.value("replace", true)};
    if (row.params.contains("shape")) options.shape = shape_of(row);
    return {categorical(key_of(row), row.inputs.is_array() ? row.in(1) : row.in("logits"), options)};
  };
  suite.by_op["choice"] = [](const Row& row) -> Arrays {
    ChoiceOptions options{.replace = row.params.value("replace", true)};
    if (row.inputs.is_object() && row.inputs.contains("p")) options.p = row.in("p");
    if (row.inputs.is_array() && row.inputs.size() > 1) options.p = row.in(1);
    if (!row.params.contains("n")) return {choice(key_of(row), row.in(0), shape_of(row), options)};
    return {choice(key_of(row), row.params["n"].get<i64>(), shape_of(row), options)};
  };
  suite.by_op["vmap(uniform)"] = [](const Row& row) -> Arrays {
    const Key key = key_of(row);
    if (!row.params.contains("lanes")) return {vmap([](const Key& k) { return uniform(k, {2}); })(key)};
    return {vmap([&](const Array&) { return uniform(key, {2}); })(arange(row.params["lanes"].get<int>()))};
  };
  suite.by_op["vmap(fold_in)"] = [](const Row& row) -> Arrays {
    const Key key = key_of(row);
    return {vmap([&](const Array& i) { return fold_in(key, i).array(); })(arange(3))};
  };
}

// Exact, or the ULP that log and erf_inv may be off.
golden::Tolerance tolerance_of(const Row& row) {
  const std::string& op = row.op;
  if (op.starts_with("normal") || op.starts_with("truncated")) return {.ulp = 4, .absolute = 1e-7};
  if (op == "gumbel" || op == "exponential" || op == "laplace" || op == "cauchy") return {.ulp = 8, .absolute = 1e-7};
  if (op == "erf_inv") return {.ulp = 4};
  if (op == "logistic") return {.ulp = 8, .absolute = 5e-7};
  return {};
}

golden::Suite suite() {
  golden::Suite s;
  add_keys(s);
  add_samplers(s);
  add_choices(s);
  s.tolerance = tolerance_of;
  return s;
}

TEST(Golden, Random) { golden::run("random.json", suite()); }
TEST(Golden, CoreRandom) { golden::run("core_random.json", suite()); }
}  // namespace
