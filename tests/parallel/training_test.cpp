// Data-parallel training: one program, one launch a step, no recompilation; the same losses on any number of devices.
using namespace uni;

namespace {
struct Model {
  nn::Linear hidden, out;
};
struct Batch {
  Array x, y;
};
Model make_model(Dtype dtype) {
  const auto [k1, k2] = split<2>(Key(3));
  return {nn::Linear::init(k1, 6, 16, {.dtype = dtype}), nn::Linear::init(k2, 16, 1, {.dtype = dtype})};
}
Array loss(const Model& m, const Batch& b) {
  const Array error = m.out(nn::relu(m.hidden(b.x))) - b.y;
  return mean(error * error);
}
auto make_step() {
  return pmap(
      [](const Model& m, const Batch& b, const Array& rate) {
        const auto [value, g] = value_and_grad(loss)(m, b);
        const auto [l, gradient] = pmean(std::pair{value, g}, "batch");
        const Model next = tree_map([&](const Array& p, const Array& d) { return p - rate * d; }, m, gradient);
        return std::pair{next, l};
      },
      {.axis = "batch", .in_axes = {std::nullopt, 0, std::nullopt}, .out_axes = {std::nullopt, std::nullopt}});
}
Batch make_batch(int devices, int step, Dtype dtype) {
  const Array x = normal(fold_in(Key(5), step), {devices, 16 / devices, 6}, {.dtype = dtype});
  return {x, sum(x * x, {.axis = -1, .keepdims = true})};
}
std::vector<double> losses(int devices, int steps, Dtype dtype) {
  const auto step = jit(make_step(), {.donate = {0}});
  Model m = make_model(dtype);
  std::vector<double> out;
  for (int i = 0; i < steps; ++i) {
    auto [next, l] = step(std::move(m), make_batch(devices, i, dtype), full({}, 0.01, {.dtype = dtype}));
    m = std::move(next);
    out.push_back(l.item<double>());
  }
  return out;
}

TEST(Training, LossesDoNotDependOnTheNumberOfDevices) {
  const std::vector<double> one = losses(1, 100, Dtype::f64);
  for (const int devices : {2, 4, 8}) {
    const std::vector<double> many = losses(devices, 100, Dtype::f64);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(many[i] / one[i], 1.0, 1e-12) << devices << " at " << i;
  }
  EXPECT_LT(one.back(), 0.5 * one.front());
  EXPECT_NEAR(losses(8, 1, Dtype::f32)[0] / losses(1, 1, Dtype::f32)[0], 1.0, 1e-6);
}

TEST(Training, OneProgramOneLaunchNoRecompilation) {
  const auto step = jit(make_step());
  Model m = make_model(Dtype::f32);
  const Batch batch = make_batch(8, 0, Dtype::f32);
  m = step(m, batch, 0.1).first;
  const JitStats before = jit_stats();
  for (int i = 0; i < 100; ++i) m = step(m, batch, 0.1 / (1 + i)).first;
  const JitStats after = jit_stats();
  EXPECT_EQ(after.compiles - before.compiles, 0);
  EXPECT_EQ(after.traces - before.traces, 0);
  EXPECT_EQ(after.launches - before.launches, 100);
  (void)jit(make_step())(m, batch, 0.1);  // a new jit object: a trace, no compile
  EXPECT_EQ(jit_stats().compiles - before.compiles, 0);
}

TEST(Training, TheProgramShowsItsCollectives) {
  const Program p = make_program(jit(pmap(
      [](const Model& m, const Batch& b) {
        const auto [value, g] = value_and_grad(loss)(m, b);
        return psum(std::pair{value, g}, "batch");
      },
      {.axis = "batch", .in_axes = {std::nullopt, 0}})))(make_model(Dtype::f32), make_batch(8, 0, Dtype::f32));
  EXPECT_EQ(p.count("psum"), 5);
  EXPECT_EQ(p.count("shard_map"), 1);
  EXPECT_EQ(p.collectives().size(), 5u);
  EXPECT_THAT(p.to_string(), testing::HasSubstr("psum{axes=[\"batch\"]"));
}

TEST(Training, DonatedBuffersAreReused) {
  const auto scale = jit([](const Array& x) { return x * 2.0; }, {.donate = {0}});
  Array x = ones({1 << 16}) + 0.0;
  const void* before = x.view<float>().data();
  const Array y = scale(std::move(x));
  EXPECT_EQ(static_cast<const void*>(y.view<float>().data()), before);
  EXPECT_EQ(y[5].item<float>(), 2.0f);
  Array z = ones({4}) + 0.0;
  const Array other = z;  // another handle lives: copied
  const Array w = scale(std::move(z));
  EXPECT_EQ(other[0].item<float>(), 1.0f);
  EXPECT_EQ(w[0].item<float>(), 2.0f);
}

// The first result lies over an operand that the second one reads too.
TEST(Training, ResultsOverAnOperandLeaveItToTheOthers) {
  const auto f = [](const Array& a, const Array& x) {
    const Array r = sum(x, {.axis = {1}});
    return std::pair{r + 1.0, r * a};
  };
  const auto check = [](const Array& plus, const Array& times) {
    for (const i64 i : {0, 1, 2047}) {
      EXPECT_EQ(plus[i].item<float>(), 65.0f);
      EXPECT_EQ(times[i].item<float>(), 64.0f * float(i));
    }
  };
  for (const std::uint8_t first : {0, 1}) {
    const auto g = jit(
        [&](const Array& a, const Array& x) {
          auto [plus, times] = f(a, x);
          return first ? std::pair{times, plus} : std::pair{plus, times};
        },
        {.donate = {0}});
    Array a = arange(2048.0) + 0.0;
    const auto [p, q] = g(std::move(a), ones({2048, 64}));
    first ? check(q, p) : check(p, q);
  }
}

TEST(Training, SixtyFourDevices) {
  const int before = device_count();
  set_device_count(64);
  const Array x = arange(64.0);
  EXPECT_THAT(pmap([](const Array& v) { return psum(v, "i"); }, {.axis = "i"})(x).to_vector<float>(),
              testing::Each(2016.0f));
  set_device_count(before);
}
}  // namespace
