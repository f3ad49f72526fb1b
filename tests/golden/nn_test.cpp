// Activations, attention and initialisers against JAX. Expected values were computed in f64 where JAX does.
#include "golden/golden.hpp"

#include <gtest/gtest.h>

using namespace uni;
using golden::Row;

namespace {
using Function = std::function<Array(const Array&)>;

const std::map<std::string, Function>& activations() {
  static const std::map<std::string, Function> all = {
      {"relu", [](const Array& x) { return nn::relu(x); }},
      {"relu6", [](const Array& x) { return nn::relu6(x); }},
      {"leaky_relu", [](const Array& x) { return nn::leaky_relu(x); }},
      {"leaky_relu .2", [](const Array& x) { return nn::leaky_relu(x, {.negative_slope = 0.2}); }},
      {"elu", [](const Array& x) { return nn::elu(x); }},
      {"elu 2", [](const Array& x) { return nn::elu(x, {.alpha = 2}); }},
      {"celu", [](const Array& x) { return nn::celu(x); }},
      {"celu .5", [](const Array& x) { return nn::celu(x, {.alpha = 0.5}); }},
      {"selu", [](const Array& x) { return nn::selu(x); }},
      {"gelu", [](const Array& x) { return nn::gelu(x); }},
      {"gelu exact", [](const Array& x) { return nn::gelu(x, {.approximate = false}); }},
      {"silu", [](const Array& x) { return nn::silu(x); }},
      {"softplus", [](const Array& x) { return nn::softplus(x); }},
      {"log_sigmoid", [](const Array& x) { return nn::log_sigmoid(x); }},
      {"mish", [](const Array& x) { return nn::mish(x); }},
      {"squareplus", [](const Array& x) { return nn::squareplus(x); }},
      {"squareplus 1", [](const Array& x) { return nn::squareplus(x, {.b = 1}); }},
      {"soft_sign", [](const Array& x) { return nn::soft_sign(x); }},
      {"hard_tanh", [](const Array& x) { return nn::hard_tanh(x); }},
      {"hard_sigmoid", [](const Array& x) { return nn::hard_sigmoid(x); }},
      {"hard_silu", [](const Array& x) { return nn::hard_silu(x); }},
      {"sparse_plus", [](const Array& x) { return nn::sparse_plus(x); }},
      {"sparse_sigmoid", [](const Array& x) { return nn::sparse_sigmoid(x); }},
      {"log1mexp", [](const Array& x) { return nn::log1mexp(x); }},
      {"sigmoid", [](const Array& x) { return sigmoid(x); }},
      {"tanh", [](const Array& x) { return uni::tanh(x); }},
  };
  return all;
}
const Function& activation(const Row& row) {
  const std::size_t start = row.name.find('/') + 1;
  return activations().at(row.name.substr(start, row.op == "value" ? row.name.rfind('/') - start : std::string::npos));
}

void add_functions(golden::Suite& s) {
  s.by_op["activation"] = [](const Row& row) -> Arrays {
    const Function& f = activation(row);
    return {f(row.in(0)), vmap(grad([&](const Array& x) { return f(x); }))(row.in(0))};
  };
  s.by_op["value"] = [](const Row& row) -> Arrays { return {activation(row)(row.in(0))}; };
  s.by_op["glu"] = [](const Row& row) -> Arrays { return {nn::glu(row.in(0))}; };
  s.by_op["glu 0"] = [](const Row& row) -> Arrays { return {nn::glu(row.in(0), {.axis = 0})}; };
  const auto standardize = [&s](const std::string& name, auto options) {
    s.by_op["standardize" + name] = [options](const Row& row) -> Arrays {
      return {nn::standardize(row.in(0), options(row))};
    };
  };
  standardize("", [](const Row&) { return nn::StandardizeOptions{}; });
  standardize(" 0", [](const Row&) { return nn::StandardizeOptions{.axis = 0}; });
  standardize(" where", [](const Row& row) { return nn::StandardizeOptions{.where = row.in(1)}; });
  standardize(" given", [](const Row&) {
    return nn::StandardizeOptions{.mean = array({{1.}, {2.}}), .variance = array({{4.}, {9.}}), .epsilon = 0.25};
  });
  s.by_op["logmeanexp"] = [](const Row& row) -> Arrays { return {nn::logmeanexp(row.in(0))}; };
  s.by_op["logmeanexp where"] = [](const Row& row) -> Arrays {
    return {nn::logmeanexp(row.in(0), {.axis = 1, .keepdims = true, .where = row.in(1)})};
  };
  s.by_op["logsumexp b"] = [](const Row& row) -> Arrays { return {logsumexp(row.in(0), {.axis = 1, .b = row.in(1)})}; };
  s.by_op["logsumexp sign"] = [](const Row& row) -> Arrays {
    const SignedLog r = signed_logsumexp(row.in(0), {.axis = 1, .b = row.in(1)});
    return {r.value, r.sign};
  };
  s.by_op["logsumexp where"] = [](const Row& row) -> Arrays {
    return {logsumexp(row.in(0), {.axis = 1, .where = row.in(1)})};
  };
}

void add_attention(golden::Suite& s) {
  const auto attention = [&s](const std::string& name, auto options) {
    s.by_op["attention " + name] = [options](const Row& row) -> Arrays {
      return {nn::dot_product_attention(row.in(0), row.in(1), row.in(2), options(row))};
    };
  };
  using Options = nn::AttentionOptions;
  attention("plain", [](const Row&) { return Options{}; });
  attention("unbatched", [](const Row&) { return Options{}; });
  attention("bias", [](const Row& row) { return Options{.bias = row.in(3)}; });
  attention("mask", [](const Row& row) { return Options{.mask = row.in(3)}; });
  attention("causal", [](const Row&) { return Options{.causal = true}; });
  attention("window", [](const Row&) { return Options{.window = nn::AttentionWindow{1, 0}}; });
  attention("scale", [](const Row&) { return Options{.scale = 2}; });
  attention("lengths", [](const Row& row) { return Options{.query_lengths = row.in(3), .key_lengths = row.in(4)}; });
  s.by_op["attention grad"] = [](const Row& row) -> Arrays {
    const auto loss = [](const Arrays& a) {
      return sum(uni::sin(nn::dot_product_attention(a[0], a[1], a[2], {.causal = true})));
    };
    return grad(loss)(Arrays{row.in(0), row.in(1), row.in(2)});
  };
}

void add_initializers(golden::Suite& s) {
  using namespace nn::initializers;
  const std::map<std::string, Initializer> all = {
      {"lecun_normal", lecun_normal()},
      {"lecun_uniform", lecun_uniform()},
      {"glorot_normal", glorot_normal()},
      {"glorot_uniform", glorot_uniform()},
      {"he_normal", he_normal()},
      {"he_uniform", he_uniform()},
      {"normal", nn::initializers::normal()},
      {"uniform", nn::initializers::uniform()},
      {"truncated_normal", nn::initializers::truncated_normal()},
      {"truncated_normal 1", nn::initializers::truncated_normal(2, -1, 0.5)},
      {"orthogonal", orthogonal()},
      {"orthogonal wide", orthogonal(2)},
      {"orthogonal axis", orthogonal(1, 0)},
      {"delta_orthogonal", delta_orthogonal()},
      {"delta_orthogonal 1", delta_orthogonal()},
      {"zeros", nn::initializers::zeros()},
      {"ones", nn::initializers::ones()},
      {"constant", nn::initializers::constant(0.5)},
      {"embed", variance_scaling(1, Mode::fan_in, Distribution::normal, {.out_axis = {0}})},
      {"fan_out", variance_scaling(2, Mode::fan_out, Distribution::uniform)},
      {"geo", variance_scaling(1, Mode::fan_geo_avg, Distribution::normal)},
      {"batch", lecun_normal({.batch_axis = {0}})},
      {"axes", glorot_normal({.in_axis = {0, 1}, .out_axis = {2}})},
  };
  for (const auto& [name, initializer] : all)
    s.by_op[name] = [initializer](const Row& row) -> Arrays {
      return {initializer(Key(0), golden::dims_from(row.params["shape"]))};
    };
}

TEST(Golden, Nn) {
  golden::Suite s;
  add_functions(s);
  add_attention(s);
  add_initializers(s);
  s.tolerance = [](const Row& row) {
    const bool made = row.name.starts_with("initializer") || row.name.starts_with("attention");
    // (x + sqrt(x^2 + b)) / 2 cancels for negative x.
    const bool cancels = row.name.find("squareplus") != std::string::npos;
    return golden::Tolerance{.ulp = 16, .absolute = cancels ? 2e-6 : made ? 1e-6 : 5e-7};
  };
  golden::run("nn.json", s);
}
}  // namespace
