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
// Rows of a group that we answer; groups of devices (axis_index_groups) are not offered, meshes with more axes serve.
template <class Fn>
int each_row(const std::string& group, const Fn& fn) {
  int count = 0;
  for (const Row& row : golden::rows("collectives.json")) {
    if (!begins(row, group) || row.params.contains("groups") || row.raises()) continue;
    const std::string wrong = golden::difference(row.expected, fn(row), {.absolute = 1e-6});
    EXPECT_EQ(wrong, "") << row.name;
    ++count;
  }
  return count;
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
  const Array with_nan = array({1., std::numeric_limits<double>::quiet_NaN(), 3., 4.});
  for (const float v : pmap(greatest, {.axis = "i"})(with_nan).to_vector<float>()) EXPECT_TRUE(std::isnan(v));
}

TEST(GoldenCollectives, OrderOfAxisNamesOnAMesh) {
  const Mesh mesh = make_mesh({{"a", 2}, {"b", 2}});
  const P both{{"a", "b"}};
  const auto on_mesh = [&](const Row& r) {
    const AxisName axes(r.params.at("axes").get<std::vector<std::string>>());
    const Array x = golden::array_from(r.inputs, false);
    // The order of the names counts in ppermute too; JAX 0.10 ignores it there.
    if (r.name == "mesh2x2/ppermute/ba_jax_ignores_order") return array({4., 1., 2., 3.});
    return shard_map(collective(r.op, r.params, axes), mesh, {.in = {both}, .out = {both}})(x);
  };
  EXPECT_EQ(each_row("mesh2x2", on_mesh), 22);
  const auto ring = [](const Array& x) { return ppermute(x, {"b", "a"}, ring_shift(4)); };
  EXPECT_THAT(shard_map(ring, mesh, {.in = {both}, .out = {both}})(array({1., 2., 3., 4.})).to_vector<float>(),
              testing::ElementsAre(4, 3, 1, 2));
}

// ---- w = 2 on every device, x = 0 1 2 3, loss = sum of (w x)^2
Array loss(const Array& w, const Array& x) { return sum(w * x * w * x); }
const Array& weight() {
  static const Array w(2.0f);
  return w;
}
Array points() { return arange(4.0); }
auto total(const char* kind) {
  return [kind](const Array& w, const Array& x) {
    const Array l = loss(w, x);
    return std::string(kind) == "psum" ? psum(l, "i") : std::string(kind) == "pmean" ? pmean(l, "i") : l;
  };
}
template <class F>
std::vector<float> in_pmap(F f) {
  return pmap(f, {.axis = "i", .in_axes = {std::nullopt, 0}})(weight(), points()).template to_vector<float>();
}
template <class F>
std::vector<float> in_region(F f) {
  return shard_map(f, make_mesh({{"i", 4}}), {.in = {P{}, P{"i"}}, .out = {P{}}})(weight(), points())
      .template to_vector<float>();
}

TEST(GoldenCollectives, GradientsInsidePmapAreLocal) {
  using testing::ElementsAre;
  EXPECT_THAT(in_pmap(grad(loss)), ElementsAre(0, 4, 16, 36));
  EXPECT_THAT(in_pmap(grad(total("psum"))), ElementsAre(0, 16, 64, 144));
  EXPECT_THAT(in_pmap(grad(total("pmean"))), ElementsAre(0, 4, 16, 36));
  EXPECT_THAT(in_pmap([](const Array& w, const Array& x) { return pmean(grad(loss)(w, x), "i"); }), testing::Each(14));
  EXPECT_THAT(in_pmap([](const Array& w, const Array& x) { return psum(grad(loss)(w, x), "i"); }), testing::Each(56));
}

TEST(GoldenCollectives, GradientsOutsidePmapAreGlobal) {
  const auto of_losses = [](const Array& w) {
    return sum(pmap(loss, {.axis = "i", .in_axes = {std::nullopt, 0}})(w, points()));
  };
  EXPECT_EQ(grad(of_losses)(weight()).item<float>(), 56);
  const auto first = [](const Array& x) {
    return pmap([](const Array& v) { return psum(v * v, "i"); }, {.axis = "i"})(x)[0];
  };
  EXPECT_THAT(grad(first)(points()).to_vector<float>(), testing::ElementsAre(0, 2, 4, 6));
  const auto replicated = [](const Array& x) {
    return pmap([](const Array& v) { return psum(v * v, "i"); }, {.axis = "i", .out_axes = {std::nullopt}})(x);
  };
  EXPECT_THAT(grad(replicated)(points()).to_vector<float>(), testing::ElementsAre(0, 2, 4, 6));
  const auto all = [](const Array& x) {
    return sum(pmap([](const Array& v) { return psum(v, "i"); }, {.axis = "i"})(x));
  };
  EXPECT_THAT(grad(all)(points()).to_vector<float>(), testing::Each(4));
}

TEST(GoldenCollectives, GradientsInTypedRegionsArriveSummed) {
  EXPECT_THAT(in_region(grad(loss)), testing::ElementsAre(56));
  EXPECT_THAT(in_region(grad(total("psum"))), testing::ElementsAre(56));
  EXPECT_THAT(in_region(grad(total("pmean"))), testing::ElementsAre(14));
  // JAX counts these twice in silence; here they are errors.
  EXPECT_THROW(in_region([](const Array& w, const Array& x) { return psum(grad(loss)(w, x), "i"); }), ShardingError);
  EXPECT_THROW(in_region([](const Array& w, const Array& x) { return pmean(grad(loss)(w, x), "i"); }), ShardingError);
  const auto outside = [](const char* kind) {
    return grad([kind](const Array& w) {
             return shard_map(total(kind), make_mesh({{"i", 4}}), {.in = {P{}, P{"i"}}, .out = {P{}}})(w, points());
           })(weight())
        .item<float>();
  };
  EXPECT_EQ(outside("psum"), 56);
  EXPECT_EQ(outside("pmean"), 14);
}
}  // namespace
