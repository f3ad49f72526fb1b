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
    expect_equal([=](const Array& v) { return all_gather(v, "i", {.axis = 1, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return psum_scatter(v, "i", {.tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return all_to_all(v, "i", {.split = 0, .concat = 1, .tiled = tiled}); }, x);
    expect_equal([=](const Array& v) { return all_to_all(v, "i", {.split = 0, .concat = 0, .tiled = tiled}); }, x);
  }
  expect_equal([](const Array& v) { return ppermute(v, "i", ring_shift(4)); }, x);
  expect_equal([](const Array& v) { return ppermute(v, "i", {{0, 1}, {2, 3}}); }, x);
  expect_equal([](const Array& v) { return ppermute(v, "i", {}); }, x);
}

template <class F>
void expect_equal_nested(F f, const Array& x) {
  const std::vector<float> want = pmap(pmap(f, {.axis = "j"}), {.axis = "i"})(x).template to_vector<float>();
  EXPECT_EQ(vmap(vmap(f, {.axis_name = "j"}), {.axis_name = "i"})(x).template to_vector<float>(), want);
  EXPECT_EQ(pmap(vmap(f, {.axis_name = "j"}), {.axis = "i"})(x).template to_vector<float>(), want);
  EXPECT_EQ(vmap(pmap(f, {.axis = "j"}), {.axis_name = "i"})(x).template to_vector<float>(), want);
}
TEST(VmapEqualsPmap, TwoAxesInBothOrders) {
  const Array x = values({2, 3, 6});
  for (const AxisName& axes : {AxisName({"i", "j"}), AxisName({"j", "i"})}) {
    expect_equal_nested([=](const Array& v) { return psum(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return pmax(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return all_gather(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return all_gather(v, axes, {.tiled = true}); }, x);
    expect_equal_nested([=](const Array& v) { return psum_scatter(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return psum_scatter(v, axes, {.tiled = true}); }, x);
    expect_equal_nested([=](const Array& v) { return all_to_all(v, axes); }, x);
    expect_equal_nested([=](const Array& v) { return all_to_all(v, axes, {.tiled = true}); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axes, ring_shift(6)); }, x);
    expect_equal_nested([=](const Array& v) { return ppermute(v, axes, {{0, 5}, {3, 1}}); }, x);
    expect_equal_nested([=](const Array& v) { return v + axis_index(axes); }, x);
  }
}

TEST(VmapEqualsPmap, UnmappedValues) {
  const auto both = [](auto f) {
    const Array x = values({4}), w = array({2., 3.});
    const std::vector<AxisSpec> in{0, std::nullopt};
    EXPECT_EQ(pmap(f, {.axis = "i", .in_axes = in})(x, w).template to_vector<float>(),
              vmap(f, {.in_axes = in, .axis_name = "i"})(x, w).template to_vector<float>());
  };
  both([](const Array& x, const Array& w) { return psum(w, "i") + x; });
  both([](const Array& x, const Array& w) { return pmean(w, "i") * x; });
  both([](const Array& x, const Array& w) { return pmax(w, "i") * x; });
  both([](const Array& x, const Array& w) { return all_gather(w, "i") * x; });
}
}  // namespace
