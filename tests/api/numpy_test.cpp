// Values of the NumPy surface that the golden rows do not cover: shapes, products, reductions, creation.
using namespace uni;

namespace {
std::vector<float> floats(const Array& x) { return x.to_vector<float>(); }
std::vector<int> ints(const Array& x) { return x.to_vector<int>(); }
using F = std::vector<float>;
using I = std::vector<int>;
const Array m = reshape(arange(6), {2, 3});

TEST(Numpy, Creation) {
  EXPECT_EQ(ints(arange(2, 11, 3)), (I{2, 5, 8}));
  EXPECT_EQ(ints(arange(3, 0, -1)), (I{3, 2, 1}));
  EXPECT_EQ(arange(5, 2).size(), 0);
  EXPECT_EQ(arange(0, 1, 0.1).size(), 10);
  EXPECT_EQ(floats(linspace(0, 1, 5)), (F{0, .25, .5, .75, 1}));
  EXPECT_EQ(floats(linspace(0, 1, 4, {.endpoint = false})), (F{0, .25, .5, .75}));
  EXPECT_EQ(floats(linspace(2, 3, 1)), (F{2}));
  EXPECT_EQ(ints(linspace(-3, 3, 4, {.dtype = Dtype::i32})), (I{-3, -1, 1, 3}));
  EXPECT_EQ(linspace(0.1, 0.7, 7)[6].item<float>(), 0.7f);
  EXPECT_EQ(ints(eye(2, {.columns = 3, .offset = 1, .dtype = Dtype::i32})), (I{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(ints(triu(m)), (I{0, 1, 2, 0, 4, 5}));
  EXPECT_EQ(ints(full({2, 2}, array({1, 2}))), (I{1, 2, 1, 2}));
  EXPECT_EQ(zeros_like(m, {.dtype = Dtype::f64}).dtype(), Dtype::f64);
  EXPECT_EQ(full_like(m, 7, {.shape = Dims{1}}).item<int>(), 7);
}

TEST(Numpy, Shapes) {
  EXPECT_EQ(reshape(m, {3, -1}).shape(), (Dims{3, 2}));
  EXPECT_EQ(ints(transpose(m)), (I{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transpose(zeros({2, 3, 4}), {1, -1, 0}).shape(), (Dims{3, 4, 2}));
  EXPECT_EQ(swapaxes(zeros({2, 3, 4}), 0, -1).shape(), (Dims{4, 3, 2}));
  EXPECT_EQ(moveaxis(zeros({2, 3, 4, 5}), {0, 1}, {-1, 0}).shape(), (Dims{3, 4, 5, 2}));
  EXPECT_EQ(expand_dims(m, {0, -1}).shape(), (Dims{1, 2, 3, 1}));
  EXPECT_EQ(squeeze(zeros({1, 2, 1})).shape(), Dims{2});
  EXPECT_EQ(squeeze(zeros({1, 2, 1}), -1).shape(), (Dims{1, 2}));
  EXPECT_EQ(ints(concatenate({m, m}, {.axis = 1})), (I{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(concatenate({m, zeros({1, 3})}).dtype(), Dtype::f32);
  EXPECT_EQ(stack({m, m}, {.axis = -1}).shape(), (Dims{2, 3, 2}));
  EXPECT_EQ(ints(split(m, 3, {.axis = 1})[2]), (I{2, 5}));
  const Arrays cuts = split(arange(6), {1, 4});
  EXPECT_EQ(ints(cuts[1]), (I{1, 2, 3}));
  EXPECT_EQ(ints(cuts[2]), (I{4, 5}));
  EXPECT_EQ(ints(flip(m, 1)), (I{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(ints(roll(m, 1)), (I{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(ints(roll(m, {1, -1}, {.axis = {0, 1}})), (I{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(ints(pad(array({1, 2}), 1, {.value = 9})), (I{9, 1, 2, 9}));
  EXPECT_EQ(pad(m, {{1, 2}, {0, 3}}).shape(), (Dims{5, 6}));
  EXPECT_EQ(ints(pad(arange(3), {4, 5}, {.mode = PadMode::reflect})), (I{0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(ints(pad(arange(3), 2, {.mode = PadMode::symmetric})), (I{1, 0, 0, 1, 2, 2, 1}));
  EXPECT_EQ(ints(pad(arange(3), {4, 0}, {.mode = PadMode::wrap})), (I{2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(ints(tile(arange(2), {2, 2})), (I{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(ints(repeat(m, 2, {.axis = 0})), (I{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
}

TEST(Numpy, PadsOfEveryMode) {
  const Array x = arange(3);
  const auto padded = [&](PadMode mode) { return pad(x, PadWidths(4, 5), {.mode = mode}).to_vector<std::int32_t>(); };
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(padded(PadMode::edge), (V{0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(padded(PadMode::wrap), (V{2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(padded(PadMode::reflect), (V{0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(padded(PadMode::symmetric), (V{2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
}

TEST(Numpy, SincHasItsDerivativesAtZero) {
  const auto f = [](const Array& x) { return sinc(x); };
  const double pi2 = std::numbers::pi * std::numbers::pi;
  const Array zero = full({}, 0.0, {.dtype = Dtype::f64});
  EXPECT_EQ(sinc(zero).item<double>(), 1);
  EXPECT_EQ(grad(f)(zero).item<double>(), 0);
  EXPECT_NEAR(grad(grad(f))(zero).item<double>(), -pi2 / 3, 1e-14);
  for (const double x : {0.1, 0.159, 0.16, 2.5})
    EXPECT_NEAR(sinc(full({}, x, {.dtype = Dtype::f64})).item<double>(),
                std::sin(std::numbers::pi * x) / (std::numbers::pi * x), 1e-15);
}

TEST(Numpy, Diagonals) {
  EXPECT_EQ(ints(diagonal(m)), (I{0, 4}));
  EXPECT_EQ(ints(diagonal(m, {.offset = 1})), (I{1, 5}));
  EXPECT_EQ(diagonal(m, {.offset = -5}).size(), 0);
  EXPECT_EQ(diagonal(zeros({2, 3, 4}), {.axis1 = 0, .axis2 = 2}).shape(), (Dims{3, 2}));
  EXPECT_EQ(ints(diag(array({1, 2}), {.offset = 1})), (I{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(ints(diag(m, {.offset = -1})), I{3});
  EXPECT_EQ(trace(m, {.offset = 1}).item<int>(), 6);
  EXPECT_EQ(ints(diff(array({1, 4, 9, 16}), {.order = 2})), (I{2, 2}));
  EXPECT_EQ(diff(m, {.axis = 0}).shape(), (Dims{1, 3}));
}

TEST(Numpy, Reductions) {
  const Array x = array({{1., 2.}, {3., 6.}});
  EXPECT_EQ(sum(x, {.axis = 0, .keepdims = true}).shape(), (Dims{1, 2}));
  EXPECT_EQ(floats(sum(x, {.axis = {0, 1}})), F{12});
  EXPECT_EQ(floats(sum(x, {.where = x > 1})), F{11});
  EXPECT_EQ(floats(mean(x, {.axis = 1, .where = x > 1})), (F{2, 4.5}));
  EXPECT_EQ(floats(var(x)), F{3.5});
  EXPECT_EQ(floats(var(x, {.axis = 0, .ddof = 1})), (F{2, 8}));
  EXPECT_EQ(floats(max(zeros({0}), {.initial = -3})), F{-3});
  EXPECT_EQ(floats(max(x, {.axis = 1, .initial = 4})), (F{4, 6}));
  EXPECT_EQ(ints(argmax(x, {.axis = 0, .keepdims = true})), (I{1, 1}));
  EXPECT_EQ(argmin(x, {.keepdims = true}).shape(), (Dims{1, 1}));
  EXPECT_EQ(floats(cumsum(array({1., 2., 3., 4., 5.}))), (F{1, 3, 6, 10, 15}));
  EXPECT_EQ(floats(cumsum(array({1., 2., 3.}), {.reverse = true})), (F{6, 5, 3}));
  EXPECT_EQ(ints(cumprod(array({2, 0, 3}))), (I{2, 0, 0}));
  EXPECT_EQ(ints(cummax(array({1, 3, 2}))), (I{1, 3, 3}));
  EXPECT_EQ(ints(cummin(array({3, 1, 2}), {.reverse = true})), (I{1, 1, 2}));
  EXPECT_EQ(median(array({3., 1., 2., 10.})).item<float>(), 2.5f);
  EXPECT_EQ(nanmean(array({1., std::nan(""), 3.})).item<float>(), 2.f);
  EXPECT_TRUE(std::isnan(nanmax(array({std::nan("")})).item<float>()));
  EXPECT_EQ(grad([](const Array& a) { return uni::std(a); })(ones({3})).to_vector<float>(), (F{0, 0, 0}));
  EXPECT_FLOAT_EQ(logsumexp(array({1000., 1000.})).item<float>(), 1000.6931f);
  EXPECT_EQ(logsumexp(array({-HUGE_VAL, -HUGE_VAL})).item<float>(), -HUGE_VALF);
  EXPECT_EQ(floats(softmax(array({1000., 1000.}))), (F{.5, .5}));
  EXPECT_EQ(floats(softmax(x, {.where = array({false, false})})), (F{0, 0, 0, 0}));
  EXPECT_FLOAT_EQ(log_softmax(array({0., 0.}))[0].item<float>(), -std::log(2.f));
}

TEST(Numpy, MatmulByRank) {
  const Array v = array({1., 2.}), a = array({{1., 2.}, {3., 4.}});
  EXPECT_EQ(floats(matmul(v, v)), F{5});
  EXPECT_EQ(floats(matmul(a, v)), (F{5, 11}));
  EXPECT_EQ(floats(matmul(v, a)), (F{7, 10}));
  const Array stacked = stack({a, 2 * a});
  EXPECT_EQ(floats(matmul(stacked, a)), (F{7, 10, 15, 22, 14, 20, 30, 44}));
  EXPECT_EQ(floats(matmul(a, stacked)), (F{7, 10, 15, 22, 14, 20, 30, 44}));
  EXPECT_EQ(floats(matmul(stacked, stacked)), (F{7, 10, 15, 22, 28, 40, 60, 88}));
  EXPECT_EQ(floats(matmul(v, stacked)), (F{7, 10, 14, 20}));
  EXPECT_EQ(matmul(zeros({5, 1, 2, 3}), zeros({4, 3, 6})).shape(), (Dims{5, 4, 2, 6}));
  EXPECT_EQ(matmul(array({{true}}), array({{true}})).dtype(), Dtype::b8);
  EXPECT_EQ(floats(matmul(zeros({2, 0}), zeros({0, 2}))), (F{0, 0, 0, 0}));
  EXPECT_EQ(matmul(zeros({2, 0, 3}), zeros({3, 4})).shape(), (Dims{2, 0, 4}));
}

TEST(Numpy, OtherProducts) {
  const Array v = array({1., 2.}), a = array({{1., 2.}, {3., 4.}});
  EXPECT_EQ(floats(outer(v, v)), (F{1, 2, 2, 4}));
  EXPECT_EQ(floats(inner(a, v)), (F{5, 11}));
  EXPECT_EQ(floats(dot(2., v)), (F{2, 4}));
  EXPECT_EQ(dot(zeros({2, 3, 4}), zeros({5, 4, 6})).shape(), (Dims{2, 3, 5, 6}));
  EXPECT_EQ(floats(tensordot(a, a)), F{30});
  EXPECT_EQ(floats(tensordot(a, a, 1)), (F{7, 10, 15, 22}));
  EXPECT_EQ(floats(tensordot(a, a, {{0}, {0}})), (F{10, 14, 14, 20}));
  const Array z = make_complex(v, v);
  EXPECT_EQ(real(vdot(z, z)).item<float>(), 10.f);
}

TEST(Numpy, Einsum) {
  const Array v = array({1., 2.}), a = array({{1., 2.}, {3., 4.}}), t = reshape(arange(8.0), {2, 2, 2});
  EXPECT_EQ(floats(einsum("ij,jk->ik", a, a)), floats(matmul(a, a)));
  EXPECT_EQ(floats(einsum("ij,jk", a, a)), floats(matmul(a, a)));
  EXPECT_EQ(floats(einsum("ba", a)), floats(transpose(a)));
  EXPECT_EQ(floats(einsum("ii->i", a)), (F{1, 4}));
  EXPECT_EQ(floats(einsum("ii", a)), F{5});
  EXPECT_EQ(floats(einsum("ij->", a)), F{10});
  EXPECT_EQ(floats(einsum("i,j->ij", v, v)), floats(outer(v, v)));
  EXPECT_EQ(floats(einsum("ij,ij->ij", a, a)), (F{1, 4, 9, 16}));
  EXPECT_EQ(floats(einsum("bij,bjk->bik", t, t)), floats(matmul(t, t)));
  EXPECT_EQ(floats(einsum("...ij,...jk->...ik", t, a)), floats(matmul(t, a)));
  EXPECT_EQ(floats(einsum("...i->...", t)), (F{1, 5, 9, 13}));
  EXPECT_EQ(floats(einsum("i,ij,j->", v, a, v)), F{27});
  EXPECT_EQ(floats(einsum(" i j , j -> i ", a, ones({1}))), (F{3, 7}));
  EXPECT_EQ(einsum("bhqd,bhkd->bhqk", zeros({2, 3, 4, 5}), zeros({2, 3, 6, 5})).shape(), (Dims{2, 3, 4, 6}));
  EXPECT_EQ(einsum("ij,kl->lkji", zeros({2, 3}), zeros({4, 5})).shape(), (Dims{5, 4, 3, 2}));
}

TEST(Numpy, ConvolutionAndPooling) {
  const Array x = reshape(arange(16.0), {1, 4, 4, 1}), box = ones({2, 2, 1, 1});
  EXPECT_EQ(floats(conv(x, box, {.padding = "VALID"})), (F{10, 14, 18, 26, 30, 34, 42, 46, 50}));
  EXPECT_EQ(conv(x, ones({3, 3, 1, 5}), {.stride = 2}).shape(), (Dims{1, 2, 2, 5}));
  EXPECT_EQ(floats(conv(x, box, {.stride = {2, 2}, .padding = "VALID"})), (F{10, 18, 42, 50}));
  EXPECT_EQ(floats(conv(x, box, {.padding = "VALID", .dilation = 3})), F{30});
  EXPECT_EQ(floats(conv(x, box, {.stride = 3, .padding = PadWidths(1, 1)})), (F{0, 5, 20, 50}));
  EXPECT_EQ(conv(zeros({1, 4, 4, 6}), zeros({3, 3, 2, 9}), {.groups = 3}).shape(), (Dims{1, 4, 4, 9}));
  EXPECT_EQ(conv(zeros({2, 7, 3}), zeros({3, 3, 4})).shape(), (Dims{2, 7, 4}));
  EXPECT_EQ(floats(max_pool(x, 2)), (F{5, 7, 13, 15}));
  EXPECT_EQ(floats(avg_pool(x, {2, 2})), (F{2.5, 4.5, 10.5, 12.5}));
  EXPECT_EQ(floats(max_pool(x, 3, {.stride = 1})), (F{10, 11, 14, 15}));
  const Array edge = avg_pool(ones({1, 3, 3, 1}), 2, {.padding = "SAME", .include_padding = false});
  EXPECT_EQ(floats(edge), (F{1, 1, 1, 1}));
}

TEST(Numpy, Elementwise) {
  EXPECT_EQ(ints(power(array({2, 3, -1, 0}), array({-1, 4, -3, 0}))), (I{0, 81, -1, 1}));
  EXPECT_EQ(ints(power(array({3}), array({40}))), I{689956897});
  EXPECT_EQ(floats(power(array({2.}), -2)), F{.25});
  EXPECT_EQ(uni::hypot(3e38, 3e38).item<float>(), HUGE_VALF);
  EXPECT_FLOAT_EQ(uni::hypot(1e38, 1e38).item<float>(), 1.4142135e38f);
  EXPECT_EQ(uni::hypot(HUGE_VAL, std::nan("")).item<float>(), HUGE_VALF);
  EXPECT_EQ(floats(clip(array({-1., .5, 2.}), 0, 1)), (F{0, .5, 1}));
  EXPECT_EQ(floats(fmax(array({1., std::nan("")}), array({std::nan(""), 2.}))), (F{1, 2}));
  EXPECT_EQ(floats(copysign(array({1., 2.}), array({-0., 1.}))), (F{-1, 2}));
  EXPECT_EQ(floats(trunc(array({-1.5, 1.5}))), (F{-1, 1}));
  EXPECT_EQ(floats(uni::round(array({1.25, -14.9}), {.decimals = 1})), (F{1.2, -14.9}));
  EXPECT_EQ(xlogy(0., 0.).item<float>(), 0.f);
  EXPECT_EQ(logaddexp(-HUGE_VAL, -HUGE_VAL).item<float>(), -HUGE_VALF);
  EXPECT_EQ(floats(nan_to_num(array({std::nan(""), HUGE_VAL}), {.nan = 7, .posinf = 8})), (F{7, 8}));
  EXPECT_TRUE(allclose(array({1., HUGE_VAL}), array({1. + 1e-7, HUGE_VAL})).item<bool>());
  EXPECT_FALSE(allclose(array({1.}), array({1.1})).item<bool>());
  EXPECT_FALSE(array_equal(zeros({2}), zeros({3})).item<bool>());
  EXPECT_TRUE((Key(3).array() == Key(3).array()).item<bool>());
  EXPECT_TRUE((Key(3).array() != Key(4).array()).item<bool>());
  EXPECT_EQ(ints(where(array({true, false}), 1, array({2, 3}))), (I{1, 3}));
}

TEST(Numpy, MasksInsideTracedCode) {
  const Array x = array({{1., -2.}, {-3., 4.}});
  const auto f = jit([](const Array& a) { return a.at(a < 0).set(0); });
  EXPECT_EQ(floats(f(x)), (F{1, 0, 0, 4}));
  const auto rows = jit([](const Array& a, const Array& mask) { return a.at(mask).add(array({10., 20.})); });
  EXPECT_EQ(floats(rows(x, array({false, true}))), (F{1, -2, 7, 24}));
}

TEST(Numpy, IndexByTracedScalar) {
  const Array x = array({{1., 2.}, {3., 4.}, {5., 6.}});
  const auto row = jit([](const Array& a, const Array& i) { return a[i]; });
  EXPECT_EQ(floats(row(x, Array(1))), (F{3, 4}));
  EXPECT_EQ(floats(row(x, Array(-1))), (F{5, 6}));
  EXPECT_EQ(floats(row(x, Array(9))), (F{5, 6}));
  const auto every = vmap([&](const Array& i) { return x[{i, 1}]; });
  EXPECT_EQ(floats(every(array({2, 0}))), (F{6, 2}));
}

TEST(Numpy, KeysInsideUserStructs) {
  struct Noise {
    Key key;
    Array scale;
  };
  const Noise noise{Key(5), array({2.})};
  const auto draw = [](const Noise& n) { return n.scale * normal(n.key, {3}); };
  EXPECT_EQ(floats(jit(draw)(noise)), floats(draw(noise)));
  const Key keys = split_batch(Key(5), 2);
  const Array lanes = vmap([](const Key& k) { return uniform(k, {2}); })(keys);
  EXPECT_EQ(floats(lanes[1]), floats(uniform(split(Key(5), 2)[1], {2})));
}

TEST(Numpy, MadeKeysInsideTracedCode) {
  const auto f = jit([](const Array& x) { return x + uniform(Key((i64{3} << 32) + 9), {2}); });
  EXPECT_EQ(floats(f(zeros({2}))), floats(uniform(Key((i64{3} << 32) + 9), {2})));
}
}  // namespace
