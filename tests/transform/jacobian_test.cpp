// jacfwd, jacrev, hessian, linear_transpose.
using namespace uni;

namespace {
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
std::vector<float> floats(const Array& x) { return x.to_vector<float>(); }
Array f(const Array& x) { return stack({x[0] * x[1], sin(x[1]), x[0] + x[1] + x[2]}); }
struct Model {
  Array w, b;
};

TEST(Jacobian, ForwardEqualsReverse) {
  const Array x = array({1.0f, 2.0f, 3.0f});
  const std::vector<float> want{2, 1, 0, 0, std::cos(2.0f), 0, 1, 1, 1};
  for (const Array& j : {jacfwd(f)(x), jacrev(f)(x), jit(jacfwd(f))(x), jit(jacrev(f))(x)}) {
    EXPECT_EQ(j.shape(), (Dims{3, 3}));
    EXPECT_THAT(floats(j), Pointwise(FloatNear(1e-6f), want));
  }
}
TEST(Jacobian, ShapesJoin) {
  const auto outer_product = [](const Array& x) { return reshape(x, {2, 1}) * reshape(ones({3}), {1, 3}); };
  EXPECT_EQ(jacfwd(outer_product)(ones({2})).shape(), (Dims{2, 3, 2}));
  EXPECT_EQ(jacrev(outer_product)(ones({2})).shape(), (Dims{2, 3, 2}));
  const auto total = [](const Array& x) { return sum(x * x); };
  EXPECT_THAT(floats(jacfwd(total)(arange(3.0))), ElementsAre(0, 2, 4));
  EXPECT_THAT(floats(jacrev(total)(arange(3.0))), ElementsAre(0, 2, 4));
  EXPECT_EQ(jacrev(total)(zeros({0})).shape(), (Dims{0}));
  EXPECT_EQ(jacfwd([](const Array& x) { return concatenate({x, x}); })(zeros({0, 2})).shape(), (Dims{0, 2, 0, 2}));
}
TEST(Jacobian, TreesAndArguments) {
  const auto line = [](const Model& m, const Array& x) { return m.w * x + m.b; };
  const Model m{array({2.0f, 3.0f}), array({0.0f, 1.0f})};
  const Array x = array({5.0f, 7.0f});
  for (const Model& d : {jacfwd(line)(m, x), jacrev(line)(m, x)}) {
    EXPECT_THAT(floats(d.w), ElementsAre(5, 0, 0, 7));
    EXPECT_THAT(floats(d.b), ElementsAre(1, 0, 0, 1));
  }
  EXPECT_THAT(floats(jacrev<1>(line)(m, x)), ElementsAre(2, 0, 0, 3));
  const auto [by_model, by_x] = jacfwd<0, 1>(line)(m, x);
  EXPECT_THAT(floats(by_model.w), ElementsAre(5, 0, 0, 7));
  EXPECT_THAT(floats(by_x), ElementsAre(2, 0, 0, 3));
  const auto pair = [](const Array& v) { return std::pair{v * 2.0, sum(v)}; };
  EXPECT_THAT(floats(jacrev(pair)(x).second), ElementsAre(1, 1));
}
TEST(Jacobian, Hessian) {
  const auto g = [](const Array& x) { return x[0] * x[0] * x[1] + exp(x[1]); };
  const Array x = array({3.0f, 0.5f});
  const std::vector<float> want{1, 6, 6, std::exp(0.5f)};
  EXPECT_THAT(floats(hessian(g)(x)), Pointwise(FloatNear(1e-5f), want));
  EXPECT_THAT(floats(jacrev(jacfwd(g))(x)), Pointwise(FloatNear(1e-5f), want));
  const auto loss = [](const Model& m) { return sum(m.w * m.w * m.b); };
  const std::vector<Model> h = hessian(loss)(Model{array({2.0f}), array({3.0f})});
  EXPECT_THAT(floats(h[0].w), ElementsAre(6));
  EXPECT_THAT(floats(h[0].b), ElementsAre(4));
  EXPECT_THAT(floats(h[1].w), ElementsAre(4));
  EXPECT_THAT(floats(h[1].b), ElementsAre(0));
}
TEST(Jacobian, LinearTranspose) {
  const Array a = reshape(arange(6.0), {2, 3});
  const auto times = [&](const Array& x) { return matmul(a, x); };
  EXPECT_THAT(floats(linear_transpose(times, zeros({3}))(ones({2}))), ElementsAre(3, 5, 7));
  EXPECT_THAT(floats(linear_transpose([](const Model& m) { return m.w[0] * 2.0 - m.b; },
                                      Model{zeros({2}), zeros({})})(full({}, 3.0))
                         .w),
              ElementsAre(6, 0));
  EXPECT_THROW(linear_transpose([](const Array& x) { return sin(x); }, zeros({}))(ones({})), TraceError);
}
TEST(Jacobian, Refusals) {
  const auto text = [](const auto& fn) {
    try {
      fn();
    } catch (const DtypeError& e) {
      return std::string(e.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(text([] { jacfwd([](const Array& x) { return x; })(arange(3)); }),
            "jacfwd: `argument` is i32[3], only real floating arrays have a Jacobian");
  EXPECT_EQ(text([] { jacrev([](const Array& x) { return astype(x, Dtype::i32); })(ones({3})); }),
            "jacrev: `result 0` is i32[3], only real floating arrays have a Jacobian");
}
}  // namespace
