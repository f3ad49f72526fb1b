// Loops over few elements are one compiled function: against the reference, whatever the sizes, dtypes and nesting.
#include "backend/codegen/jit.hpp"
#include "runtime/client.hpp"

using namespace uni;

namespace {
struct Native {
  ~Native() { runtime::set_default_client(runtime::native_client()); }
};
template <class F, class... A>
auto on(runtime::Client& client, const F& f, const A&... args) {
  const Native restore;
  runtime::set_default_client(client);
  return jit(f)(args...);
}
// f on both backends: a function is compiled for it, and values agree.
template <class F, class... A>
void expect_one_function(const F& f, const A&... args) {
  const i64 before = codegen::compiled_count();
  const Array got = on(runtime::native_client(), f, args...);
  EXPECT_GE(codegen::compiled_count(), before + 1);
  const Array want = on(runtime::reference_client(), f, args...);
  EXPECT_EQ(got.dtype(), want.dtype());
  const auto wide = [](const Array& a) { return astype(a, Dtype::f64).template to_vector<double>(); };
  EXPECT_THAT(wide(got), testing::Pointwise(testing::NanSensitiveDoubleNear(1e-5), wide(want)));
}
constexpr i64 steps = 4000;  // enough to be worth a function, whatever the size

TEST(SmallLoops, SizesAndTails) {
  for (const i64 n : {1, 2, 7, 16, 17, 33, 64, 100}) {
    const Array x = linspace(-1.0, 1.0, n);
    expect_one_function(
        [](const Array& v) {
          return scan(
                     [](const Array& c, const Array&) {
                       return std::pair{c * 0.5 + sin(c), std::tuple<>()};
                     },
                     v, zeros({steps}))
              .first;
        },
        x);
  }
}

TEST(SmallLoops, Dtypes) {
  for (const Dtype d : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::i8, Dtype::u8, Dtype::i16, Dtype::i32,
                        Dtype::u32, Dtype::i64, Dtype::u64}) {
    const Array x = astype(arange(21.0), d);
    expect_one_function(
        [](const Array& v) {
          return fori_loop(
              0, steps,
              [](const Array& i, const Array& c) { return where(c > astype(i % 7, c.dtype()), c - 1, c + 2); }, v);
        },
        x);
  }
}

TEST(SmallLoops, BooleansAndConditions) {
  expect_one_function(
      [](const Array& x) {
        using State = std::pair<Array, Array>;
        return while_loop([](const State& s) { return any(s.second) & (s.first[0] < 1000.0); },
                          [](const State& s) {
                            return State{s.first + 1.0, s.second ^ (s.first > 3.0)};
                          },
                          State{x, x > 2.0})
            .first;
      },
      arange(19.0));
}

TEST(SmallLoops, SlicesInAndOut) {
  for (const bool reverse : {false, true})
    expect_one_function(
        [reverse](const Array& xs) {
          return scan(
                     [](const Array& c, const Array& x) {
                       const Array next = 0.9 * c + x;
                       return std::pair{next, next * x[0] + sum(x)};
                     },
                     zeros({5}), xs, {.reverse = reverse})
              .second;
        },
        reshape(sin(arange(5.0 * steps)), {steps, 5}));
}

TEST(SmallLoops, ReductionsAndCounters) {
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps,
            [](const Array& i, const Array& c) {
              const Array grid = reshape(arange(18.0), {3, 6});
              return c * 0.25 + (max(c) - min(c)) / (sum(abs(c)) + 1.0) + grid * 0.01 + astype(i, Dtype::f32) * 1e-4;
            },
            x);
      },
      reshape(cos(arange(18.0)), {3, 6}));
}

TEST(SmallLoops, ElementsChangePlaces) {
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps,
            [](const Array&, const Array& c) {
              const Array turned = flip(transpose(c), 0);
              const Array joined = concatenate({turned[{slice(0, 2)}], c[{slice(1, 3), slice(0, 3)}]}, {.axis = 0});
              const Array edged = pad(joined[{slice(1, 3), slice(0, 2)}], 1, {.value = 0.5});
              return 0.3 * c + 0.2 * joined[{slice(0, 3)}] + 0.1 * edged[{slice(0, 3), slice(1, 4)}] + c[0] * 0.05 +
                     expand_dims(c[{slice(), 1}], 1) * 0.01;
            },
            x);
      },
      reshape(cos(arange(9.0)), {3, 3}));
  // The state of a pendulum, made anew from its elements.
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps,
            [](const Array&, const Array& s) {
              return s + 0.01 * stack({s[1], -sin(s[0])});
            },
            x);
      },
      array({1.0f, 0.0f}));
}

TEST(SmallLoops, LoopsAndBranchesInside) {
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps,
            [](const Array& i, const Array& c) {
              const Array halved = while_loop([](const Array& v) { return max(v) > 1.0; },
                                              [](const Array& v) { return v * 0.5; }, c + 3.0);
              const Array summed = fori_loop(
                  0, 3, [](const Array&, const Array& v) { return v * 0.9; }, halved);
              return switch_(i % 4,
                             std::tuple{[](const Array& v) { return v; }, [](const Array& v) { return -v; },
                                        [](const Array& v) { return v * v; }},
                             summed);
            },
            x);
      },
      linspace(0.0, 3.0, 9));
}

TEST(SmallLoops, OperationsWithoutInstructions) {
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps, [](const Array&, const Array& c) { return lgamma(abs(c) + 1.5) + atan2(c, 2.0); }, x);
      },
      astype(linspace(-2.0, 2.0, 11), Dtype::f64));
}

TEST(SmallLoops, NotANumberGoesThrough) {
  expect_one_function(
      [](const Array& x) {
        return fori_loop(
            0, steps, [](const Array&, const Array& c) { return maximum(c, 0.0) * 0.5; }, x);
      },
      array({1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}));
}

TEST(SmallLoops, DerivativesThroughThem) {
  const auto f = [](const Array& x) {
    return sum(fori_loop(
        0, steps, [](const Array&, const Array& c) { return c - 0.01 * sin(c); }, x));
  };
  const Array x = linspace(-1.0, 1.0, 6);
  const Array native = on(runtime::native_client(), grad(f), x);
  const Array reference = on(runtime::reference_client(), grad(f), x);
  EXPECT_THAT(native.to_vector<float>(), testing::Pointwise(testing::FloatNear(1e-5f), reference.to_vector<float>()));
}

TEST(SmallLoops, EveryDeviceRunsItsOwn) {
  const i64 before = device_count();
  set_device_count(4);
  const auto f = [](const Array& x) {
    using State = std::tuple<Array, Array>;
    const auto [n, v] = while_loop([](const State& s) { return max(std::get<1>(s)) < 50.0; },
                                   [](const State& s) {
                                     return State{std::get<0>(s) + 1, std::get<1>(s) + 1.5};
                                   },
                                   State{Array(0), x});
    return v + n;
  };
  expect_one_function([&](const Array& x) { return pmap(f)(x); }, reshape(arange(12.0), {4, 3}));
  // A carry that is the same on all devices beside one that is not.
  const auto mixed = [](const Array& x) {
    const auto [count, v] = fori_loop(
        0, steps,
        [](const Array& i, const std::pair<Array, Array>& c) {
          return std::pair{c.first + i, c.second * 0.5 + 1.0};
        },
        std::pair{Array(0), x});
    return v + count;
  };
  expect_one_function([&](const Array& x) { return pmap(mixed)(x); }, reshape(arange(12.0), {4, 3}));
  set_device_count(static_cast<int>(before));
}
}  // namespace
