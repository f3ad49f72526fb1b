// The gradient table: a loss of one weight w and a row x per device, differentiated in every way that users write, in
// pmap (w unmapped or copied), vmap and typed shard_map (w equal everywhere, or made varying first), and from outside.
#include "golden/parallel.hpp"

using namespace uni;

namespace {
using golden::json;
using golden::Row;
using Loss = std::function<Array(const Array&, const Array&)>;
using Local = std::function<Arrays(const Array& w, const Array& x)>;

Loss loss_of(const Row& row) {
  if (row.params["loss"].get<std::string>().starts_with("mean"))
    return [](const Array& w, const Array& x) { return mean(square(w * x)); };
  return [](const Array& w, const Array& x) { return w * x * x; };
}
std::vector<Row> table() {
  std::vector<Row> out;
  for (const Row& row : golden::rows("parallel.json"))
    if (row.op == "gradient_table" && !golden::left_out(row)) out.push_back(row);
  return out;
}
std::string entry(const Row& row) { return row.name.substr(std::string("gradient table: ").size()); }

template <class R>
Arrays list(const R& r) {
  return {r.value, r.grad};
}
Loss over_devices(const Loss& loss, bool mean_of) {
  return [=](const Array& w, const Array& x) { return mean_of ? pmean(loss(w, x), "i") : psum(loss(w, x), "i"); };
}
Local gradient(const Loss& loss) {
  return [=](const Array& w, const Array& x) { return Arrays{grad(loss)(w, x)}; };
}
Local gradient_for_x(const Loss& loss) {
  return [=](const Array& w, const Array& x) { return Arrays{grad<1>(loss)(w, x)}; };
}
Local both(const Loss& loss) {
  return [=](const Array& w, const Array& x) { return list(value_and_grad(loss)(w, x)); };
}
Local summed(const Local& f) {
  return [=](const Array& w, const Array& x) { return psum(f(w, x), "i"); };
}
Local averaged(const Local& f) {
  return [=](const Array& w, const Array& x) { return pmean(f(w, x), "i"); };
}

std::map<std::string, Local> programs(const Loss& loss) {
  const Loss mean_loss = over_devices(loss, true), sum_loss = over_devices(loss, false);
  return {{"grad(loss)", gradient(loss)},
          {"pmean(grad(loss))", averaged(gradient(loss))},
          {"psum(grad(loss))", summed(gradient(loss))},
          {"grad(pmean(loss))", gradient(mean_loss)},
          {"grad(psum(loss))", gradient(sum_loss)},
          {"pmean(grad(pmean(loss)))", averaged(gradient(mean_loss))},
          {"psum(grad(pmean(loss)))", summed(gradient(mean_loss))},
          {"value_and_grad(loss)", both(loss)},
          {"pmean(value_and_grad(loss))", averaged(both(loss))},
          {"value_and_grad(pmean(loss))", both(mean_loss)},
          {"value_and_grad(psum(loss))", both(sum_loss)},
          {"grad(pmean(loss)) for x", gradient_for_x(mean_loss)},
          {"grad(psum(loss)) for x", gradient_for_x(sum_loss)}};
}
// Reductions of a gradient that arrives summed and equal on all devices: errors here, n times too much in JAX.
bool counts_twice(const std::string& entry) {
  return entry == "pmean(grad(loss))" || entry == "psum(grad(loss))" || entry == "pmean(grad(pmean(loss)))" ||
         entry == "psum(grad(pmean(loss)))" || entry == "pmean(value_and_grad(loss))";
}

Arrays typed(const Local& f, const Array& w, const Array& x) {
  const auto local = [f](const Array& own, const Array& row) {
    Arrays out;
    for (const Array& r : f(own, squeeze(row, 0))) out.push_back(expand_dims(r, 0));
    return out;
  };
  return shard_map(local, make_mesh({{"i", 4}}), {.in = {P{}, P{"i"}}, .out = {P{"i"}}})(w, x);
}
const std::vector<AxisSpec> w_whole{std::nullopt, 0};
using Runner = std::function<Arrays(const Local&, const Array& w, const Array& x)>;
const std::map<std::string, Runner>& contexts() {
  static const std::map<std::string, Runner> all = {
      {"pmap, w unmapped",
       [](const Local& f, const Array& w, const Array& x) { return pmap(f, {.axis = "i", .in_axes = w_whole})(w, x); }},
      {"pmap, w copied per device",
       [](const Local& f, const Array& w, const Array& x) { return pmap(f, {.axis = "i"})(full({4}, w), x); }},
      {"vmap, w unmapped", [](const Local& f, const Array& w,
                              const Array& x) { return vmap(f, {.in_axes = w_whole, .axis_name = "i"})(w, x); }},
      {"shard_map typed, w invariant", typed},
      {"shard_map typed, w made varying first",
       [](const Local& f, const Array& w, const Array& x) {
         return typed([f](const Array& own, const Array& row) { return f(pvary(own, "i"), row); }, w, x);
       }},
      // There is no unchecked shard_map; its numbers are those of pmap.
      {"shard_map check_vma=False", [](const Local& f, const Array& w, const Array& x) {
         return pmap(f, {.axis = "i", .in_axes = w_whole})(w, x);
       }}};
  return all;
}

TEST(GradientTable, Inside) {
  int count = 0;
  for (const Row& row : table()) {
    const auto all = programs(loss_of(row));
    const auto program = all.find(entry(row));
    if (program == all.end()) continue;
    ++count;
    EXPECT_EQ(row.expected.size(), contexts().size());
    for (const auto& [context, run] : contexts()) {
      SCOPED_TRACE(row.name + " of " + row.params["loss"].get<std::string>() + " in " + context);
      if (context == "shard_map typed, w invariant" && counts_twice(entry(row))) {
        EXPECT_THROW(run(program->second, row.in(0), row.in(1)), ShardingError);
        continue;
      }
      const Arrays got = run(program->second, row.in(0), row.in(1));
      EXPECT_EQ(golden::differences(golden::leaves(row.expected.at(context)), got, {.absolute = 1e-30}), "");
    }
  }
  EXPECT_EQ(count, 26);
}

// From outside the answer is the derivative of the whole program, whatever the context.
TEST(GradientTable, Outside) {
  int count = 0;
  for (const Row& row : table()) {
    if (!entry(row).starts_with("grad outside ")) continue;
    ++count;
    const Loss loss = loss_of(row);
    const bool region = entry(row) == "grad outside shard_map";
    const auto outer = [&](const Array& w, const Array& x) {
      const Local f = [&](const Array& own, const Array& r) { return Arrays{loss(own, r)}; };
      return mean(contexts().at(region ? "shard_map typed, w invariant" : "pmap, w unmapped")(f, w, x).at(0));
    };
    const auto [w, x] = grad<0, 1>(outer)(row.in(0), row.in(1));
    EXPECT_EQ(golden::differences(golden::leaves(row.expected), {w, x}, {.absolute = 1e-30}), "") << row.name;
  }
  EXPECT_EQ(count, 6);
}

// The global view has no axis names and no results per device.
TEST(GradientTable, GlobalView) {
  int count = 0;
  for (const Row& row : table()) {
    if (!entry(row).starts_with("grad of global ")) continue;
    ++count;
    const Loss loss = loss_of(row);
    const bool mean_of = entry(row) == "grad of global mean";
    const auto f = [=](const Array& w, const Array& x) {
      const Array each = vmap(loss, {.in_axes = w_whole})(w, x);
      return mean_of ? mean(each) : sum(each);
    };
    const auto r = jit(value_and_grad<0, 1>(f))(row.in(0), row.in(1));
    const json& want = row.expected.begin().value();
    const auto [w, x] = r.grad;
    EXPECT_EQ(golden::differences({want["value"], want["w"], want["x"]}, {r.value, w, x}, {.absolute = 1e-30}), "")
        << row.name;
  }
  EXPECT_EQ(count, 4);
}

TEST(GradientTable, EveryEntryIsChecked) { EXPECT_EQ(table().size(), 36u); }
}  // namespace
