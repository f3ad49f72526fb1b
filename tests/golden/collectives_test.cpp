// Collectives on four devices: values, forward and reverse derivatives, the same under vmap, dtypes, the order of axis
// names on a 2 x 2 mesh, and the table of gradients taken inside and outside of regions.
#include "golden/golden.hpp"

using namespace uni;

namespace {
using golden::Row;
using Collective = std::function<Array(const Array&)>;

Permutation pairs_of(const golden::json& list) {
  Permutation out;
  for (const auto& p : list) out.emplace_back(p[0].get<int>(), p[1].get<int>());
  return out;
}
Permutation shuffle_of(const golden::json& perm) {  // output k is input perm[k]
  Permutation out;
  for (std::size_t k = 0; k < perm.size(); ++k) out.emplace_back(perm[k].get<int>(), static_cast<int>(k));
  return out;
}
Collective collective(const std::string& op, const golden::json& p, const AxisName& axis) {
  const Flag tiled = p.value("tiled", false);
  if (op == "psum") return [axis](const Array& x) { return psum(x, axis); };
  if (op == "pmean") return [axis](const Array& x) { return pmean(x, axis); };
  if (op == "pmax") return [axis](const Array& x) { return pmax(x, axis); };
  if (op == "pmin") return [axis](const Array& x) { return pmin(x, axis); };
  if (op == "all_gather")
    return [axis, tiled, d = p.value("axis", 0)](const Array& x) {
      return all_gather(x, axis, {.axis = d, .tiled = tiled});
    };
  if (op == "psum_scatter")
    return [axis, tiled, d = p.value("axis", 0)](const Array& x) {
      return psum_scatter(x, axis, {.axis = d, .tiled = tiled});
    };
  if (op == "all_to_all")
    return [axis, tiled, s = p.value("split", 0), c = p.value("concat", 0)](const Array& x) {
      return all_to_all(x, axis, {.split = s, .concat = c, .tiled = tiled});
    };
  if (op == "ppermute")
    return [axis, list = pairs_of(p.at("pairs"))](const Array& x) { return ppermute(x, axis, list); };
  if (op == "pshuffle")
    return [axis, list = shuffle_of(p.at("perm"))](const Array& x) { return ppermute(x, axis, list); };
  if (op == "ppermute(0,1)") return [axis](const Array& x) { return ppermute(x, axis, {{0, 1}}); };
  return [axis](const Array& x) { return full_like(x, 1.0) * axis_index(axis); };
}

bool begins(const Row& row, const std::string& group) { return row.name.rfind(group + "/", 0) == 0; }
// Rows of a group, except those that left_out.txt names.
template <class Fn>
int each_row(const std::string& group, const Fn& fn) {
  int count = 0;
  for (const Row& row : golden::rows("collectives.json")) {
    if (!begins(row, group) || golden::left_out(row)) continue;
    ++count;
    if (golden::must_raise(row)) {
      EXPECT_THROW(fn(row), ShardingError) << row.name;
      continue;
    }
    const std::string wrong = golden::difference(row.expected, fn(row), {.absolute = 1e-6});
    EXPECT_EQ(wrong, "") << row.name;
  }
  return count;
}

TEST(GoldenCollectives, EveryRowIsInAGroup) {
  golden::check_left_out("collectives.json");
  for (const Row& row : golden::rows("collectives.json")) {
    bool known = false;
    for (const char* group : {"value", "dtype", "vmap_value", "inner_vmap", "vjp", "jvp", "nan", "mesh2x2", "pmap_grad",
                              "shard_map_grad", "typed_vjp"})
      known = known || begins(row, group);
    EXPECT_TRUE(known) << row.name;
  }
}

TEST(GoldenCollectives, Values) {
  const auto by_pmap = [](const Row& r) {
    return pmap(collective(r.op, r.params, "i"), {.axis = "i"})(golden::array_from(r.inputs, false));
  };
  EXPECT_EQ(each_row("value", by_pmap), 18);
  EXPECT_EQ(each_row("dtype", by_pmap), 30);
  const auto by_vmap = [](const Row& r) {
    return vmap(collective(r.op, r.params, "v"), {.axis_name = "v"})(golden::array_from(r.inputs, false));
  };
  EXPECT_EQ(each_row("vmap_value", by_vmap), 17);
  const auto inner = [](const Row& r) {
    return pmap(vmap(collective(r.op, r.params, "i")), {.axis = "i"})(golden::array_from(r.inputs, false));
  };
  EXPECT_EQ(each_row("inner_vmap", inner), 3);
}

TEST(GoldenCollectives, Derivatives) {
  const auto reverse = [](const Row& r) {
    const auto f = collective(r.op, r.params, "i");
    return pmap([f](const Array& x, const Array& ct) { return vjp(f, x).second(ct); }, {.axis = "i"})(
        r.in("x"), r.in("cotangent"));
  };
  EXPECT_EQ(each_row("vjp", reverse), 15);
  const auto forward = [](const Row& r) {
    const auto f = collective(r.op, r.params, "i");
    return pmap([f](const Array& x, const Array& t) { return jvp(f, x, t).second; }, {.axis = "i"})(r.in("x"),
                                                                                                    r.in("tangent"));
  };
  EXPECT_EQ(each_row("jvp", forward), 16);
}

TEST(GoldenCollectives, ExtremaHaveDerivativesAndKeepNaN) {
  const Array x = array({1., 3., 3., 2.});
  const auto greatest = [](const Array& v) { return pmax(v, "i"); };
  const auto slope = [&](const Array& v, const Array& ct) { return vjp(greatest, v).second(ct); };
  // Every device's copy of the maximum counts; the two that attain it share.
  EXPECT_THAT(pmap(slope, {.axis = "i"})(x, ones({4})).to_vector<float>(), testing::ElementsAre(0, 2, 2, 0));
  const auto forward = [](auto f) { return [f](const Array& v, const Array& t) { return jvp(f, v, t).second; }; };
  const auto least = [](const Array& v) { return pmin(v, "i"); };
  const Array tangents = array({1., 2., 4., 8.});
  EXPECT_THAT(pmap(forward(greatest), {.axis = "i"})(x, tangents).to_vector<float>(), testing::Each(3));
  EXPECT_THAT(pmap(forward(least), {.axis = "i"})(x, tangents).to_vector<float>(), testing::Each(1));
  const Array with_nan = array({1., std::numeric_limits<double>::quiet_NaN(), 3., 4.});
  for (const float v : pmap(greatest, {.axis = "i"})(with_nan).to_vector<float>()) EXPECT_TRUE(std::isnan(v));
  const auto by_vmap = [&](const Row& r) {
    return vmap(greatest, {.axis_name = "i"})(golden::array_from(r.inputs, false));
  };
  EXPECT_EQ(each_row("nan", by_vmap), 1);
  for (const auto& kind : {psum<Array>, pmin<Array>}) {
    const auto f = [kind](const Array& v) { return kind(v, "i", Location::current()); };
    for (const float v : pmap(f, {.axis = "i"})(with_nan).to_vector<float>()) EXPECT_TRUE(std::isnan(v));
  }
}

// JAX cannot transpose an untiled all_to_all that moves the axis; the transpose is the exchange back.
TEST(GoldenCollectives, AllToAllIsTransposedByTheExchangeBack) {
  const auto there = [](const Array& v) { return all_to_all(v, "i", {.split = 0, .concat = 1}); };
  const auto back = [there](const Array& v) { return vjp(there, v).second(there(v)); };
  const Array x = reshape(arange(32.0), {4, 4, 2});
  EXPECT_EQ(pmap(back, {.axis = "i"})(x).to_vector<float>(), x.to_vector<float>());
}

// JAX's vmap wants a whole permutation; who receives nothing gets zeros, as in pmap.
TEST(GoldenCollectives, PartialPermutationUnderVmap) {
  const auto f = [](const Array& v) { return ppermute(v, "i", {{0, 1}, {2, 3}}); };
  EXPECT_THAT(vmap(f, {.axis_name = "i"})(array({1., 2., 3., 4.})).to_vector<float>(),
              testing::ElementsAre(0, 1, 0, 3));
}

TEST(GoldenCollectives, OrderOfAxisNamesOnAMesh) {
  const Mesh mesh = make_mesh({{"a", 2}, {"b", 2}});
  const P both{{"a", "b"}};
  const auto on_mesh = [&](const Row& r) {
    const AxisName axes(r.params.at("axes").get<std::vector<std::string>>());
    const Array x = golden::array_from(r.inputs, false);
    return shard_map(collective(r.op, r.params, axes), mesh, {.in = {both}, .out = {both}})(x);
  };
  EXPECT_EQ(each_row("mesh2x2", on_mesh), 21);
  // The order of the names counts in ppermute too; JAX 0.10 ignores it there.
  const auto ring = [](const Array& x) { return ppermute(x, {"b", "a"}, ring_shift(4)); };
  EXPECT_THAT(shard_map(ring, mesh, {.in = {both}, .out = {both}})(array({1., 2., 3., 4.})).to_vector<float>(),
              testing::ElementsAre(4, 3, 1, 2));
}

// ---- Gradients of a loss (w x)^2 with one w for all devices
Array loss(const Array& w, const Array& x) { return sum(w * x * w * x); }
Array sum_loss(const Array& w, const Array& x) { return psum(loss(w, x), "i"); }
Array mean_loss(const Array& w, const Array& x) { return pmean(loss(w, x), "i"); }
Array sum_of_gradients(const Array& w, const Array& x) { return psum(grad(loss)(w, x), "i"); }
Array mean_of_gradients(const Array& w, const Array& x) { return pmean(grad(loss)(w, x), "i"); }
const std::vector<AxisSpec> w_whole{std::nullopt, 0};
Mesh four() { return make_mesh({{"i", 4}}); }

using Gradient = std::function<Array(const Array& w, const Array& x)>;
template <class F>
Gradient in_pmap(F f) {
  return pmap(f, {.axis = "i", .in_axes = w_whole});
}
template <class F>
Gradient in_region(F f) {
  return shard_map(f, four(), {.in = {P{}, P{"i"}}, .out = {P{}}});
}
// A group whose rows are named by what is differentiated.
void check_group(const std::string& group, const std::map<std::string, Gradient>& programs) {
  const auto count =
      each_row(group, [&](const Row& r) { return programs.at(r.name.substr(group.size() + 1))(r.in("w"), r.in("x")); });
  EXPECT_EQ(count, static_cast<int>(programs.size())) << group;
}

TEST(GoldenCollectives, GradientsOfPmap) {
  const auto outside_sum = [](const Array& w, const Array& x) {
    return grad([&](const Array& v) { return sum(pmap(loss, {.axis = "i", .in_axes = w_whole})(v, x)); })(w);
  };
  const auto squares = [](const Array& v) { return psum(v * v, "i"); };
  const auto first = [squares](const Array&, const Array& x) {
    return grad([&](const Array& v) { return pmap(squares, {.axis = "i"})(v)[0]; })(x);
  };
  const auto all = [](const Array&, const Array& x) {
    const auto total = [](const Array& v) { return psum(v, "i"); };
    return grad([&](const Array& v) { return sum(pmap(total, {.axis = "i"})(v)); })(x);
  };
  check_group("pmap_grad", {{"local", in_pmap(grad(loss))},
                            {"pmean_of_grad", in_pmap(mean_of_gradients)},
                            {"psum_of_grad", in_pmap(sum_of_gradients)},
                            {"grad_of_psum", in_pmap(grad(sum_loss))},
                            {"grad_of_pmean", in_pmap(grad(mean_loss))},
                            {"outside_sum", outside_sum},
                            {"outside_psum_first", first},
                            {"outside_psum_all", all}});
  const auto replicated = [squares](const Array& v) {
    return pmap(squares, {.axis = "i", .out_axes = {std::nullopt}})(v);
  };
  EXPECT_THAT(grad(replicated)(arange(4.0)).to_vector<float>(), testing::ElementsAre(0, 2, 4, 6));
}

// Inside a typed region gradients for w arrive summed; summing them again is an error here, JAX counts twice.
TEST(GoldenCollectives, GradientsOfTypedRegions) {
  const auto outside = [](auto f) -> Gradient {
    return [f](const Array& w, const Array& x) { return grad([&](const Array& v) { return in_region(f)(v, x); })(w); };
  };
  check_group("shard_map_grad/typed", {{"local", in_region(grad(loss))},
                                       {"grad_of_psum", in_region(grad(sum_loss))},
                                       {"grad_of_pmean", in_region(grad(mean_loss))},
                                       {"psum_of_grad", in_region(sum_of_gradients)},
                                       {"pmean_of_grad", in_region(mean_of_gradients)},
                                       {"outside_psum", outside(sum_loss)},
                                       {"outside_pmean", outside(mean_loss)}});
  const auto varying = [](const Array& w, const Array& x) { return (w * x)[0]; };
  EXPECT_THROW(in_region(varying)(Array(2.0), arange(4.0)), ShardingError);
}

TEST(GoldenCollectives, TransposesInTypedRegions) {
  const P split{"i"};
  const auto region = [](auto f, const P& x, const P& ct, const P& out) -> Gradient {
    const auto back = [f](const Array& v, const Array& c) { return vjp(f, v).second(c); };
    return shard_map(back, four(), {.in = {x, ct}, .out = {out}});
  };
  const auto total = [](const Array& x) { return psum(x, "i"); };
  const auto scattered = [](const Array& x) { return psum_scatter(x, "i", {.tiled = true}); };
  const auto gathered_back = [](const Array& v, const Array& c) {
    const auto gathered = [](const Array& x) { return all_gather(x, "i", {.tiled = true}); };
    return vjp(gathered, v).second(pvary(c, "i"));
  };
  const auto varied_back = [](const Array& v, const Array& c) {
    return vjp([](const Array& x) { return pvary(x, "i"); }, v).second(c[0]);
  };
  const std::map<std::string, Gradient> programs = {
      {"psum", region(total, split, P{}, split)},
      {"psum_scatter", region(scattered, split, split, split)},
      {"all_gather", shard_map(gathered_back, four(), {.in = {split, P{}}, .out = {split}})},
      {"pvary", shard_map(varied_back, four(), {.in = {P{}, split}, .out = {P{}}})}};
  const int count = each_row("typed_vjp", [&](const Row& r) {
    return programs.at(r.name.substr(std::string("typed_vjp/").size()))(r.in("x"), r.in("cotangent"));
  });
  EXPECT_EQ(count, 4);
}
}  // namespace
