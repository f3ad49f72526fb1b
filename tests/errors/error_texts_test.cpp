// Bad input and the exact first words that it gets; a second line names the place, a last one the fix where it is
// certain.
#include <cstdio>

using namespace uni;

namespace {
template <class E, class F>
void expect_text(F f, const std::string& want) {
  try {
    f();
    ADD_FAILURE() << "no error, expected: " << want;
  } catch (const E& e) {
    std::string text = e.what();
    // The place differs from machine to machine in nothing but the line.
    const std::size_t place = text.find("\n    in ");
    if (place != std::string::npos) {
      const std::size_t end = text.find('\n', place + 1);
      EXPECT_NE(text.find("error_texts_test.cpp:", place), std::string::npos) << text;
      text.erase(place, end == std::string::npos ? std::string::npos : end - place);
    }
    EXPECT_EQ(text, want);
  }
}
Array first(const Array& x) { return psum(x, "i"); }
Mesh four() { return make_mesh({{"i", 4}}); }

TEST(Errors, Mapping) {
  const auto add = [](const Array& x, const Array& y) { return x + y; };
  expect_text<ShapeError>([&] { pmap(add, {.axis = "i"})(zeros({4}), zeros({3})); },
                          "pmap: mapped sizes differ: args[0] maps 4 rows, args[1] maps 3 rows");
  expect_text<ShapeError>([&] { vmap(add)(zeros({4}), zeros({3})); },
                          "vmap: mapped sizes differ: args[0] maps 4 rows, args[1] maps 3 rows");
  expect_text<ShapeError>([&] { pmap(first, {.axis = "i", .axis_size = 3})(zeros({4})); },
                          "pmap: mapped sizes differ: args[0] maps 4 rows; axis_size is 3");
  expect_text<ShardingError>([&] { pmap(first, {.axis = "i"})(zeros({9})); },
                             "pmap: 9 rows need 9 devices, there are 8\nfix: set_device_count(9)");
  expect_text<ShardingError>(
      [&] {
        pmap(pmap(first, {.axis = "i"}), {.axis = "o"})(zeros({4, 3}));
      },
      "pmap: 3 rows inside regions over 4 devices need 12 devices, there are 8\n"
      "fix: set_device_count(12)");
  expect_text<ShapeError>([&] { pmap(first, {.axis = "i"})(Array(1.0)); },
                          "pmap: args[0] is a scalar f32[]* and cannot be mapped\nfix: in_axes = std::nullopt for it");
  expect_text<ShapeError>([&] { pmap(first, {.axis = "i", .in_axes = {std::nullopt}})(zeros({4})); },
                          "pmap: no argument is mapped\nfix: map one by in_axes, or give axis_size");
  expect_text<ShapeError>(
      [&] {
        pmap(first, {.axis = "i", .in_axes = {0, 0}})(zeros({4}));
      },
      "pmap: in_axes has 2 entries, the call has 1 argument");
  expect_text<ShapeError>([&] { pmap(first, {.axis = "i", .in_axes = {2}})(zeros({4})); },
                          "pmap: in_axes of args[0]: axis 2 of f32[4] does not exist");
  expect_text<ShapeError>(
      [&] {
        pmap(first, {.axis = "i", .out_axes = {0, 0}})(zeros({4}));
      },
      "pmap: out_axes has 2 entries, the function returns 1 result");
  expect_text<ShapeError>([&] { pmap(first, {.axis = "i"})(zeros({0})); },
                          "pmap: the mapped arguments have 0 rows; at least 1 is needed");
  expect_text<ShardingError>(
      [&] {
        pmap(first, {.axis = "i", .devices = {0, 1, 2}})(zeros({4}));
      },
      "pmap: 3 devices are named, the arguments map 4 rows");
  expect_text<ShardingError>(
      [&] {
        pmap(first, {.axis = "i", .devices = {0, 80}})(zeros({2}));
      },
      "pmap: there is no device 80, there are 8");
  const auto same = [](const Array& x) { return x + 0.0; };
  expect_text<ShardingError>([&] { pmap(same, {.axis = "i", .out_axes = {std::nullopt}})(zeros({4})); },
                             "pmap: result 0 f32[] differs between devices, its out_axes says it is replicated\n"
                             "fix: reduce it (psum, pmean) or give it an out_axes");
  expect_text<ShapeError>([&] { vmap(same, {.out_axes = {std::nullopt}})(zeros({4})); },
                          "vmap: result 0 f32[4] differs between lanes, its out_axes says it is not mapped");
}

TEST(Errors, AxisNamesAndCollectives) {
  const auto with = [](auto f) { return [f] { pmap(f, {.axis = "batch"})(zeros({4, 6})); }; };
  expect_text<TraceError>(with([](const Array& x) { return psum(x, "bacth"); }),
                          "psum: unknown axis \"bacth\"; did you mean \"batch\"?");
  expect_text<TraceError>([] { psum(zeros({2}), "i"); }, "psum: unknown axis \"i\"; no named axis is in scope here");
  expect_text<ShardingError>(with([](const Array& x) {
                               return psum(x, {"batch", "batch"});
                             }),
                             "psum: axis \"batch\" is named twice");
  expect_text<ShardingError>(with([](const Array& x) {
                               return ppermute(x, "batch", {{0, 1}, {0, 2}});
                             }),
                             "ppermute: device 0 is the source of two pairs");
  expect_text<ShardingError>(with([](const Array& x) {
                               return ppermute(x, "batch", {{0, 1}, {2, 1}});
                             }),
                             "ppermute: device 1 is the destination of two pairs");
  expect_text<ShardingError>(with([](const Array& x) {
                               return ppermute(x, "batch", {{0, 7}});
                             }),
                             "ppermute: pair (0, 7) is out of range for 4 devices");
  expect_text<ShapeError>(with([](const Array& x) { return psum_scatter(x, "batch"); }),
                          "psum_scatter: axis 0 of f32[6] has size 6, there are 4 devices");
  expect_text<ShapeError>(with([](const Array& x) { return psum_scatter(x, "batch", {.tiled = true}); }),
                          "psum_scatter: axis 0 of f32[6] has size 6, which 4 devices do not divide");
  expect_text<ShapeError>(with([](const Array& x) { return all_to_all(x, "batch"); }),
                          "all_to_all: split axis 0 of f32[6] has size 6, there are 4 devices");
  expect_text<ShapeError>(with([](const Array& x) { return all_gather(x, "batch", {.axis = 5}); }),
                          "all_gather: axis 5 of f32[6] does not exist");
}

TEST(Errors, ManualRegions) {
  const auto region = [](auto f, P in, P out) {
    return [=] { shard_map(f, four(), {.in = {in}, .out = {out}})(zeros({8, 2})); };
  };
  const auto same = [](const Array& x) { return x + 0.0; };
  expect_text<ShardingError>(
      region(first, P{}, P{}),
      "psum: the value f32[8,2] does not vary over axis \"i\": it is already summed, or was never "
      "split\nfix: leave the psum out, or pvary(x, \"i\") first to count it once per device");
  expect_text<ShardingError>(
      region(same, P{"i"}, P{}),
      "shard_map: result 0 f32[2,2]{V:i} varies over axis \"i\", its spec P() says it is the same "
      "on all devices\nfix: reduce it over \"i\", or split it over that axis");
  expect_text<ShardingError>(region(same, P{none, none, "i"}, P{}),
                             "shard_map: args[0] is f32[8,2], its spec P(none, none, \"i\") has 3 dimensions");
  expect_text<ShardingError>(region(same, P{"j"}, P{}), "shard_map: in[0] = P(\"j\"): mesh (i=4) has no axis \"j\"");
  expect_text<ShardingError>(region(same, P{"i", "i"}, P{}),
                             "shard_map: in[0] = P(\"i\", \"i\") names axis \"i\" twice");
  expect_text<ShapeError>([&] { shard_map(same, four(), {.in = {P{"i"}}, .out = {P{"i"}}})(zeros({6})); },
                          "shard_map: args[0]: axis 0 of f32[6] has size 6, which 4 devices of P(\"i\") do not divide");
  expect_text<ShardingError>([&] { shard_map(same, four(), {.in = {}, .out = {P{}}})(zeros({4})); },
                             "shard_map: in has 0 specs, the call has 1 argument");
  expect_text<ShardingError>([] { make_mesh({{"a", 2}, {"a", 2}}); }, "make_mesh: axis name \"a\" appears twice");
  expect_text<ShardingError>([] { make_mesh({{"a", 0}}); }, "make_mesh: axis \"a\" has size 0");
  expect_text<ShardingError>(
      [] {
        make_mesh({{"a", 16}});
      },
      "make_mesh: mesh (a=16) needs device 8; there are 8 devices\nfix: set_device_count(16)");
  expect_text<ShardingError>([] { set_device_count(0); },
                             "set_device_count: 0 devices asked for; at least 1 is needed");
}

struct Model {
  Array w, step;
};
TEST(Errors, Derivatives) {
  const auto vector = [](const Array& x) { return x * 2.0; };
  expect_text<ShapeError>([&] { grad(vector)(zeros({3})); },
                          "grad: the function must return a scalar, it returned f32[3]\n"
                          "fix: sum it or take its mean, or use vjp");
  expect_text<DtypeError>(
      [&] {
        grad([](const Model& m) { return sum(m.w); })(Model{zeros({2}), arange(3)});
      },
      "grad: args[0].step is i32[3]; only floating arrays can be differentiated\n"
      "fix: move it out of the differentiated argument, or ask for {.allow_int = true}");
  expect_text<DtypeError>([&] { grad([](const Array& x) { return sum(astype(x, Dtype::i32)); })(zeros({2})); },
                          "grad: the function must return a real floating scalar, it returned i32[]");
  const auto reverse_only = custom_vjp([](const Array& x) { return x * x; },
                                       [](const Array& x) {
                                         return std::pair{x * x, x};
                                       },
                                       [](const Array& x, const Array& ct) {
                                         return std::tuple{ct * x, ct};
                                       });
  EXPECT_THROW(reverse_only(zeros({})), TreeError);
  expect_text<ShapeError>([&] { vjp(vector, zeros({3})).second(zeros({2})); },
                          "vjp: cotangent is f32[2], the result is f32[3]");
  expect_text<ShapeError>([&] { jvp(vector, zeros({3}), zeros({2})); },
                          "jvp: tangents.0 is f32[2], the argument is f32[3]");
}

TEST(Errors, JitAndTrees) {
  const auto keep = jit([](const Array& x) { return x + 1.0; }, {.donate = {0}});
  const Array x = zeros({3});
  expect_text<Error>([&] { keep(x); },
                     "jit: args[0] is to be donated and was passed as an lvalue\nfix: pass std::move(...)");
  expect_text<Error>([] { jit([](const Array& v) { return v; }, {.donate = {3}})(zeros({2})); },
                     "jit: donate names argument 3, the call has 1 argument");
  Array given = zeros({3});
  (void)keep(std::move(given));
  EXPECT_THROW(given + 1.0, Error);
  EXPECT_THROW(jit([](const Array& v) { return v.item<float>() > 0 ? v : -v; })(Array(1.0)), TraceError);
  using Trees = std::vector<Array>;
  expect_text<TreeError>(
      [] {
        tree_map([](const Array& a, const Array&) { return a; }, Trees{zeros({1})}, Trees{zeros({1}), zeros({1})});
      },
      "tree_map: tree 0 and tree 1 differ: tree.1 is in the second tree only");
  EXPECT_THROW(Array() + 1.0, Error);
}

TEST(Errors, SizesAndMeshesThatCannotBe) {
  constexpr i64 huge = i64{1} << 62;
  const std::vector<float> four{1, 2, 3, 4};
  expect_text<ShapeError>(
      [&] {
        array(four, Dims{huge + 1, 4});
      },
      "array: the shape (4611686018427387905, 4) has too many elements");
  expect_text<ShapeError>([] { pad(arange(3), PadWidths(huge, 2 * (huge - 1)), {.mode = PadMode::wrap}); },
                          "pad: the widths (4611686018427387904, 9223372036854775806) are too large");
  expect_text<ShapeError>([] { (void)Dims{2, 3}[2]; }, "the shape (2, 3) has no axis 2");
  expect_text<ShardingError>(
      [] {
        make_mesh({{"a", i64{1} << 32}, {"b", i64{1} << 32}});
      },
      "make_mesh: mesh (a=4294967296, b=4294967296) has too many devices");
  expect_text<ShardingError>([] { make_mesh({{"a", 2}}, {0, 0}); }, "make_mesh: mesh (a=2) names device 0 twice");
  expect_text<ShardingError>([] { Mesh({{"a", 4}}, {0, 1}); }, "make_mesh: mesh (a=4) needs 4 devices, 2 were named");
  struct Numbers {
    double a, b;
  };
  expect_text<TreeError>(
      [] {
        grad([](const Numbers& n) { return Array(n.a) * n.b; })(Numbers{3, 4});
      },
      "grad: args[0] holds no Array: there is nothing to differentiate\nfix: make its numbers Arrays");
}

TEST(Errors, Data) {
  EXPECT_THROW(data::FashionMnist::load("no such folder"), ExecutionError);
  try {
    data::FashionMnist::load("no such folder");
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("dataset-fashion-mnist"));
  }
  EXPECT_THROW(train::MetricsFile("no such folder/metrics.jsonl"), ExecutionError);
}
}  // namespace
