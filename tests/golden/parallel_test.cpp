// Every collective of parallel.json in pmap, vmap and typed shard_map: values, what varies, and gradients taken outside
// and inside.
#include "golden/parallel.hpp"

using namespace uni;

namespace {
using golden::Body;
using golden::Context;
using golden::json;
using golden::Row;

struct Case {
  Row row;
  Body body;
  std::vector<MeshAxis> axes;
  Arrays mapped, whole;

  std::size_t outputs() const { return golden::leaves(row.expected).size(); }
  // One entry per input, in the order in which inputs are kept here: mapped ones first.
  std::vector<json> by_input(const json& entries) const {
    std::vector<json> out;
    for (const bool m : {true, false})
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (row.params["mapped"][i].get<bool>() == m) golden::add_leaves(entries[i], out);
    return out;
  }
  // Softmax and gradients shared by ties are not exact.
  golden::Tolerance tolerance() const {
    const bool exact = row.name != "softmax across devices" && row.name.find("gradient") == std::string::npos;
    return {.ulp = exact ? 0.0 : 4.0, .absolute = exact ? 1e-30 : 1e-7};
  }
};

Arrays arrays_from(const std::vector<json>& all) {
  Arrays out;
  for (const json& a : all) out.push_back(golden::array_from(a, false));
  return out;
}
Case make_case(const Row& row) {
  Case c{row, golden::body_of(row.params["call"]), {}, {}, {}};
  for (const auto& [name, size] : row.params["axes"].items()) c.axes.push_back({name, size.get<i64>()});
  const json& mapped = row.params["mapped"];
  for (std::size_t i = 0; i < mapped.size(); ++i)
    for (Array& a : arrays_from(golden::leaves(row.inputs[i])))
      (mapped[i].get<bool>() ? c.mapped : c.whole).push_back(std::move(a));
  return c;
}
// In typed regions, sums of what is equal on all devices already are errors; JAX multiplies in silence.
bool refused_when_typed(const Row& row) {
  static const std::vector<std::string> names = {"psum twice", "unmapped psum", "unmapped pmean",
                                                 "unmapped psum_scatter", "unmapped pmax"};
  return std::find(names.begin(), names.end(), row.name) != names.end();
}
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Row& row : golden::rows("parallel.json"))
    if (row.params.contains("call") && !golden::left_out(row)) out.push_back(make_case(row));
  return out;
}

TEST(GoldenParallel, EveryCallHasAProgram) {
  golden::check_left_out("parallel.json");
  const std::vector<Case> all = cases();
  EXPECT_GT(all.size(), 110u);
  for (const Case& c : all) EXPECT_TRUE(c.body) << c.row.name << ": " << c.row.params["call"];
}

TEST(GoldenParallel, Values) {
  for (const Case& c : cases()) {
    for (const Context context : {Context::pmap, Context::vmap, Context::shard_map}) {
      SCOPED_TRACE(c.row.name + " in " + to_string(context));
      const Body f = in_context(context, c.body, c.axes);
      if (context == Context::shard_map && refused_when_typed(c.row))
        EXPECT_THROW(f(c.mapped, c.whole), ShardingError);
      else
        EXPECT_EQ(golden::differences(golden::leaves(c.row.expected), f(c.mapped, c.whole), c.tolerance()), "");
    }
  }
}

// A region whose results are declared to be split over `split` only.
Body declared(const Case& c, const std::vector<std::string>& split) {
  std::vector<int> front;
  std::vector<SpecDim> in, out;
  for (const MeshAxis& a : c.axes) {
    front.push_back(static_cast<int>(front.size()));
    in.emplace_back(a.name);
    const bool named = std::find(split.begin(), split.end(), a.name) != split.end();
    out.push_back(named ? SpecDim(a.name) : SpecDim());
  }
  const auto local = [body = c.body, front](const Arrays& mapped, const Arrays& whole) {
    Arrays rows, results;
    for (const Array& m : mapped) rows.push_back(squeeze(m, Axes(front)));
    for (const Array& r : body(rows, whole)) results.push_back(expand_dims(r, Axes(front)));
    return results;
  };
  return shard_map(local, make_mesh(c.axes), {.in = {P(in), P{}}, .out = {P(out)}});
}
TEST(GoldenParallel, WhatVariesInTypedRegions) {
  for (const Case& c : cases()) {
    if (!c.row.params.contains("varying") || refused_when_typed(c.row)) continue;
    SCOPED_TRACE(c.row.name);
    const auto varying = c.row.params["varying"][0].get<std::vector<std::string>>();
    EXPECT_EQ(declared(c, varying)(c.mapped, c.whole).size(), c.outputs());
    for (const std::string& axis : varying) {
      std::vector<std::string> fewer = varying;
      std::erase(fewer, axis);
      EXPECT_THROW(declared(c, fewer)(c.mapped, c.whole), ShardingError) << "without " << axis;
    }
  }
}

// ---- Gradients
Array weighted(const Arrays& out, const Arrays& weights) {
  Array total = sum(out.at(0) * weights.at(0));
  for (std::size_t i = 1; i < out.size(); ++i) total = total + sum(out[i] * weights.at(i));
  return total;
}
// Of the weighted sum of results, for mapped arrays and then whole ones.
Arrays gradients(const Body& f, const Arrays& mapped, const Arrays& whole, const Arrays& weights) {
  const auto loss = [&](const Arrays& m, const Arrays& w) { return weighted(f(m, w), weights); };
  auto [out, of_whole] = grad<0, 1>(loss)(mapped, whole);
  out.insert(out.end(), of_whole.begin(), of_whole.end());
  return out;
}
Arrays joined(Arrays a, const Arrays& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
// Each device differentiates for its own weights, or for weights that all share.
Arrays inside(const Case& c, Context context, const Arrays& weights, bool shared) {
  const std::size_t mapped = c.mapped.size(), whole = c.whole.size();
  const auto local = [&](const Arrays& m, const Arrays& w) {
    const Arrays given(
        shared ? w.begin() + static_cast<std::ptrdiff_t>(whole) : m.begin() + static_cast<std::ptrdiff_t>(mapped),
        shared ? w.end() : m.end());
    return gradients(c.body, Arrays(m.begin(), m.begin() + static_cast<std::ptrdiff_t>(mapped)),
                     Arrays(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(whole)), given);
  };
  const Body f = in_context(context, local, c.axes);
  return shared ? f(c.mapped, joined(c.whole, weights)) : f(joined(c.mapped, weights), c.whole);
}
// The weights of the first device.
Arrays first_of(const Arrays& weights, std::size_t axes) {
  Arrays out;
  for (Array w : weights) {
    for (std::size_t i = 0; i < axes; ++i) w = w[0];
    out.push_back(w);
  }
  return out;
}

TEST(GoldenParallel, GradientsOutside) {
  for (const Case& c : cases()) {
    if (!c.row.params.contains("grads")) continue;
    const Arrays weights = arrays_from(golden::leaves(c.row.params["weights"]));
    for (const Context context : {Context::pmap, Context::vmap, Context::shard_map}) {
      if (context == Context::shard_map && refused_when_typed(c.row)) continue;
      SCOPED_TRACE(c.row.name + " in " + to_string(context));
      const Arrays got = gradients(in_context(context, c.body, c.axes), c.mapped, c.whole, weights);
      EXPECT_EQ(golden::differences(c.by_input(c.row.params["grads"]["outside"]), got, c.tolerance()), "");
    }
  }
}

void check_inside(const Case& c, Context context) {
  const std::string kind = context == Context::shard_map ? "typed" : "pmap";
  const json& want = c.row.params["grads"];
  const Arrays weights = arrays_from(golden::leaves(c.row.params["weights"]));
  SCOPED_TRACE(c.row.name + " in " + to_string(context));
  EXPECT_EQ(golden::differences(c.by_input(want["inside_" + kind]), inside(c, context, weights, false), c.tolerance()),
            "");
  const Arrays shared = first_of(weights, c.axes.size());
  EXPECT_EQ(golden::differences(c.by_input(want["shared_" + kind]), inside(c, context, shared, true), c.tolerance()),
            "");
}
TEST(GoldenParallel, GradientsInside) {
  for (const Case& c : cases()) {
    if (!c.row.params.contains("grads")) continue;
    check_inside(c, Context::pmap);
    check_inside(c, Context::vmap);
    if (!refused_when_typed(c.row)) check_inside(c, Context::shard_map);
  }
}

// JAX has no derivative of pmax and pmin; ours is that of max and min over the gathered values, where ties share.
TEST(GoldenParallel, ExtremaAreDifferentiatedAsIfGathered) {
  for (Case c : cases()) {
    const bool greatest = c.row.name == "pmax gradient, by all_gather";
    if (!greatest && c.row.name != "pmin gradient, by all_gather") continue;
    c.body = golden::body_of(greatest ? "pmax(x, 'i')" : "pmin(x, 'i')");
    const Arrays weights = arrays_from(golden::leaves(c.row.params["weights"]));
    const Arrays shared = first_of(weights, 1);
    const json& want = c.row.params["grads"];
    for (const Context context : {Context::pmap, Context::vmap, Context::shard_map}) {
      SCOPED_TRACE(c.row.name + " in " + to_string(context));
      const auto outside = gradients(in_context(context, c.body, c.axes), c.mapped, c.whole, weights);
      EXPECT_EQ(golden::differences(c.by_input(want["outside"]), outside, c.tolerance()), "");
      const auto own = inside(c, context, weights, false);
      EXPECT_EQ(golden::differences(c.by_input(want["inside_pmap"]), own, c.tolerance()), "");
    }
    check_inside(c, Context::pmap);
    check_inside(c, Context::vmap);
    // The typed result is equal on all devices, so a loss with equal weights counts once and not once per device.
    const Arrays once = inside(c, Context::shard_map, shared, true);
    EXPECT_EQ(golden::differences(c.by_input(want["shared_pmap"]), {once.at(0) * 4.0}, c.tolerance()), "");
  }
}

// JAX 0.10 ignores the order of the names in ppermute; here it counts, as in every other collective.
TEST(GoldenParallel, PpermuteFollowsTheOrderOfNames) {
  const std::vector<MeshAxis> axes{{"i", 2}, {"j", 3}};
  const Array x = reshape(arange(6.0), {2, 3});
  const Body ring = [](const Arrays& m, const Arrays&) { return ppermute(m, {"j", "i"}, ring_shift(6)); };
  // Over (j, i) the devices stand in the order 0 3 1 4 2 5.
  for (const Context context : {Context::pmap, Context::vmap, Context::shard_map}) {
    SCOPED_TRACE(to_string(context));
    EXPECT_THAT(in_context(context, ring, axes)({x}, {}).at(0).to_vector<float>(),
                testing::ElementsAre(5, 3, 4, 0, 1, 2));
    const Body square_of = [&](const Arrays& m, const Arrays& w) { return gradients(ring, m, w, m); };
    EXPECT_THAT(in_context(context, square_of, axes)({x}, {}).at(0).to_vector<float>(),
                testing::ElementsAre(3, 4, 5, 1, 2, 0));
  }
}
}  // namespace
