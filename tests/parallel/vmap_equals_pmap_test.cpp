// vmap with an axis name gives what pmap gives, for every collective, several axes and partial permutations.
using namespace uni;

namespace {
template <class F>
void expect_equal(F f, const Array& x) {
  const Array by_pmap = pmap(f, {.axis = "i"})(x), by_vmap = vmap(f, {.axis_name = "i"})(x);
  EXPECT_EQ(by_pmap.shape(), by_vmap.shape());
  EXPECT_EQ(by_pmap.to_vector<float>(), by_vmap.to_vector<float>());
  // The transposed derivative, taken inside.
  const auto back = [f](const Array& v) {
    const auto [y, pull] = vjp(f, v);
    return pull(y + 1.0);
  };
  EXPECT_EQ(pmap(back, {.axis = "i"})(x).template to_vector<float>(),
            vmap(back, {.axis_name = "i"})(x).template to_vector<float>());
}
Array values(const Dims& shape) { return reshape(arange(static_cast<double>(shape.count())) * 0.25 - 1.0, shape); }

TEST(VmapEqualsPmap, OneAxis) {
  const Array x = values({4, 4, 2});
  expect_equal([](const Array& v) { return psum(v, "i"); }, x);
  expect_equal([](const Array& v) { return pmean(v * v, "i"); }, x);
  expect_equal([](const Array& v) { return pmax(v, "i"); }, x);
  expect_equal([](const Array& v) { return pmin(v, "i"); }, x);
  expect_equal([](const Array& v) { return v * axis_index("i"); }, x);
  for (const bool tiled : {false, true}) {
    for (const int axis : {0, 1, -1})
      expect_equal([=](const Array& v) { return all_gather(v, "i", {.axis = axis, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return psum_scatter(v, "i", {.tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return psum_scatter(transpose(v), "i", {.axis = 1, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return all_to_all(v, "i", {.split = 0, .concat = 1, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return all_to_all(v, "i", {.split = 0, .concat = 0, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return all_to_all(transpose(v), "i", {.split = 1, .tiled = tiled}); }, x);
  }
  expect_equal([](const Array& v) { return psum(1, "i") * v + psum(0.5, "i"); }, x);
  expect_equal([](const Array& v) { return axis_size("i") * pvary(v, "i"); }, x);
  expect_equal([](const Array& v) { return ppermute(v, "i", ring_shift(4)); }, x);
  expect_equal([](const Array& v) { return ppermute(v, "i", {{0, 1}, {2, 3}}); }, x);
  expect_equal([](const Array& v) { return ppermute(v, "i", {}); }, x);
}

// In every nesting of two mapped axes, value and transposed derivative.
template <class F>
void expect_equal_nested(F f, const Array& x) {
  const auto back = [f](const Array& v) {
    const auto [y, pull] = vjp(f, v);
    return pull(y * y + 1.0);
  };
  const auto compare = [&](auto g) {
    const std::vector<float> want = pmap(pmap(g, {.axis = "j"}), {.axis = "i"})(x).template to_vector<float>();
    EXPECT_EQ(vmap(vmap(g, {.axis_name = "j"}), {.axis_name = "i"})(x).template to_vector<float>(), want);
    EXPECT_EQ(pmap(vmap(g, {.axis_name = "j"}), {.axis = "i"})(x).template to_vector<float>(), want);
    EXPECT_EQ(vmap(pmap(g, {.axis = "j"}), {.axis_name = "i"})(x).template to_vector<float>(), want);
  };
  compare(f);
  compare(back);
}
TEST(VmapEqualsPmap, TwoAxesInBothOrders) {
  const Array x = values({2, 3, 6});
  for (const AxisName& axes : {AxisName({"i", "j"}), AxisName({"j", "i"})}) {
    expect_equal_nested([=](const Array& v) { return psum(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return pmax(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return pmin(v * v, axes); }, x);
    for (const bool tiled : {false, true}) {
      expect_equal_nested([=](const Array& v) { return all_gather(v, axes, {.tiled = tiled}); }, x);
      expect_equal_nested([=](const Array& v) { return psum_scatter(v, axes, {.tiled = tiled}); }, x);
      expect_equal_nested([=](const Array& v) { return all_to_all(v, axes, {.tiled = tiled}); }, x);
    }
    expect_equal_nested([=](const Array& v) { return ppermute(v, axes, ring_shift(6)); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axes, {{0, 5}, {3, 1}}); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axes, {}); }, x);
    expect_equal_nested([=](const Array& v) { return v * axis_index(axes); }, x);
    expect_equal_nested([=](const Array& v) { return v * psum(1, axes); }, x);
  }
  // Exchanges that move the axis, and axes behind the first.
  const Array m = values({2, 3, 6, 6});
  for (const AxisName& axes : {AxisName({"i", "j"}), AxisName({"j", "i"})}) {
    for (const bool tiled : {false, true}) {
      expect_equal_nested([=](const Array& v) { return all_to_all(v, axes, {.concat = 1, .tiled = tiled}); }, m);
      expect_equal_nested([=](const Array& v) { return all_to_all(v, axes, {.split = 1, .tiled = tiled}); }, m);
      expect_equal_nested([=](const Array& v) { return psum_scatter(v, axes, {.axis = 1, .tiled = tiled}); }, m);
      expect_equal_nested([=](const Array& v) { return all_gather(v, axes, {.axis = -1, .tiled = tiled}); }, m);
    }
  }
}
TEST(VmapEqualsPmap, OneOfTwoAxes) {
  const Array x = values({2, 3, 6});
  for (const char* axis : {"i", "j"}) {
    const int n = axis[0] == 'i' ? 2 : 3;
    expect_equal_nested([=](const Array& v) { return pmean(v, axis) * v; }, x);
    expect_equal_nested([=](const Array& v) { return all_gather(v, axis); }, x);
    expect_equal_nested([=](const Array& v) { return psum_scatter(v, axis, {.tiled = true}); }, x);
    expect_equal_nested([=](const Array& v) { return all_to_all(v, axis, {.tiled = true}); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axis, ring_shift(n)); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axis, {{1, 0}}); }, x);
  }
}

// An operand that all devices see whole counts once per device; gradients for it are local.
TEST(VmapEqualsPmap, UnmappedValues) {
  const auto both = [](auto f) {
    const Array x = values({4, 4}), w = array({2., 3., 5., 7.});
    const std::vector<AxisSpec> in{0, std::nullopt};
    const auto compare = [&](auto g) {
      const Array by_pmap = pmap(g, {.axis = "i", .in_axes = in})(x, w);
      const Array by_vmap = vmap(g, {.in_axes = in, .axis_name = "i"})(x, w);
      EXPECT_EQ(by_pmap.shape(), by_vmap.shape());
      EXPECT_EQ(by_pmap.template to_vector<float>(), by_vmap.template to_vector<float>());
    };
    compare(f);
    compare([f](const Array& v, const Array& u) {
      const auto [y, pull] = vjp(f, v, u);
      const auto [dv, du] = pull(y + axis_index("i"));
      return dv * 100.0 + du;
    });
  };
  both([](const Array& x, const Array& w) { return psum(w, "i") + x; });
  both([](const Array& x, const Array& w) { return pmean(w, "i") * x; });
  both([](const Array& x, const Array& w) { return pmax(w, "i") * x; });
  both([](const Array& x, const Array& w) { return pmin(w, "i") * x; });
  both([](const Array& x, const Array& w) { return ppermute(w, "i", {{0, 1}, {3, 2}}) * x; });
  for (const bool tiled : {false, true}) {
    both([=](const Array& x, const Array& w) { return sum(all_gather(w, "i", {.tiled = tiled})) * x; });
    both([=](const Array& x, const Array& w) { return psum_scatter(w, "i", {.tiled = tiled}) * x; });
    both([=](const Array& x, const Array& w) { return all_to_all(w, "i", {.tiled = tiled}) * x; });
  }
}

TEST(ShardMap, ResultsSplitOverAxesInAnyOrder) {
  const Mesh mesh = make_mesh({{"a", 2}, {"b", 2}});
  const P order{{"b", "a"}};
  const auto f = shard_map([](const Array& x) { return x * 1; }, mesh, {.in = {order}, .out = {order}});
  EXPECT_EQ(f(array({1., 2., 3., 4.})).to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}
}  // namespace
