// Values and derivatives of control flow, on both backends, eager and under jit.
#include "runtime/client.hpp"

using namespace uni;

namespace {
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

class Control : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("reference")) runtime::set_default_client(runtime::reference_client());
  }
  void TearDown() override { runtime::set_default_client(runtime::native_client()); }
};
INSTANTIATE_TEST_SUITE_P(Backends, Control, testing::Values("native", "reference"),
                         [](const auto& info) { return std::string(info.param); });

std::vector<float> floats(const Array& x) { return x.to_vector<float>(); }
Array x4() { return arange(4.0); }
Array scalar(double v) { return full({}, v); }
const auto sum_and_product = [](const Array& c, const Array& x) { return std::pair{c + x, c * x}; };
const auto running_sum = [](const Array& c, const Array& x) { return std::pair{c + x, c}; };

TEST_P(Control, CondTakesOneBranch) {
  const auto f = [](const Array& x) {
    return cond(
        sum(x) > 2.0, [](const Array& v) { return v * 10.0; }, [](const Array& v) { return v - 1.0; }, x);
  };
  for (const bool compiled : {false, true}) {
    const auto g = [&](const Array& x) { return compiled ? jit(f)(x) : f(x); };
    EXPECT_THAT(floats(g(x4())), ElementsAre(0, 10, 20, 30));
    EXPECT_THAT(floats(g(x4() * 0.1)), Pointwise(FloatNear(1e-6f), {-1.f, -.9f, -.8f, -.7f}));
    EXPECT_THAT(floats(grad([&](const Array& x) { return sum(g(x)); })(x4())), ElementsAre(10, 10, 10, 10));
  }
}

TEST_P(Control, BranchesCaptureDifferentValues) {
  const auto f = [](const Array& x, const Array& y) {
    const Array z = x * y;
    return cond(
        x < y, [&] { return z + x; }, [&] { return sin(y); });
  };
  const auto d = grad<0, 1>([&](const Array& x, const Array& y) { return f(x, y); });
  EXPECT_FLOAT_EQ(f(scalar(1), scalar(2)).item<float>(), 3);
  EXPECT_FLOAT_EQ(std::get<0>(d(scalar(1), scalar(2))).item<float>(), 3);
  EXPECT_FLOAT_EQ(std::get<1>(d(scalar(1), scalar(2))).item<float>(), 1);
  EXPECT_FLOAT_EQ(std::get<0>(jit(d)(scalar(2), scalar(1))).item<float>(), 0);
  EXPECT_FLOAT_EQ(std::get<1>(jit(d)(scalar(2), scalar(1))).item<float>(), std::cos(1.f));
}

TEST_P(Control, SwitchClampsItsIndex) {
  const std::tuple branches{[] { return Array(10); }, [] { return Array(20); }, [] { return Array(30); }};
  const auto f = [&](const Array& i) { return switch_(i, branches); };
  std::vector<int> got;
  for (const int i : {-5, 0, 1, 2, 7}) got.push_back(f(Array(i)).item<int>());
  EXPECT_THAT(got, ElementsAre(10, 10, 20, 30, 30));
  EXPECT_THAT(vmap(f)(array({-5, 0, 1, 2, 7})).to_vector<int>(), ElementsAre(10, 10, 20, 30, 30));
  EXPECT_EQ(f(full({}, i64{1} << 40, {.dtype = Dtype::i64})).item<int>(), 30);
}

TEST_P(Control, LanesOfAnotherBranchGiveNoNan) {
  const auto f = [](const Array& x) {
    return cond(
        x > 0.0, [](const Array& v) { return sqrt(v); }, [](const Array& v) { return v * 0.0; }, x);
  };
  const Array x = array({4.0f, 0.0f, -1.0f});
  EXPECT_THAT(floats(grad([&](const Array& v) { return sum(vmap(f)(v)); })(x)), ElementsAre(.25f, 0, 0));
  EXPECT_THAT(floats(vmap(grad(f))(x)), ElementsAre(.25f, 0, 0));
}

TEST_P(Control, ScanStacksOutputsInPlace) {
  for (const int unroll : {1, 2, 3, 4}) {
    const auto [c, y] = scan(sum_and_product, 0.0, x4(), {.unroll = unroll});
    EXPECT_FLOAT_EQ(c.item<float>(), 6);
    EXPECT_THAT(floats(y), ElementsAre(0, 0, 2, 9));
    const auto [d, z] = scan(running_sum, 0.0, x4(), {.reverse = true, .unroll = unroll});
    EXPECT_FLOAT_EQ(d.item<float>(), 6);
    EXPECT_THAT(floats(z), ElementsAre(6, 5, 3, 0));
  }
}

TEST_P(Control, ScanOfNothingReturnsTheStart) {
  const auto [c, y] = scan(running_sum, scalar(5), zeros({0}));
  EXPECT_FLOAT_EQ(c.item<float>(), 5);
  EXPECT_EQ(y.shape(), (Dims{0}));
  const auto [powers, nothing] = scan(
      [](const Array& k) {
        return std::pair{k * 2, std::tuple<>()};
      },
      Array(1), {.length = 3});
  EXPECT_EQ(powers.item<int>(), 8);
}

struct State {
  Array position, steps;
};
struct Input {
  Array push;
  std::vector<Array> more;
};
TEST_P(Control, ScanOverTrees) {
  const auto f = [](const State& s, const Input& x) {
    const State next{s.position * 0.5 + x.push, s.steps + 1};
    return std::pair{next, std::tuple{s.position, x.more[0] * 2}};
  };
  const Input xs{ones({3, 2}), {arange(3)}};
  const auto run = [&](const Input& in) { return scan(f, State{zeros({2}), Array(0)}, in); };
  const auto [s, ys] = jit(run)(xs);
  EXPECT_THAT(floats(s.position), ElementsAre(1.75f, 1.75f));
  EXPECT_EQ(s.steps.item<int>(), 3);
  EXPECT_THAT(floats(std::get<0>(ys)), ElementsAre(0, 0, 1, 1, 1.5f, 1.5f));
  EXPECT_THAT(std::get<1>(ys).to_vector<int>(), ElementsAre(0, 2, 4));
}

// Loops against the same loop in C++, which is unrolled.
Array unrolled(const Array& w, const Array& xs) {
  Array c = ones({});
  Array total = zeros({});
  for (i64 i = 0; i < 4; ++i) {
    total = total + sin(c * w);
    c = c * w + xs[i] * w;
  }
  return total + c;
}
Array looped(const Array& w, const Array& xs) {
  const auto [c, y] = scan(
      [&](const Array& s, const Array& x) {
        return std::pair{s * w + x * w, sin(s * w)};
      },
      ones({}), xs);
  return sum(y) + c;
}
TEST_P(Control, ScanDerivativesEqualTheUnrolledLoop) {
  const Array w = scalar(0.8), xs = array({.1f, .2f, .3f, .4f});
  const auto near = [](const Array& a, const Array& b) {
    EXPECT_THAT(floats(a), Pointwise(FloatNear(2e-5f), floats(b)));
  };
  near(looped(w, xs), unrolled(w, xs));
  near(grad(looped)(w, xs), grad(unrolled)(w, xs));
  near(grad<1>(looped)(w, xs), grad<1>(unrolled)(w, xs));
  near(jit(grad<1>(looped))(w, xs), grad<1>(unrolled)(w, xs));
  near(jit(grad(looped))(w, xs), grad(unrolled)(w, xs));
  near(grad(grad(looped))(w, xs), grad(grad(unrolled))(w, xs));
  near(grad(grad(grad(looped)))(w, xs), grad(grad(grad(unrolled)))(w, xs));
  near(jvp(looped, std::tuple{w, xs}, std::tuple{w, xs}).second,
       jvp(unrolled, std::tuple{w, xs}, std::tuple{w, xs}).second);
  const Array many = stack({xs, xs * 2.0, xs * 3.0});
  near(vmap(looped, {.in_axes = {none, 0}})(w, many), vmap(unrolled, {.in_axes = {none, 0}})(w, many));
  near(vmap(grad(looped), {.in_axes = {none, 0}})(w, many), vmap(grad(unrolled), {.in_axes = {none, 0}})(w, many));
  const auto total = [](const auto& f) {
    return [f](const Array& u, const Array& v) { return sum(vmap(f, {.in_axes = {none, 0}})(u, v)); };
  };
  near(grad(total(looped))(w, many), grad(total(unrolled))(w, many));
  near(grad<1>(total(looped))(w, many), grad<1>(total(unrolled))(w, many));
}

TEST_P(Control, WhileRunsUntilTheConditionFails) {
  const auto f = [](const Array& limit, const Array& start) {
    return while_loop([&](const Array& c) { return c < limit; }, [](const Array& c) { return c * 2.0; }, start);
  };
  EXPECT_FLOAT_EQ(f(scalar(10), scalar(1)).item<float>(), 16);
  EXPECT_FLOAT_EQ(jit(f)(scalar(100), scalar(3)).item<float>(), 192);
  EXPECT_FLOAT_EQ(f(scalar(1), scalar(5)).item<float>(), 5);
  const auto of_start = [&](const Array& s) { return f(scalar(10), s); };
  const auto [value, tangent] = jvp(of_start, scalar(1), scalar(1));
  EXPECT_FLOAT_EQ(value.item<float>(), 16);
  EXPECT_FLOAT_EQ(tangent.item<float>(), 16);
  EXPECT_FLOAT_EQ(linearize(of_start, scalar(1)).second(scalar(2)).item<float>(), 32);
  EXPECT_THAT(floats(vmap(f, {.in_axes = {0, none}})(array({.5f, 3.f, 100.f}), scalar(1))), ElementsAre(1, 4, 128));
  EXPECT_THAT(floats(vmap(f, {.in_axes = {none, 0}})(scalar(10), array({1.f, 3.f, 40.f}))), ElementsAre(16, 12, 40));
  EXPECT_THAT(
      floats(vmap(vmap(f, {.in_axes = {0, none}}), {.in_axes = {none, 0}})(array({3.f, 9.f}), array({1.f, 2.f}))),
      ElementsAre(4, 16, 4, 16));
}

TEST_P(Control, WhileCarriesThatSwapPlaces) {
  const auto fibonacci = [](const Array& n) {
    return while_loop([&](const std::tuple<Array, Array, Array>& c) { return std::get<2>(c) < n; },
                      [](const std::tuple<Array, Array, Array>& c) {
                        const auto& [a, b, i] = c;
                        return std::tuple{b, a + b, i + 1};
                      },
                      std::tuple{Array(0), Array(1), Array(0)});
  };
  EXPECT_EQ(std::get<0>(jit(fibonacci)(Array(20))).item<int>(), 6765);
  const auto swap = [](const Array& a, const Array& b, const Array& n) {
    return fori_loop(
        0, n,
        [](const Array&, const std::pair<Array, Array>& c) {
          return std::pair{c.second, c.first};
        },
        std::pair{a, b});
  };
  EXPECT_EQ(jit(swap)(Array(1), Array(2), Array(3)).first.item<int>(), 2);
  EXPECT_EQ(jit(swap)(Array(1), Array(2), Array(4)).first.item<int>(), 1);
}

TEST_P(Control, ForiLoopCountsUp) {
  const auto power = [](const Array& x) {
    return fori_loop(
        0, 3, [&](const Array&, const Array& c) { return c * x; }, ones({}));
  };
  EXPECT_FLOAT_EQ(power(scalar(2)).item<float>(), 8);
  EXPECT_FLOAT_EQ(grad(power)(scalar(2)).item<float>(), 12);
  EXPECT_FLOAT_EQ(jit(grad(power))(scalar(2)).item<float>(), 12);
  const auto add = [](const Array& i, const Array& c) { return c + i; };
  EXPECT_EQ(fori_loop(5, 3, add, Array(7)).item<int>(), 7);
  EXPECT_EQ(fori_loop(-2, 4, add, Array(0)).item<int>(), 3);
  const auto below = [&](const Array& n) { return fori_loop(0, n, add, Array(0)); };
  EXPECT_EQ(jit(below)(Array(5)).item<int>(), 10);
  EXPECT_THAT(vmap(below)(array({0, 3, 5})).to_vector<int>(), ElementsAre(0, 3, 10));
}

TEST_P(Control, AWeakStartTakesTheDtypeOfTheBody) {
  const auto c = scan([](const Array& s, const Array& x) { return std::pair{s + x, std::tuple<>()}; }, 0, x4()).first;
  EXPECT_EQ(c.dtype(), Dtype::f32);
  EXPECT_FLOAT_EQ(c.item<float>(), 6);
  const auto w = while_loop([](const Array& s) { return s < 3; }, [](const Array& s) { return s + 1.0; }, 0);
  EXPECT_EQ(w.dtype(), Dtype::f32);
  EXPECT_FLOAT_EQ(w.item<float>(), 3);
}

TEST_P(Control, MapGivesWhatVmapGives) {
  const auto f = [](const Array& x) { return x * x; };
  EXPECT_THAT(floats(uni::map(f, x4())), ElementsAre(0, 1, 4, 9));
  for (const i64 size : {1, 2, 3, 4, 5})
    EXPECT_THAT(floats(uni::map(f, x4(), {.batch_size = size})), ElementsAre(0, 1, 4, 9));
  EXPECT_THAT(floats(grad([&](const Array& x) { return sum(uni::map(f, x, {.batch_size = 3})); })(x4())),
              ElementsAre(0, 2, 4, 6));
}

TEST_P(Control, AssociativeScan) {
  const auto plus = [](const Array& a, const Array& b) { return a + b; };
  EXPECT_THAT(floats(associative_scan(plus, x4())), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(floats(associative_scan(plus, x4(), {.reverse = true})), ElementsAre(6, 6, 5, 3));
  for (const i64 n : {0, 1, 2, 5, 7})
    EXPECT_THAT(floats(associative_scan(plus, arange(double(n)))),
                testing::ElementsAreArray(floats(cumsum(arange(double(n))))));
  using Affine = std::pair<Array, Array>;
  const auto compose = [](const Affine& f, const Affine& g) {
    return Affine{f.first * g.first, f.second * g.first + g.second};
  };
  const Affine r = associative_scan(compose, Affine{full({5}, 2.0), ones({5})});
  EXPECT_THAT(floats(r.first), ElementsAre(2, 4, 8, 16, 32));
  EXPECT_THAT(floats(r.second), ElementsAre(1, 3, 7, 15, 31));
  const Array m = reshape(arange(6.0), {2, 3});
  EXPECT_THAT(floats(associative_scan(plus, m, {.axis = 1})), ElementsAre(0, 1, 3, 3, 7, 12));
  EXPECT_THAT(floats(associative_scan([](const Array& a, const Array&) { return a; }, x4())), ElementsAre(0, 0, 0, 0));
}
}  // namespace
