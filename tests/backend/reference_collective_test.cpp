// Collectives against expected values; the leading dimension of a row's arrays is the device.
#include "golden.hpp"
#include "ops/collectives.hpp"
#include "ops/elementwise.hpp"

namespace uni {
namespace {

using namespace backend_test;

HostArray reshaped(HostArray a, const Dims& shape) {
  a.shape = shape;
  return a;
}
// One block of the leading dimension per device; `drop` removes that dimension (pmap), else it is split (shard_map).
HostArrays per_device(const HostArray& whole, i64 devices, bool drop) {
  Dims shape = whole.shape;
  shape[0] /= devices;
  if (drop) shape.erase(0);
  HostArrays out;
  const std::size_t bytes = whole.bytes.size() / static_cast<std::size_t>(devices);
  for (std::size_t d = 0; d < static_cast<std::size_t>(devices); ++d) {
    const auto from = whole.bytes.begin() + static_cast<std::ptrdiff_t>(d * bytes);
    out.push_back({whole.dtype, shape, {from, from + static_cast<std::ptrdiff_t>(bytes)}});
  }
  return out;
}
HostArray stacked(const HostArrays& parts, const Dims& shape) {
  HostArray out{parts[0].dtype, shape, {}};
  for (const HostArray& p : parts) out.bytes.insert(out.bytes.end(), p.bytes.begin(), p.bytes.end());
  return out;
}

struct Collective {
  const ir::Op* op;
  ir::Params params;
};
Collective collective_of(const std::string& name, const json& params, const ir::AxisNames& axes, i64 size) {
  const int axis = params.value("axis", 0);
  const bool tiled = params.value("tiled", false);
  if (name == "psum") return {&ops::psum, ops::AxesOnly{axes, {}}};
  if (name == "pmax") return {&ops::pmax, ops::AxesOnly{axes, {}}};
  if (name == "pmin") return {&ops::pmin, ops::AxesOnly{axes, {}}};
  if (name == "all_gather") return {&ops::all_gather, ops::AllGather{axes, size, axis, tiled, false}};
  if (name == "psum_scatter") return {&ops::psum_scatter, ops::PsumScatter{axes, size, axis, tiled}};
  if (name == "all_to_all")
    return {&ops::all_to_all, ops::AllToAll{axes, size, params.at("split"), params.at("concat"), tiled}};
  if (name == "axis_index") return {&ops::axis_index, ops::AxisIndex{axes, size, {}}};
  std::vector<std::pair<int, int>> pairs;
  if (params.contains("perm"))
    for (int k = 0; k < static_cast<int>(params["perm"].size()); ++k) pairs.emplace_back(params["perm"][k], k);
  else
    for (const json& pair : params.at("pairs")) pairs.emplace_back(pair[0], pair[1]);
  return {&ops::ppermute, ops::Ppermute{axes, size, pairs}};
}

void expect_row(const json& row, const HostArrays& results, const HostArray& expected) {
  HostArray got = stacked(results, expected.shape);
  EXPECT_EQ(difference(got, expected), "") << row["name"];
}

TEST(ReferenceCollective, ValuesOnFourDevices) {
  const Mesh mesh = mesh_of({{"i", 4}});
  for (const char* group : {"value", "dtype"})
    for (const json& row : golden_rows("collectives", group)) {
      const std::string op = row["op"];
      if (op == "pmean" || row["params"].contains("groups")) continue;  // composed of these; groups are meshes
      HostArrays in = per_device(from_golden(row["inputs"]), 4, true);
      if (op == "psum" && in[0].dtype == Dtype::b8)
        for (HostArray& a : in)
          a = run_op(runtime::reference_client(), ops::convert, {a}, ops::Convert{Dtype::i32, false});
      const Collective c = collective_of(op, row["params"], {"i"}, 4);
      expect_row(row, run_op_on(runtime::reference_client(), mesh, *c.op, in, c.params), from_golden(row["expected"]));
    }
}

TEST(ReferenceCollective, ExtremaPropagateNan) {
  const Mesh mesh = mesh_of({{"i", 4}});
  for (const json& row : golden_rows("collectives", "nan")) {
    const HostArrays in = per_device(from_golden(row["inputs"]), 4, true);
    for (const ir::Op* op : {static_cast<const ir::Op*>(&ops::pmax), static_cast<const ir::Op*>(&ops::pmin)})
      for (const HostArray& got : run_op_on(runtime::reference_client(), mesh, *op, in, ops::AxesOnly{{"i"}, {}}))
        EXPECT_TRUE(std::isnan(got.at<float>(0)));
  }
}

TEST(ReferenceCollective, OrderOfNamesAndSubsetsOnTwoByTwo) {
  const Mesh mesh = mesh_of({{"a", 2}, {"b", 2}});
  for (const json& row : golden_rows("collectives", "mesh2x2")) {
    const ir::AxisNames axes = row["params"]["axes"];
    const std::string op = row["op"];
    const i64 size = axes.size() == 2 ? 4 : 2;
    const HostArrays in = per_device(from_golden(row["inputs"]), 4, false);
    HostArray expected = from_golden(row["expected"]);
    if (row["name"] == "mesh2x2/ppermute/ba_jax_ignores_order")  // here the order counts, as in every collective
      expected = vec(Dtype::f32, {4, 3, 1, 2});
    const Collective c = collective_of(op, row["params"], axes, size);
    if (op == "axis_index") {
      HostArrays got = run_op_on(runtime::reference_client(), mesh, *c.op, {}, c.params);
      for (HostArray& g : got)
        g = reshaped(run_op(runtime::reference_client(), ops::convert, {g}, ops::Convert{Dtype::f32, false}), {1});
      expect_row(row, got, expected);
      continue;
    }
    expect_row(row, run_op_on(runtime::reference_client(), mesh, *c.op, in, c.params), expected);
  }
}

}  // namespace
}  // namespace uni
