// The client: programs of several equations, counts, lifetimes, refusals.
#include "build.hpp"
#include "ops/call.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/list.hpp"

namespace uni {
namespace {

using namespace backend_test;

runtime::Client& client() { return runtime::reference_client(); }
ir::Type f32(const Dims& shape) { return {Dtype::f32, shape, false, {}}; }

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no InternalError";
}

// (x, y) -> (x + y, psum((x + y) * y), x)
ir::Program sample() {
  ir::Program p;
  const ir::Var x = p.add(f32({2})), y = p.add(f32({2}));
  p.inputs = 2;
  const ir::Var sum = p.add(f32({2})), product = p.add(f32({2})), total = p.add(f32({2}));
  p.eqns.push_back({&ops::add, {x, y}, {sum}, {}, {}});
  p.eqns.push_back({&ops::mul, {sum, y}, {product}, {}, {}});
  p.eqns.push_back({&ops::psum, {product}, {total}, ops::AxesOnly{{"i"}, {}}, {}});
  p.outputs = {sum, total, x};
  return p;
}

TEST(ReferenceClient, RunsEquationsInOrderOnAllDevices) {
  const std::vector<HostArrays> out = run_on(
      client(), mesh_of({{"i", 2}}), sample(),
      {{vec(Dtype::f32, {1, 2}), vec(Dtype::f32, {3, 4})}, {vec(Dtype::f32, {1, 1}), vec(Dtype::f32, {10, 20})}});
  EXPECT_EQ(out[0], (HostArrays{vec(Dtype::f32, {2, 3}), vec(Dtype::f32, {13, 24})}));
  EXPECT_EQ(out[1], HostArrays(2, vec(Dtype::f32, {132, 483})));
  EXPECT_EQ(out[2], (HostArrays{vec(Dtype::f32, {1, 2}), vec(Dtype::f32, {3, 4})}));
}

TEST(ReferenceClient, CountsLaunchesCollectivesAndBytes) {
  ir::Program p = sample();
  const ir::Var varying = p.add(f32({2})), index = p.add({Dtype::i32, {}, false, {}});
  p.eqns.push_back({&ops::pvary, {0}, {varying}, ops::AxesOnly{{"i"}, {}}, {}});
  p.eqns.push_back({&ops::axis_index, {}, {index}, ops::AxisIndex{{"i"}, 2, {}}, {}});
  const auto executable = compile(client(), mesh_of({{"i", 2}}), p);
  EXPECT_EQ(executable->stats().launches, 0);
  for (int round = 0; round < 3; ++round) {
    const runtime::BufferPtr b = to_buffer(client(), vec(Dtype::f32, {1, 2}), 0);
    executable->execute({{b, b}, {b, b}}, {});
  }
  EXPECT_EQ(executable->stats().launches, 3);
  EXPECT_EQ(executable->stats().collectives, 3);
  EXPECT_EQ(executable->stats().collective_bytes, 3 * 8);
}

TEST(ReferenceClient, ArgumentsAreNeverWritten) {
  const HostArray x = vec(Dtype::f32, {1, 2});
  const runtime::BufferPtr b = to_buffer(client(), x, 0);
  const std::uint8_t donate[] = {1, 1};
  compile(client(), mesh_of({{"i", 1}}), sample())->execute({{b}, {b}}, donate);
  EXPECT_EQ(to_host(b), x);
}

TEST(ReferenceClient, OutputsThatAreInputsOrTheSame) {
  ir::Program p;
  p.add(f32({1}));
  p.inputs = 1;
  p.outputs = {0, 0};
  EXPECT_EQ(run(client(), p, {vec(Dtype::f32, {5})}), HostArrays(2, vec(Dtype::f32, {5})));
}

TEST(ReferenceClient, RefusesWhatDoesNotFit) {
  const auto executable = compile(client(), mesh_of({{"i", 2}}), sample());
  const runtime::BufferPtr right = to_buffer(client(), vec(Dtype::f32, {1, 2}), 0),
                           longer = to_buffer(client(), vec(Dtype::f32, {1, 2, 3}), 0),
                           other = to_buffer(client(), vec(Dtype::i32, {1, 2}), 0);
  EXPECT_EQ(message_of([&] {
              executable->execute({{right, right}}, {});
            }),
            "reference: 1 arguments for a program of 2 inputs");
  EXPECT_EQ(message_of([&] {
              executable->execute({{right, right}, {right}}, {});
            }),
            "reference: argument 1 has 1 buffers for 2 devices");
  EXPECT_EQ(message_of([&] {
              executable->execute({{right, longer}, {right, right}}, {});
            }),
            "reference: argument 0 is f32[3], the program takes f32[2]");
  EXPECT_EQ(message_of([&] {
              executable->execute({{right, right}, {other, right}}, {});
            }),
            "reference: argument 1 is i32[2], the program takes f32[2]");
}

TEST(ReferenceClient, HigherOrderOperationsAreRefusedByName) {
  for (const core::HigherOrder* op : ops::all_higher_order()) {
    ir::Program p;
    p.add(f32({1}));
    p.inputs = 1;
    p.eqns.push_back({op, {0}, {p.add(f32({1}))}, {}, {}});
    p.outputs = {1};
    EXPECT_EQ(message_of([&] { compile(client(), mesh_of({}), p); }),
              "reference: no evaluator for " + std::string(op->name));
  }
}

// Every row has an evaluator, or is a composite of others.
TEST(ReferenceClient, EveryRowHasAnEvaluator) {
  for (const core::Primitive* row : ops::all_rows()) {
    ir::Program p;
    p.add(f32({1}));
    p.inputs = 1;
    p.eqns.push_back({row, {0}, {p.add(f32({1}))}, {}, {}});
    p.outputs = {1};
    EXPECT_NO_THROW(compile(client(), mesh_of({}), p)) << row->name;
  }
}

TEST(ReferenceClient, OperandsOfADtypeThatARowDoesNotTake) {
  ir::Program p;
  p.add({Dtype::i32, {1}, false, {}});
  p.inputs = 1;
  p.eqns.push_back({&ops::exp, {0}, {p.add({Dtype::i32, {1}, false, {}})}, {}, {}});
  p.outputs = {1};
  EXPECT_EQ(message_of([&] { run(client(), p, {vec(Dtype::i32, {1})}); }), "reference: exp has no evaluator for i32");
}

}  // namespace
}  // namespace uni
