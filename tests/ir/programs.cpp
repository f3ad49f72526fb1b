#include "ir/programs.hpp"

#include "interp/linearize.hpp"
#include "ops/list.hpp"

namespace uni::testing_ir {

namespace {
template <class F, class... A>
Named traced(std::string name, const F& f, const A&... args) {
  return {std::move(name), std::static_pointer_cast<const ir::Program>(make_program(f)(args...).handle())};
}
// Every collective.
Array exchange(const Array& x) {
  const Array gathered = all_gather(x, "i"), own = psum_scatter(gathered, "i");
  const Array swapped = all_to_all(gathered, "i"), next = ppermute(x, "i", ring_shift(2));
  const Array all = psum(x, "i") + pmax(x, "i") + pmin(x, "i") + pmean(x, "i");
  return own + next + sum(swapped, {.axis = 0}) + all * astype(axis_index("i"), Dtype::f32);
}
Array square_sum(const Array& x) { return sum(x * x); }
// Every kind of control flow, one in another.
Array steps(const Array& x) {
  const auto step = [](const Array& c, const Array& v) {
    const Array grown = cond(
        sum(c) > 1.0, [&] { return c * v; }, [&] { return c + 1.0; });
    return std::pair{grown, sum(grown)};
  };
  return while_loop([](const Array& c) { return sum(c) < 10.0; },
                    [&](const Array& c) { return scan(step, c, x).first; }, zeros({3}));
}
}  // namespace

const std::vector<Named>& traced_programs() {
  static const std::vector<Named> programs = [] {
    const auto own_jvp = custom_jvp([](const Array& x) { return x * x; },
                                    [](const Array& x, const Array& t) {
                                      return std::pair{x * x, 2.0 * x * t};
                                    });
    const auto own_vjp = custom_vjp([](const Array& x) { return sin(x); },
                                    [](const Array& x) {
                                      return std::pair{sin(x), x};
                                    },
                                    [](const Array& x, const Array& ct) { return ct * cos(x); });
    const auto inner = jit([=](const Array& x) { return own_jvp(x) + own_vjp(x); });
    const auto summed = [](const Array& x, const Array& y) { return psum(x * y, "i"); };
    const Mesh mesh = make_mesh({{"i", 2}, {"j", 2}});
    const auto region = shard_map(summed, mesh, {.in = {P{"i"}, P{}}, .out = {P{}}});
    const auto batched = [=](const Array& x) { return vmap(inner)(x); };
    std::vector<Named> all;
    all.push_back(traced(
        "empty", [](const Array& x) { return x; }, zeros({2})));
    all.push_back(traced("call", inner, zeros({3})));
    all.push_back(traced("nested calls", jit(jit(inner)), zeros({2, 3})));
    all.push_back(traced("custom_jvp", own_jvp, zeros({3})));
    all.push_back(traced("custom_vjp", own_vjp, zeros({3})));
    all.push_back(traced("shard_map", region, zeros({4, 2}), zeros({2})));
    all.push_back(traced("pmap", pmap(batched, {.axis = "devices"}), zeros({2, 3})));
    all.push_back(traced("collectives", shard_map(exchange, mesh, {.in = {P{"i"}}, .out = {P{"i"}}}), zeros({4, 2})));
    all.push_back(traced("collectives of pmap", pmap(exchange, {.axis = "i"}), zeros({2, 3})));
    all.push_back(traced(
        "reverse of a rule", [=](const Array& x) { return vjp(inner, x).second(x); }, zeros({3})));
    const auto linear =
        interp::linearize([&](std::span<const Array> x) { return Arrays{own_vjp(x[0])}; }, Arrays{zeros({3})}, {true});
    all.push_back({"linear map of a rule", linear.program});
    all.push_back(traced("control flow", steps, zeros({4})));
    all.push_back(traced("gradient", grad(square_sum), zeros({3})));
    all.push_back(traced("gradient of calls", grad([=](const Array& x) { return sum(inner(x)); }), zeros({3})));
    all.push_back(traced("gradient of a region",
                         grad([=](const Array& x, const Array& y) { return sum(region(x, y)); }), zeros({4, 2}),
                         zeros({2})));
    all.push_back(traced(
        "random",
        [](const Array& key) {
          return uniform(Key(key), {2, 3});
        },
        Key(0).array()));
    return all;
  }();
  return programs;
}

ir::Program parse(const std::string& text) { return ir::parse(text, &ops::find_op); }
std::string reprinted(const std::string& text) { return ir::print(parse(text)); }
std::string parse_error(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace uni::testing_ir
