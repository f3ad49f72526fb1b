// Unisono on the work items that other systems are timed on; scripts/bench.sh runs it beside them.
#include <CLI/CLI.hpp>
#include <memory>

#include "harness.hpp"
#include "models.hpp"

namespace bench {
namespace {

using Call = std::function<void()>;

// Compiled f on fixed arguments.
template <class F, class... A>
auto compiled(F f, A... args) {
  return [=]() -> Call {
    const auto g = uni::jit(f);
    return [g, args...] { (void)g(args...); };
  };
}

void dispatch(Report& r) {
  const Array x = uni::ones({8});
  const auto add_one = [](const Array& v) { return v + 1; };
  r.time_many("dispatch/add1", compiled(add_one, x), 1000);
  using Tree = std::array<Array, 20>;
  Tree tree;
  tree.fill(x);
  r.time_many("dispatch/tree20", compiled([=](const Tree& t) { return uni::tree_map(add_one, t); }, tree), 1000);
  r.time_many(
      "dispatch/pmap8",
      [=]() -> Call {
        const auto g = uni::pmap(add_one, {.axis = "i"});
        const Array y = g(uni::ones({8, 8}));
        return [=] { (void)g(y); };
      },
      100);
}

template <class M, class Opt>
std::function<Call()> first_step() {
  return []() -> Call {
    const M m = M::init();
    const auto s = Opt::init(m);
    const Batch d = M::batch();
    const auto step = uni::jit(step_of<M, Opt>());
    return [=] { (void)step(m, s, d); };
  };
}
template <class M, class Opt, class Step>
Call training(Step step, M m, decltype(Opt::init(std::declval<M>())) s, Batch d) {
  auto state = std::make_shared<std::pair<M, decltype(s)>>(std::move(m), std::move(s));
  return [=] {
    auto [p, o, l] = step(std::move(state->first), std::move(state->second), d);
    *state = {std::move(p), std::move(o)};
  };
}
template <class M, class Opt>
std::function<Call()> steps() {
  return [] {
    const M m = M::init();
    return training<M, Opt>(uni::jit(step_of<M, Opt>(), {.donate = {0, 1}}), m, Opt::init(m), M::batch());
  };
}
template <class M, class Opt>
std::function<Call()> parallel_steps(int devices) {
  return [devices] {
    const M m = M::init();
    Batch d = M::batch();
    Dims x = d.x.shape();
    x[0] /= devices;
    x.insert(0, devices);
    d = {uni::reshape(d.x, x), uni::reshape(d.y, {devices, d.y.size() / devices})};
    const uni::AxisSpec all = uni::none;
    const auto step = uni::jit(
        uni::pmap(step_of<M, Opt>("batch"), {.axis = "batch", .in_axes = {all, all, 0}, .out_axes = {all, all, all}}),
        {.donate = {0, 1}});
    return training<M, Opt>(step, m, Opt::init(m), d);
  };
}

void training_items(Report& r) {
  r.once("compile/mlp", first_step<Mlp, Plain>());
  r.once("compile/mlp100", first_step<Deep, Plain>());
  r.time("step/mlp", steps<Mlp, Plain>());
  r.time("step/cnn", steps<Cnn, Momentum>());
  r.time("step/lstm", steps<Lstm, Plain>());
  for (int devices : {2, 4, 8}) {
    r.time("dp/mlp_pmap_" + std::to_string(devices), parallel_steps<Mlp, Plain>(devices));
    r.time("dp/cnn_pmap_" + std::to_string(devices), parallel_steps<Cnn, Momentum>(devices));
  }
}

void collectives(Report& r) {
  const uni::Mesh mesh = uni::make_mesh({{"x", 8}});
  const std::pair<const char*, std::function<Array(const Array&)>> all[] = {
      {"psum", [](const Array& v) { return uni::pvary(uni::psum(v, "x") * 0.125, "x"); }},
      {"all_gather",
       [](const Array& v) { return uni::all_gather(v, "x", {.tiled = true})[uni::slice(0, v.shape(0))]; }},
      {"psum_scatter", [](const Array& v) { return uni::tile(uni::psum_scatter(v, "x", {.tiled = true}), {8}); }},
      {"all_to_all", [](const Array& v) { return uni::all_to_all(v, "x", {.split = 0, .concat = 0, .tiled = true}); }},
      {"ppermute", [](const Array& v) { return uni::ppermute(v, "x", uni::ring_shift(8)); }}};
  for (const auto& [name, op] : all)
    for (i64 bytes : {i64{4096}, i64{262144}, i64{4} << 20})
      r.time(
          "coll/" + std::string(name) + "_" + std::to_string(bytes),
          [&]() -> Call {
            const auto body = [op = op](Array v) {
              for (int i = 0; i < 10; ++i) v = op(v);
              return v;
            };
            const auto g = uni::jit(uni::shard_map(body, mesh, {.in = {{"x"}}, .out = {{"x"}}}));
            const Array x = g(uni::ones({8 * bytes / 4}));
            return [=] { (void)g(x); };
          },
          "us", 10);
}

Array gelu(const Array& x) { return 0.5 * x * (1 + uni::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }
Array layer_norm(const Array& x, const Array& s, const Array& b) {
  const Array m = uni::mean(x, {.axis = -1, .keepdims = true});
  const Array v = uni::mean(uni::square(x - m), {.axis = -1, .keepdims = true});
  return (x - m) * uni::rsqrt(v + 1e-5) * s + b;
}
Array attention(const Array& q, const Array& k, const Array& v) {
  const Array w = uni::softmax(uni::einsum("bhqc,bhkc->bhqk", q, k) / 8);
  return uni::sum(uni::square(uni::einsum("bhqk,bhkc->bhqc", w, v)));
}

void micro(Report& r) {
  const auto op = [&](const std::string& name, auto f, auto... shapes) {
    r.time("micro/" + name, [&]() -> Call { return compiled(f, normal(shapes)...)(); });
  };
  const Dims big{4096, 4096}, rows{8192, 1024};
  using uni::exp, uni::tanh, uni::sin;
  op("gelu16M", gelu, big);
  op(
      "exp16M", [](const Array& x) { return exp(x); }, big);
  op(
      "tanh16M", [](const Array& x) { return tanh(x); }, big);
  op(
      "sin16M", [](const Array& x) { return sin(x); }, big);
  op(
      "axpy16M", [](const Array& x) { return x * 2 + 1; }, big);
  op(
      "softmax", [](const Array& x) { return uni::softmax(x); }, rows);
  r.time("micro/layernorm_grad", [&]() -> Call {
    const auto f = uni::grad<0, 1, 2>(
        [](const Array& x, const Array& s, const Array& b) { return uni::sum(uni::square(layer_norm(x, s, b))); });
    return compiled(f, normal(rows), uni::ones({1024}), uni::zeros({1024}))();
  });
  op(
      "sum_axis0", [](const Array& x) { return uni::sum(x, {.axis = 0}); }, big);
  op(
      "sum_axis1", [](const Array& x) { return uni::sum(x, {.axis = 1}); }, big);
  const auto product = [](const Array& x, const Array& y) { return uni::matmul(x, y); };
  for (i64 n : {64, 256, 512, 1024, 2048}) {
    op("matmul" + std::to_string(n), product, Dims{n, n}, Dims{n, n});
    if (n >= 256)
      r.time("micro/matmul_bf16_" + std::to_string(n), [&]() -> Call {
        const auto half = [&] { return uni::astype(normal({n, n}), uni::Dtype::bf16); };
        return compiled(product, half(), half())();
      });
  }
  op("bmm", product, Dims{64, 128, 64}, Dims{64, 64, 128});
  const Dims million{1 << 20};
  op(
      "sort1M", [](const Array& x) { return uni::sort(x); }, million);
  op(
      "argsort1M", [](const Array& x) { return uni::argsort(x); }, million);
  op(
      "cumsum16M", [](const Array& x) { return uni::cumsum(uni::ravel(x)); }, big);
  const auto ids = [] { return uni::randint(uni::Key(5), {8192}, 0, 50000); };
  r.time("micro/gather", [&]() -> Call {
    return compiled([](const Array& t, const Array& i) { return uni::take(t, i, {.axis = 0}); }, normal({50000, 256}),
                    ids())();
  });
  r.time("micro/scatter_add", [&]() -> Call {
    return compiled([](const Array& t, const Array& i, const Array& u) { return t.at({i}).add(u); },
                    normal({50000, 256}), ids(), normal({8192, 256}))();
  });
  r.time("micro/normal16M", [&]() -> Call {
    return compiled([](const uni::Key& k) { return uni::normal(k, {4096, 4096}); }, uni::Key(0))();
  });
  op(
      "top_k", [](const Array& x) { return uni::top_k(x, 64); }, million);
  r.time("micro/cholesky512", [&]() -> Call {
    const Array m = normal({512, 512});
    return compiled([](const Array& a) { return uni::linalg::cholesky(a); },
                    uni::matmul(m, uni::transpose(m)) + 512 * uni::eye(512))();
  });
  r.time("micro/scan10k", [&]() -> Call {
    return compiled(
        [](const Array& a, const Array& c) {
          const auto step = [&](const Array& h) { return std::pair{h * a + c, std::tuple<>()}; };
          return uni::scan(step, c, {.length = 10000}).first;
        },
        normal({64}, 0.1), normal({64}))();
  });
  r.time("micro/while1M", [&]() -> Call {
    using State = std::pair<Array, Array>;
    return compiled(
        [](const Array& x) {
          return uni::while_loop([](const State& s) { return s.first < 1000000; },
                                 [](const State& s) {
                                   return State{s.first + 1, s.second * 0.999 + 0.5};
                                 },
                                 State{0, x});
        },
        uni::ones({}))();
  });
  const Dims heads{2, 8, 1024, 64};
  op("attention_grad", uni::grad<0, 1, 2>(attention), heads, heads, heads);
}

void issues(Report& r) {
  r.time("issue/sin100", [&]() -> Call {
    return compiled(
        [](Array x) {
          for (int i = 0; i < 100; ++i) x = uni::sin(x);
          return x;
        },
        normal({5'000'000}))();
  });
  r.time("issue/diffsq", [&]() -> Call {
    const auto f = uni::grad([](const Array& x) {
      Array total = uni::zeros({});
      for (int a = 0; a < 3; ++a) total = total + uni::sum(uni::square(uni::diff(x, {.axis = a})));
      return total;
    });
    return compiled(f, normal({256, 256, 256}))();
  });
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Times Unisono on the items of the comparison; one JSON line a figure");
  app.add_option("--only", options.only, "items that begin with this; repeatable");
  app.add_option("--threads", options.threads, "processors to use")->check(CLI::Range(1, 64));
  app.add_option("--seconds", options.seconds, "time per item");
  CLI11_PARSE(app, argc, argv);
  bench::use_processors(options.threads);
  bench::Report report(options);
  bench::dispatch(report);
  bench::training_items(report);
  bench::collectives(report);
  bench::micro(report);
  bench::issues(report);
}
