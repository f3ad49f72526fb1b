// Transformations nested in any order, closures over outer tracers, captured values, leaks, recursion, exceptions.
#include <functional>
#include <stdexcept>

#include "core/trace.hpp"

using namespace uni;

namespace {
constexpr double a = 0.7;
Array f(const Array& x) { return sin(x * x); }
double value(const Array& x) { return x.item<double>(); }
Array f64(double v) { return full({}, v, {.dtype = Dtype::f64}); }
const double first = 2 * a * std::cos(a * a);
const double second = 2 * std::cos(a * a) - 4 * a * a * std::sin(a * a);
const double third = -12 * a * std::sin(a * a) - 8 * a * a * a * std::cos(a * a);

TEST(Nesting, GradAndJitInAnyOrder) {
  const Array x = f64(a);
  EXPECT_NEAR(value(grad(f)(x)), first, 1e-12);
  EXPECT_NEAR(value(grad(jit(f))(x)), first, 1e-12);
  EXPECT_NEAR(value(jit(grad(f))(x)), first, 1e-12);
  EXPECT_NEAR(value(jit(grad(jit(f)))(x)), first, 1e-12);
  EXPECT_NEAR(value(grad(grad(f))(x)), second, 1e-12);
  EXPECT_NEAR(value(grad(grad(jit(f)))(x)), second, 1e-12);
  EXPECT_NEAR(value(grad(jit(grad(f)))(x)), second, 1e-12);
  EXPECT_NEAR(value(jit(grad(jit(grad(jit(f)))))(x)), second, 1e-12);
  EXPECT_NEAR(value(grad(jit(grad(jit(grad(jit(f))))))(x)), third, 1e-12);
}

TEST(Nesting, NumbersAreDifferentiatedAsArrays) {
  const auto square = [](const Array& x) { return x * x; };
  const auto product = [](const Array& x, const Array& y) { return x * x * y; };
  EXPECT_EQ(value(grad(square)(3.0)), 6);
  EXPECT_EQ(value(grad(grad(square))(3.0)), 2);
  EXPECT_EQ(value(value_and_grad(square)(3.0).grad), 6);
  const auto [dx, dy] = grad<0, 1>(product)(3.0, 4.0);
  EXPECT_EQ(value(dx), 24);
  EXPECT_EQ(value(dy), 9);
  EXPECT_EQ(value(jvp(square, 3.0, 1.0).second), 6);
  EXPECT_EQ(value(jvp(product, std::tuple{3.0, 4.0}, std::tuple{0.0, 1.0}).second), 9);
  const auto tripled = custom_vjp(
      product,
      [=](const Array& x, const Array& y) {
        return std::pair{product(x, y), x};
      },
      [](const Array& x, const Array& ct) {
        return std::tuple{3 * ct * x, ct};
      });
  EXPECT_EQ(value(tripled(3.0, 4.0)), 36);
  EXPECT_EQ(value(grad([&](const Array& x) { return tripled(x, 4.0); })(5.0)), 15);
}

TEST(Nesting, DonationMeansNothingInsideATrace) {
  const auto f = jit([](const Array& x) { return x * x; }, {.donate = {0}});
  const auto inside = [f](const Array& x) { return f(x) + 1; };
  EXPECT_EQ(value(grad(f)(Array(3.0))), 6);
  EXPECT_EQ(value(jit(inside)(Array(3.0))), 10);
  EXPECT_EQ(vmap(f)(ones({2})).to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Nesting, ArraysHeldByValueAndByPointerAreNeverStale) {
  struct Step {
    const Array* now;
    Array start;
    Array operator()(const Array& x) const { return x * *now - start * 0; }
  };
  Array c = Array(1.0);
  const Array x = array({1., 2.});
  const auto step = jit(Step{&c, c});
  EXPECT_EQ(step(x).to_vector<float>(), (std::vector<float>{1, 2}));
  c = Array(10.0);
  EXPECT_EQ(step(x).to_vector<float>(), (std::vector<float>{10, 20}));
}

TEST(Nesting, ClosureOverAnOuterTracer) {
  const auto outer = [](const Array& x) {
    const auto inner = jit([x](const Array& y) { return x * y * y; });
    return x * grad(inner)(x);
  };
  const Array x = f64(a);
  EXPECT_NEAR(value(grad(outer)(x)), 6 * a * a, 1e-12);
  EXPECT_NEAR(value(jit(grad(outer))(x)), 6 * a * a, 1e-12);
  EXPECT_NEAR(value(grad(jit(outer))(x)), 6 * a * a, 1e-12);
}

TEST(Nesting, PerturbationsAreNotConfused) {
  const auto confusing = [](const Array& x) {
    return x * grad([x](const Array& y) { return x + y; })(full_like(x, 1.0));
  };
  EXPECT_NEAR(value(grad(confusing)(f64(a))), 1.0, 1e-12);
  EXPECT_NEAR(value(grad(jit(confusing))(f64(a))), 1.0, 1e-12);
}

TEST(Nesting, JvpOfGradIsTheHessianVectorProduct) {
  const auto [g, hv] = jvp(grad(f), f64(a), f64(1.0));
  EXPECT_NEAR(value(g), first, 1e-12);
  EXPECT_NEAR(value(hv), second, 1e-12);
  const auto [g2, hv2] = jvp(jit(grad(f)), f64(a), f64(1.0));
  EXPECT_NEAR(value(hv2), second, 1e-12);
  const auto along = [](const Array& x) { return jvp(f, x, full_like(x, 1.0)).second; };
  EXPECT_NEAR(value(grad(along)(f64(a))), second, 1e-12);
}

TEST(Nesting, VmapWithGradBothWays) {
  const Array xs = linspace(0.0, 1.0, 5, {.dtype = Dtype::f64});
  const Array per_row = vmap(grad(f))(xs);
  const Array of_sum = grad([](const Array& x) { return sum(vmap(f)(x)); })(xs);
  const Array jitted = jit(vmap(grad(jit(f))))(xs);
  for (int i = 0; i < 5; ++i) {
    const double x = 0.25 * i, want = 2 * x * std::cos(x * x);
    EXPECT_NEAR(value(per_row[i]), want, 1e-12);
    EXPECT_NEAR(value(of_sum[i]), want, 1e-12);
    EXPECT_NEAR(value(jitted[i]), want, 1e-12);
  }
}

TEST(Nesting, PmapWithGradAndVmap) {
  const Array xs = linspace(0.0, 1.0, 4, {.dtype = Dtype::f64});
  const auto want = [](int i) {
    const double x = i / 3.0;
    return 2 * x * std::cos(x * x);
  };
  const Array inside = pmap(grad(f), {.axis = "i"})(xs);
  const Array outside = grad([](const Array& x) { return sum(pmap(f, {.axis = "i"})(x)); })(xs);
  const Array jitted = jit(grad([](const Array& x) { return sum(pmap(jit(f), {.axis = "i"})(x)); }))(xs);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(value(inside[i]), want(i), 1e-12);
    EXPECT_NEAR(value(outside[i]), want(i), 1e-12);
    EXPECT_NEAR(value(jitted[i]), want(i), 1e-12);
  }
}

TEST(Nesting, PmapAndVmapBothWays) {
  const Array m = reshape(arange(6.0), {2, 3});
  const auto total = [](const Array& x) { return psum(x, "i"); };
  const Array pv = pmap(vmap(total), {.axis = "i"})(m);
  EXPECT_THAT(pv.to_vector<float>(), testing::ElementsAre(3, 5, 7, 3, 5, 7));
  const Array vp = vmap(pmap(total, {.axis = "i"}))(m);
  EXPECT_THAT(vp.to_vector<float>(), testing::ElementsAre(3, 3, 3, 12, 12, 12));
}

TEST(Nesting, PmapInPmap) {
  const Array m = reshape(arange(6.0), {2, 3});
  const auto over = [&](const AxisName& axis) {
    return pmap(pmap([axis](const Array& x) { return psum(x, axis); }, {.axis = "j"}), {.axis = "i"})(m)
        .to_vector<float>();
  };
  EXPECT_THAT(over("j"), testing::ElementsAre(3, 3, 3, 12, 12, 12));
  EXPECT_THAT(over("i"), testing::ElementsAre(3, 5, 7, 3, 5, 7));
  EXPECT_THAT(over({"i", "j"}), testing::Each(15));
  const auto index = [](const Array&) { return axis_index("i") * 10 + axis_index("j"); };
  EXPECT_THAT(pmap(pmap(index, {.axis = "j"}), {.axis = "i"})(m).to_vector<int>(),
              testing::ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST(Nesting, InnerAxisHidesTheOuterOne) {
  const Array m = reshape(arange(6.0), {2, 3});
  const auto total = [](const Array& x) { return psum(x, "i"); };
  EXPECT_THAT(pmap(vmap(total, {.axis_name = "i"}), {.axis = "i"})(m).to_vector<float>(),
              testing::ElementsAre(3, 3, 3, 12, 12, 12));
  EXPECT_THAT(pmap(pmap(total, {.axis = "i"}), {.axis = "i"})(m).to_vector<float>(),
              testing::ElementsAre(3, 3, 3, 12, 12, 12));
}

TEST(Nesting, HessianThroughCustomJvp) {
  const auto cube = custom_jvp([](const Array& x) { return x * x * x; },
                               [](const Array& x, const Array& t) {
                                 return std::pair{x * x * x, 3.0 * x * x * t};
                               });
  EXPECT_NEAR(value(grad(cube)(f64(2.0))), 12.0, 1e-12);
  EXPECT_NEAR(value(grad(grad(cube))(f64(2.0))), 12.0, 1e-12);
  EXPECT_NEAR(value(jvp(grad(jit(cube)), f64(2.0), f64(1.0)).second), 12.0, 1e-12);
  const Array xs = arange(3.0);
  EXPECT_THAT(vmap(grad(cube))(xs).to_vector<float>(), testing::ElementsAre(0, 3, 12));
  EXPECT_THAT(grad([&](const Array& x) { return sum(vmap(cube)(x)); })(xs).to_vector<float>(),
              testing::ElementsAre(0, 3, 12));
}

TEST(Nesting, CustomRulesCloseOverTracers) {
  // The value that the rule captured gets its gradient by ordinary differentiation of the body.
  const auto outer = [](const Array& w) {
    const auto scaled = custom_vjp([w](const Array& x) { return w * x; },
                                   [w](const Array& x) {
                                     return std::pair{w * x, x};
                                   },
                                   [w](const Array&, const Array& ct) { return w * ct; });
    return scaled(f64(3.0)) + scaled(w);
  };
  EXPECT_NEAR(value(grad(outer)(f64(2.0))), 3.0 + 2 * 2.0, 1e-12);
  EXPECT_NEAR(value(grad(jit(outer))(f64(2.0))), 3.0 + 2 * 2.0, 1e-12);
}

TEST(Nesting, CustomVjpTwice) {
  const auto times = custom_vjp([](const Array& x, const Array& y) { return x * y; },
                                [](const Array& x, const Array& y) {
                                  return std::pair{x * y, std::pair{x, y}};
                                },
                                [](const std::pair<Array, Array>& r, const Array& ct) {
                                  return std::tuple{10.0 * ct * r.first, 100.0 * ct * r.second};
                                });
  const auto of_x = [&](const Array& x) { return times(x, f64(3.0)); };
  EXPECT_NEAR(value(grad(of_x)(f64(2.0))), 20.0, 1e-12);
  EXPECT_NEAR(value(grad(grad(of_x))(f64(2.0))), 10.0, 1e-12);
  EXPECT_NEAR(value(grad(grad([&](const Array& x) { return times(x, x); }))(f64(2.0))), 110.0, 1e-12);
}

TEST(Nesting, RandomDrawInsideJitIsDrawnEachCall) {
  const auto draw = jit([](const Key& key, const Array& x) { return x * uniform(key, {}); });
  const float one = draw(Key(0), Array(1.0f)).item<float>(), other = draw(Key(1), Array(1.0f)).item<float>();
  EXPECT_NE(one, other);
  EXPECT_EQ(one, draw(Key(0), Array(1.0f)).item<float>());
  // Operations without operands are staged, not run while tracing.
  EXPECT_EQ(make_program([](const Array& x) { return x + arange(3.0); })(zeros({3})).count("iota"), 1);
}

TEST(Nesting, ReferencesAreNeverStale) {
  Array scale = f64(2.0);
  const auto by_reference = jit([&](const Array& y) { return scale * y; });
  EXPECT_EQ(value(by_reference(f64(3.0))), 6.0);
  scale = f64(5.0);
  EXPECT_EQ(value(by_reference(f64(3.0))), 15.0);
  const auto by_value = jit([scale](const Array& y) { return scale * y; });
  scale = f64(7.0);
  EXPECT_EQ(value(by_value(f64(3.0))), 15.0);
  std::vector<Array> many{f64(1.0)};
  const auto through_container = jit([&many](const Array& y) { return many[0] * y; });
  EXPECT_EQ(value(through_container(f64(3.0))), 3.0);
  many[0] = f64(4.0);
  EXPECT_EQ(value(through_container(f64(3.0))), 12.0);
}

TEST(Nesting, OneJitObjectInTwoOuterTraces) {
  Array shared;
  const auto inner = jit([&shared](const Array& y) { return shared * y; });
  const auto outer = [&](const Array& x) {
    shared = x;
    return inner(x);
  };
  EXPECT_NEAR(value(grad(outer)(f64(a))), 2 * a, 1e-12);
  EXPECT_NEAR(value(grad(outer)(f64(a))), 2 * a, 1e-12);
}

TEST(Nesting, ConcreteControlFlowUnderGrad) {
  const auto branching = [](const Array& x) { return x.item<double>() > 0 ? x * x : -x; };
  EXPECT_NEAR(value(grad(branching)(f64(3.0))), 6.0, 1e-12);
  EXPECT_NEAR(value(grad(branching)(f64(-3.0))), -1.0, 1e-12);
}

TEST(Nesting, EscapedTracerIsTold) {
  Array leaked;
  const auto leaky = jit([&](const Array& x) {
    leaked = x * x;
    return x;
  });
  (void)leaky(f64(1.0));
  try {
    (void)(leaked + 1.0);
    FAIL() << "an escaped tracer was used in silence";
  } catch (const TraceError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("a value f64[] of `jit` was used after that trace had ended"));
    EXPECT_THAT(e.what(), testing::HasSubstr("nesting_test.cpp"));
  }
}

TEST(Nesting, RecursionIsTold) {
  std::function<Array(const Array&)> again;
  const auto self = jit([&again](const Array& x) { return again(x) * x; });
  again = [&self](const Array& x) { return self(x); };
  try {
    (void)self(f64(1.0));
    FAIL() << "endless recursion was not noticed";
  } catch (const TraceError& e) {
    EXPECT_STREQ(e.what(),
                 "jit: a function calls itself with the same argument types while it is being traced\nfix: use a loop");
  }
}

TEST(Nesting, UserExceptionsLeaveTheTraceSane) {
  const auto throwing = [](const Array& x) -> Array {
    (void)(x * x);
    throw std::logic_error("user");
  };
  EXPECT_THROW((void)jit(throwing)(f64(1.0)), std::logic_error);
  EXPECT_THROW((void)grad(throwing)(f64(1.0)), std::logic_error);
  EXPECT_THROW((void)vmap(throwing)(zeros({2})), std::logic_error);
  EXPECT_THROW((void)pmap(throwing, {.axis = "i"})(zeros({2})), std::logic_error);
  EXPECT_TRUE(core::evaluating());
  EXPECT_TRUE(core::axis_env().empty());
  EXPECT_EQ(value(f64(1.0) + 1.0), 2.0);
}

TEST(Nesting, LinearizeAndVjpAreReusable) {
  const auto [y, line] = linearize(f, f64(0.5));
  EXPECT_NEAR(value(y), std::sin(0.25), 1e-12);
  EXPECT_NEAR(value(line(f64(2.0))), 2 * std::cos(0.25), 1e-12);
  EXPECT_NEAR(value(line(f64(3.0))), 3 * std::cos(0.25), 1e-12);
  const auto [z, back] = vjp(f, f64(0.5));
  EXPECT_NEAR(value(back(f64(2.0))), 2 * std::cos(0.25), 1e-12);
  EXPECT_NEAR(value(back(f64(1.0))), std::cos(0.25), 1e-12);
}

struct Layer {
  Array w;
  std::optional<Array> b;
};
TEST(Nesting, TreesWithAuxiliaryResults) {
  const auto loss = [](const Layer& l, const Array& x) {
    const Array y = l.w * x + *l.b;
    return std::pair{sum(y), y};
  };
  const Layer layer{arange(3.0), ones({3})};
  const auto [result, g] = value_and_grad(loss)(layer, full({3}, 2.0));
  EXPECT_EQ(result.first.item<float>(), 9.0f);
  EXPECT_THAT(result.second.to_vector<float>(), testing::ElementsAre(1, 3, 5));
  EXPECT_THAT(g.w.to_vector<float>(), testing::Each(2));
  EXPECT_THAT(g.b->to_vector<float>(), testing::Each(1));
  const auto both = grad<0, 1>([](const Array& x, const Array& y) { return x * y; })(f64(2.0), f64(5.0));
  EXPECT_EQ(value(std::get<0>(both)), 5.0);
  EXPECT_EQ(value(std::get<1>(both)), 2.0);
}
}  // namespace
