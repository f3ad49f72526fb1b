// Control flow inside pmap and shard_map, and regions inside control flow.
#include "runtime/client.hpp"

using namespace uni;

namespace {
using testing::ElementsAre;
using testing::HasSubstr;

class ControlOnDevices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    before_ = device_count();
    set_device_count(4);
    if (GetParam() == std::string("reference")) runtime::set_default_client(runtime::reference_client());
  }
  void TearDown() override {
    runtime::set_default_client(runtime::native_client());
    set_device_count(before_);
  }

 private:
  int before_ = 1;
};
INSTANTIATE_TEST_SUITE_P(Backends, ControlOnDevices, testing::Values("native", "reference"),
                         [](const auto& info) { return std::string(info.param); });

std::vector<float> floats(const Array& x) { return x.to_vector<float>(); }
Array x4() { return arange(4.0); }
Array doubled_until(const Array& start, double limit) {
  return while_loop([&](const Array& c) { return c < limit; }, [](const Array& c) { return c * 2.0 + 1.0; }, start);
}

TEST_P(ControlOnDevices, DevicesStopAtDifferentSteps) {
  const auto f = [](const Array& x) { return doubled_until(x, 10); };
  EXPECT_THAT(floats(pmap(f)(x4())), ElementsAre(15, 15, 11, 15));
  const Mesh mesh = make_mesh({{"i", 4}});
  const auto one = [&](const Array& x) { return expand_dims(f(x[0]), 0); };
  EXPECT_THAT(floats(jit(shard_map(one, mesh, {.in = {P{"i"}}, .out = {P{"i"}}}))(x4())), ElementsAre(15, 15, 11, 15));
}

TEST_P(ControlOnDevices, BranchesByDevice) {
  const auto f = [](const Array& x) {
    return cond(
        x > 1.0, [](const Array& v) { return v * 10.0; }, [](const Array& v) { return v; }, x);
  };
  EXPECT_THAT(floats(pmap(f)(x4())), ElementsAre(0, 1, 20, 30));
  EXPECT_THAT(floats(pmap(grad(f))(x4())), ElementsAre(1, 1, 10, 10));
  EXPECT_THAT(
      floats(pmap(
          [](const Array& x) {
            return switch_(axis_index("i"), std::tuple{[&] { return x; }, [&] { return -x; }, [&] { return x * x; }});
          },
          {.axis = "i"})(x4())),
      ElementsAre(0, -1, 4, 9));
}

TEST_P(ControlOnDevices, CollectivesInEveryStep) {
  const auto f = [](const Array& x) {
    return scan([&](const Array& c, const Array&) { return std::pair{pmean(c, "i") + x, c}; }, x, zeros({3})).first;
  };
  EXPECT_THAT(floats(pmap(f, {.axis = "i"})(x4())), ElementsAre(4.5f, 5.5f, 6.5f, 7.5f));
  const auto d = pmap([&](const Array& x) { return grad(f)(x); }, {.axis = "i"});
  EXPECT_THAT(floats(d(x4())), testing::Each(testing::FloatNear(4.0f, 1e-5f)));
}

TEST_P(ControlOnDevices, RegionsInsideALoop) {
  const auto f = [](const Array& x) {
    return scan(
        [](const Array& c, const Array&) {
          return std::pair{pmap([](const Array& v) { return v + 1.0; })(c), sum(c)};
        },
        x, zeros({3}));
  };
  const auto [c, y] = jit(f)(x4());
  EXPECT_THAT(floats(c), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(floats(y), ElementsAre(6, 10, 14));
  const auto g = [](const Array& x) {
    return while_loop(
        [](const Array& v) { return sum(v) < 100.0; },
        [](const Array& v) { return pmap([](const Array& u) { return u + psum(u, "i"); }, {.axis = "i"})(v); }, x);
  };
  EXPECT_THAT(floats(jit(g)(x4())), ElementsAre(36, 37, 38, 39));
}

// A carry that starts equal on all devices and then differs.
TEST_P(ControlOnDevices, CarriesBecomeVaryingByThemselves) {
  const Mesh mesh = make_mesh({{"i", 4}});
  const auto region = [&](const auto& body) { return jit(shard_map(body, mesh, {.in = {P{"i"}}, .out = {P{"i"}}})); };
  const auto by_scan = region([](const Array& x) {
    return scan(
               [&](const Array& c, const Array&) {
                 return std::pair{c + x[0], std::tuple<>()};
               },
               zeros({}), zeros({3}))
               .first +
           zeros({1});
  });
  EXPECT_THAT(floats(by_scan(x4())), ElementsAre(0, 3, 6, 9));
  const auto two_carries = region([](const Array& x) {
    using Two = std::pair<Array, Array>;
    return while_loop([](const Two& c) { return c.second < 3; },
                      [&](const Two& c) {
                        return Two{c.first + x, c.second + 1};
                      },
                      Two{zeros({1}), Array(0)})
        .first;
  });
  EXPECT_THAT(floats(two_carries(x4())), ElementsAre(0, 3, 6, 9));
  const auto by_cond = region([](const Array& x) {
    return cond(
        axis_index("i") == 0, [&] { return ones({1}); }, [&] { return -x; });
  });
  EXPECT_THAT(floats(by_cond(x4())), ElementsAre(1, -1, -2, -3));
}

TEST_P(ControlOnDevices, GradientsThroughLoopsInRegions) {
  const Mesh mesh = make_mesh({{"i", 4}});
  const auto loss = [&](const Array& w, const Array& x) {
    return shard_map(
        [](const Array& u, const Array& v) {
          const Array c = scan(
                              [&](const Array& s, const Array& t) {
                                return std::pair{s * u + t, std::tuple<>()};
                              },
                              zeros({}), v)
                              .first;
          return psum(c * c, "i");
        },
        mesh, {.in = {P{}, P{"i"}}, .out = {P{}}})(w, x);
  };
  const auto plain = [](const Array& w, const Array& x) {
    Array total = zeros({});
    for (i64 d = 0; d < 4; ++d) {
      const Array c = x[2 * d] * w + x[2 * d + 1];
      total = total + c * c;
    }
    return total;
  };
  const Array w = full({}, 0.5), x = arange(8.0);
  EXPECT_FLOAT_EQ(jit(loss)(w, x).item<float>(), plain(w, x).item<float>());
  EXPECT_FLOAT_EQ(jit(grad(loss))(w, x).item<float>(), grad(plain)(w, x).item<float>());
  EXPECT_THAT(floats(jit(grad<1>(loss))(w, x)),
              testing::Pointwise(testing::FloatNear(1e-4f), floats(grad<1>(plain)(w, x))));
}

TEST_P(ControlOnDevices, DevicesThatMeetMustAgree) {
  const auto f = [](const Array& x) {
    return while_loop([](const Array& c) { return c < 10.0; }, [](const Array& c) { return c + psum(c, "i"); }, x);
  };
  try {
    pmap(f, {.axis = "i"})(array({1.0f, 2.0f, 3.0f, 20.0f}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("while_loop: devices 0 and 3 meet in a collective of its body and go different ways"));
    EXPECT_THAT(e.what(), HasSubstr("devices_test.cpp"));
  }
}

// In a typed region it is known when tracing.
TEST_P(ControlOnDevices, WaysThatVaryAroundACollectiveAreRefused) {
  const Mesh mesh = make_mesh({{"i", 4}});
  const auto message = [&](const auto& body) -> std::string {
    try {
      shard_map(body, mesh, {.in = {P{"i"}}, .out = {P{"i"}}})(x4());
    } catch (const TraceError& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  const std::string fix = "\nfix: make the condition the same on all devices, for example by pmax";
  EXPECT_THAT(message([](const Array& x) {
                return while_loop([](const Array& c) { return c[0] < 10.0; },
                                  [](const Array& c) { return c + psum(c, "i"); }, x);
              }),
              testing::MatchesRegex("while_loop: the condition varies over axis \"i\", and devices meet in psum over it"
                                    "\n    in .*devices_test.cpp:[0-9]+.\n    in .*devices_test.cpp:[0-9]+." +
                                    fix));
  EXPECT_THAT(message([](const Array& x) {
                return cond(
                    x[0] > 2.0, [&] { return psum(x, "i") + zeros_like(x); }, [&] { return x; });
              }),
              HasSubstr("cond: the condition varies over axis \"i\", and devices meet in psum over it"));
  EXPECT_EQ(message([](const Array& x) {
              return while_loop([](const Array& c) { return pmax(c[0], "i") < 10.0; },
                                [](const Array& c) { return c + pvary(psum(c, "i"), "i"); }, x);
            }),
            "nothing was thrown");
}
}  // namespace
