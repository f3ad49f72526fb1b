// What pmap does with axes, results, nesting and transformations; a plain vmap beside a device axis; and what is
// refused.
#include "golden/parallel.hpp"

using namespace uni;

namespace {
using golden::Row;
using Program = std::function<Arrays(const Row&)>;
using Map = std::map<std::string, Array>;

Array total(const Array& x) { return psum(x, "i"); }
Array total_of_squares(const Array& x) { return psum(x * x, "i"); }
Array twice(const Array& x) { return 2 * x; }
Array with_total(const Array& x) { return x + total(x); }
const std::vector<AxisSpec> second_whole{0, std::nullopt};

// A program of one array.
template <class F>
Program one(F f) {
  return [f](const Row& r) { return Arrays{f(r.in(0))}; };
}
// pmap(pmap(f, "j"), "i"), and the same with each of the two a vmap.
template <class F>
Program nested(F f) {
  return [f](const Row& r) {
    const Array x = r.in(0);
    const Array want = pmap(pmap(f, {.axis = "j"}), {.axis = "i"})(x);
    for (const Array& other :
         {vmap(vmap(f, {.axis_name = "j"}), {.axis_name = "i"})(x), pmap(vmap(f, {.axis_name = "j"}), {.axis = "i"})(x),
          vmap(pmap(f, {.axis = "j"}), {.axis_name = "i"})(x)})
      EXPECT_EQ(other.to_vector<float>(), want.to_vector<float>());
    return Arrays{want};
  };
}
// Columns of the derivative, by pushing the unit vectors forward.
template <class F>
Array jacobian(F f, const Array& x) {
  return vmap([&](const Array& direction) { return jvp(f, x, direction).second; }, {.out_axes = {1}})(eye(x.shape(0)));
}

std::map<std::string, Program> axes_programs() {
  return {
      {"pmap default axes", one(pmap(twice, {}))},
      {"pmap in_axes None",
       [](const Row& r) {
         return Arrays{
             pmap([](const Array& a, const Array& b) { return a + b; }, {.in_axes = second_whole})(r.in(0), r.in(1))};
       }},
      {"pmap in_axes 1", one(pmap(twice, {.in_axes = {1}}))},
      {"pmap in_axes 1 of three", one(pmap(twice, {.in_axes = {1}}))},
      {"pmap in_axes prefix",
       [](const Row& r) {
         const Map ab{{"a", golden::array_from(r.inputs[0]["a"], false)},
                      {"b", golden::array_from(r.inputs[0]["b"], false)}};
         const auto f = [](const Map& m, const Array& c) { return m.at("a") * m.at("b") + c; };
         return Arrays{pmap(f, {.in_axes = second_whole})(ab, r.in(1))};
       }},
      {"pmap out_axes 1", one(pmap(twice, {.out_axes = {1}}))},
      {"pmap out_axes mixed",
       [](const Row& r) {
         const auto f = [](const Array& a) { return std::pair{2 * a, total(a)}; };
         const auto [doubled, sum] = pmap(f, {.axis = "i", .out_axes = {1, std::nullopt}})(r.in(0));
         return Arrays{doubled, sum};
       }},
      {"pmap out_axes None of a varying value", one(pmap(twice, {.out_axes = {std::nullopt}}))},
      {"pmap constant output", one(pmap([](const Array&) { return Array(1.5); }, {}))},
      {"pmap static argument",
       [](const Row& r) {  // an int parameter is static
         return Arrays{pmap([](const Array& a, int n) { return a * n; }, {})(r.in(0), 3)};
       }},
      {"pmap fewer devices", one(pmap(total, {.axis = "i"}))},
      {"pmap one device", one(pmap(total, {.axis = "i"}))},
      {"pmap axis_index", one(pmap([](const Array&) { return axis_index("i"); }, {.axis = "i"}))},
  };
}

std::map<std::string, Program> nesting_programs() {
  const AxisName both{"i", "j"};
  const auto over_both = [both](const Array& a) { return psum(a, both); };
  return {
      {"pmap of jit", one(pmap(jit(total), {.axis = "i"}))},
      {"jit of pmap", one(jit(pmap(total, {.axis = "i"})))},
      {"pmap of vmap", one(pmap(vmap(with_total), {.axis = "i"}))},
      {"vmap of pmap", one(vmap(pmap(with_total, {.axis = "i"}), {.in_axes = {1}}))},
      {"pmap of named vmap, both axes", one(pmap(vmap(over_both, {.axis_name = "j"}), {.axis = "i"}))},
      {"named vmap of pmap, both axes", one(vmap(pmap(over_both, {.axis = "i"}), {.in_axes = {1}, .axis_name = "j"}))},
      {"pmap in pmap: psum j", nested([](const Array& a) { return psum(a, "j"); })},
      {"pmap in pmap: psum i", nested([](const Array& a) { return psum(a, "i"); })},
      {"pmap in pmap: psum both", nested(over_both)},
      {"pmap in pmap: index", nested([](const Array&) { return 10 * axis_index("i") + axis_index("j"); })},
      {"inner name hides outer", one(pmap(vmap(total, {.axis_name = "i"}), {.axis = "i"}))},
  };
}

std::map<std::string, Program> derivative_programs() {
  const auto f = pmap(total_of_squares, {.axis = "i"});
  return {
      {"jvp of pmap",
       [f](const Row& r) {
         const auto [value, tangent] = jvp(f, r.in(0), ones({4}));
         return Arrays{value, tangent};
       }},
      {"vjp of pmap", [f](const Row& r) { return Arrays{vjp(f, r.in(0)).second(r.in(0))}; }},
      {"jacobian of pmap", [f](const Row& r) { return Arrays{jacobian(f, r.in(0))}; }},
      {"hessian of pmap",
       [](const Row& r) {
         const auto cubes = [](const Array& b) { return psum(b * b * b, "i"); };
         const auto first = [cubes](const Array& a) { return pmap(cubes, {.axis = "i"})(a)[0]; };
         return Arrays{jacobian(grad(first), r.in(0))};
       }},
      {"grad of out_axes None", one(grad(pmap(total_of_squares, {.axis = "i", .out_axes = {std::nullopt}})))},
      {"grad through in_axes None",
       [](const Row& r) {
         const auto product = [](const Array& b, const Array& a) { return b * a; };
         const auto outer = [product](const Array& b, const Array& a) {
           return sum(pmap(product, {.in_axes = {std::nullopt, 0}})(b, a));
         };
         return Arrays{grad(outer)(r.in(0), r.in(1))};
       }},
      {"vmap of grad inside pmap", one(pmap(vmap(grad(total_of_squares)), {.axis = "i"}))},
  };
}

// A collective per lane of a batch; psum_scatter and the like count axes without the batch.
std::map<std::string, std::function<Array(const Array&)>> lane_programs() {
  return {{"psum", total},
          {"pmax", [](const Array& v) { return pmax(v, "i"); }},
          {"all_gather axis=0", [](const Array& v) { return all_gather(v, "i"); }},
          {"all_gather tiled", [](const Array& v) { return all_gather(v, "i", {.tiled = true}); }},
          {"all_gather axis=1", [](const Array& v) { return all_gather(v, "i", {.axis = 1}); }},
          {"psum_scatter", [](const Array& v) { return psum_scatter(v, "i"); }},
          {"psum_scatter tiled", [](const Array& v) { return psum_scatter(v, "i", {.tiled = true}); }},
          {"all_to_all", [](const Array& v) { return all_to_all(v, "i"); }},
          {"all_to_all tiled", [](const Array& v) { return all_to_all(v, "i", {.tiled = true}); }},
          {"ppermute", [](const Array& v) { return ppermute(v, "i", ring_shift(4)); }},
          {"axis_index", [](const Array& v) { return v + axis_index("i"); }}};
}
std::map<std::string, Program> lanes_programs() {
  std::map<std::string, Program> out;
  for (const auto& [name, f] : lane_programs())
    for (const int axis : {0, 1})
      out["vmap of " + name + ", batch axis " + std::to_string(axis)] =
          one(pmap(vmap(f, {.in_axes = {axis}}), {.axis = "i"}));
  return out;
}

template <class F>
Program on_mesh(F f, const P& in, const P& out) {
  return one([=](const Array& x) { return shard_map(f, make_mesh({{"i", 4}}), {.in = {in}, .out = {out}})(x); });
}
std::map<std::string, Program> refused_programs() {
  const auto same = [](const Array& a) { return a; };
  const auto add = [](const Array& a, const Array& b) { return a + b; };
  const auto of_two = [add](const Row& r, const PmapOptions& o) { return Arrays{pmap(add, o)(r.in(0), r.in(1))}; };
  return {
      {"error: mapped sizes differ", [of_two](const Row& r) { return of_two(r, {}); }},
      {"error: too many devices", one(pmap(same, {}))},
      {"error: scalar argument", one(pmap(same, {}))},
      {"error: nothing mapped", one(pmap(same, {.in_axes = {std::nullopt}}))},
      {"error: axis_size", one(pmap(same, {.axis_size = 3}))},
      {"error: unknown axis", one(pmap([](const Array& a) { return psum(a, "k"); }, {.axis = "i"}))},
      {"error: in_axes length", [of_two](const Row& r) { return of_two(r, {.in_axes = {0}}); }},
      {"error: out_axes range", one(pmap(same, {.out_axes = {5}}))},
      {"error: ppermute twice", one(pmap(
                                    [](const Array& a) {
                                      return ppermute(a, "i", {{0, 1}, {0, 2}});
                                    },
                                    {.axis = "i"}))},
      {"error: psum_scatter size", one(pmap([](const Array& a) { return psum_scatter(a, "i"); }, {.axis = "i"}))},
      {"error: all_to_all size", one(pmap([](const Array& a) { return all_to_all(a, "i"); }, {.axis = "i"}))},
      {"error: branch on a value", one(pmap([](const Array& a) { return a.item<float>() > 0 ? a : -a; }, {}))},
      {"error: varying but declared replicated", on_mesh(twice, P{"i"}, P{})},
      {"error: uneven shard_map input", on_mesh(same, P{"i"}, P{"i"})},
      {"error: unknown axis in spec", on_mesh(same, P{"k"}, P{"k"})},
  };
}

void run_section(const std::string& section, std::map<std::string, Program> programs) {
  for (const Row& row : golden::rows("parallel.json")) {
    if (row.op != section || golden::left_out(row)) continue;
    SCOPED_TRACE(row.name);
    const auto program = programs.find(row.name);
    ASSERT_TRUE(program != programs.end()) << "no program";
    if (row.raises() || golden::must_raise(row))
      EXPECT_THROW(program->second(row), Error);
    else
      EXPECT_EQ(golden::differences(golden::leaves(row.expected), program->second(row), {.absolute = 1e-30}), "");
    programs.erase(program);
  }
  for (const auto& [name, program] : programs) ADD_FAILURE() << "no row is named " << name;
}

TEST(PmapRules, AxesNestingAndDerivatives) {
  std::map<std::string, Program> all = axes_programs();
  all.merge(nesting_programs());
  all.merge(derivative_programs());
  run_section("pmap_rules", all);
}
TEST(PmapRules, VmapBesideADeviceAxis) { run_section("vmap_of_collectives", lanes_programs()); }
TEST(PmapRules, Refusals) { run_section("errors", refused_programs()); }

TEST(PmapRules, NoSectionIsForgotten) {
  for (const Row& row : golden::rows("parallel.json"))
    EXPECT_TRUE(row.params.contains("call") || row.op == "gradient_table" || row.op == "pmap_rules" ||
                row.op == "vmap_of_collectives" || row.op == "errors")
        << row.op;
}

// A replicated result must be equal on all devices; JAX returns that of device 0 without a word.
TEST(PmapRules, ReplicatedResultsAreChecked) {
  const Array x = arange(4.0);
  EXPECT_THROW(pmap(twice, {.out_axes = {std::nullopt}})(x), ShardingError);
  EXPECT_THROW(
      pmap([](const Array& v) { return all_gather(v, "i")[0] * v; }, {.axis = "i", .out_axes = {std::nullopt}})(x),
      ShardingError);
  EXPECT_EQ(pmap(total, {.axis = "i", .out_axes = {std::nullopt}})(x).item<float>(), 6);
}

// Negative axes count from the end, in arguments without and in results with the mapped axis; JAX gets them wrong.
TEST(PmapRules, NegativeAxes) {
  const Array a = reshape(arange(6.0), {2, 3});
  const auto sum_of = [](const Array& v) { return sum(v); };
  EXPECT_THAT(pmap(sum_of, {.in_axes = {-1}})(a).to_vector<float>(), testing::ElementsAre(3, 5, 7));
  const auto copies = [](const Array& v) { return v * ones({3}); };
  const Array r = pmap(copies, {.out_axes = {-1}})(array({1., 2.}));
  EXPECT_EQ(r.shape(), (Dims{3, 2}));
  EXPECT_THAT(r.to_vector<float>(), testing::ElementsAre(1, 2, 1, 2, 1, 2));
}

// axis_size is enough where JAX wants a mapped argument.
TEST(PmapRules, NothingMappedButAxisSize) {
  const auto f = [](const Array& v) { return v + axis_index("i"); };
  EXPECT_THAT(pmap(f, {.axis = "i", .in_axes = {std::nullopt}, .axis_size = 3})(Array(1)).to_vector<float>(),
              testing::ElementsAre(1, 2, 3));
}

// Trailing unsplit dimensions are no part of a spec, so P("i", none) fits rank 1; a name beyond the rank does not.
TEST(PmapRules, SpecsLongerThanTheRank) {
  const auto same = [](const Array& v) { return v; };
  const Mesh mesh = make_mesh({{"i", 4}});
  const Array x = arange(4.0);
  EXPECT_EQ(shard_map(same, mesh, {.in = {P{"i", none}}, .out = {P{"i"}}})(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_THROW(shard_map(same, mesh, {.in = {P{none, "i"}}, .out = {P{"i"}}})(x), ShardingError);
}
}  // namespace
