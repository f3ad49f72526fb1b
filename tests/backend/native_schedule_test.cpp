// The native executor: programs of several operations on meshes give what the reference backend gives; replicated
// values are shared; threads do not change bits; donated storage is reused.
#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include <unistd.h>

#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include "runtime/client.hpp"
#include "runtime/pool.hpp"

namespace uni {
namespace {

using ir::Var;
using runtime::BufferPtr;
using runtime::Shards;

Mesh mesh_of(std::vector<MeshAxis> axes) {
  int n = 1;
  for (const MeshAxis& a : axes) n *= static_cast<int>(a.size);
  std::vector<int> devices;
  for (int d = 0; d < n; ++d) devices.push_back(d);
  return Mesh(std::move(axes), std::move(devices));
}

// A program for one device of a mesh, built equation by equation.
class Local {
 public:
  explicit Local(Mesh mesh) : mesh_(std::move(mesh)) {}
  Var input(Dtype dtype, const Dims& local, P spec = {}) {
    const Var v = program_.add({dtype, local, false, {}});
    program_.inputs = v + 1;
    in_.push_back(std::move(spec));
    return v;
  }
  Var op(const ir::Op& op, std::vector<Var> in, ir::Params params = {}) {
    ir::Types types;
    for (Var v : in) types.push_back(type(v));
    ir::Types out = ir::infer(op, types, params);
    ir::Eqn e{&op, std::move(in), {}, std::move(params), {}};
    for (ir::Type& t : out) e.out.push_back(program_.add(std::move(t)));
    program_.eqns.push_back(e);
    return e.out[0];
  }
  void output(Var v, P spec = {}) {
    program_.outputs.push_back(v);
    out_.push_back(std::move(spec));
  }
  const ir::Type& type(Var v) const { return program_.types[static_cast<std::size_t>(v)]; }
  int size() const { return static_cast<int>(program_.types.size()); }
  int inputs() const { return program_.inputs; }
  bool split(int input) const { return !in_[static_cast<std::size_t>(input)].dims().empty(); }
  const Mesh& mesh() const { return mesh_; }
  const ir::Program& program() const { return program_; }
  runtime::Handle<runtime::Executable> compile(runtime::Client& client) const {
    return client.compile({std::make_shared<const ir::Program>(program_), mesh_, in_, out_});
  }

 private:
  Mesh mesh_;
  ir::Program program_;
  std::vector<P> in_, out_;
};

// Small integers in floats: sums are exact, so that all backends give the same bits in any order.
void fill(const BufferPtr& b, std::mt19937& random) {
  for (i64 i = 0; i < b->shape().count(); ++i) {
    const int v = static_cast<int>(random() % 7) - 3;
    if (b->dtype() == Dtype::f32)
      reinterpret_cast<float*>(b->data())[i] = static_cast<float>(v);
    else
      reinterpret_cast<std::int32_t*>(b->data())[i] = v;
  }
}
Shards shards(runtime::Client& client, const Local& p, int input, std::mt19937& random) {
  const ir::Type& t = p.type(input);
  Shards out;
  for (std::size_t d = 0; d < p.mesh().devices().size(); ++d) {
    if (d > 0 && !p.split(input)) {
      out.push_back(out[0]);
      continue;
    }
    out.push_back(client.allocate(t.dtype, t.shape, static_cast<int>(d)));
    fill(out.back(), random);
  }
  return out;
}
// One block for all devices, as results are.
Shards adjacent_shards(const Local& p, int input, std::mt19937& random) {
  const ir::Type& t = p.type(input);
  const i64 devices = p.mesh().device_count();
  const auto storage = detail::make_handle<runtime::Storage>(devices * t.bytes());
  Shards out;
  for (i64 d = 0; d < devices; ++d) {
    out.push_back(detail::make_handle<runtime::Buffer>(storage, d * t.bytes(), t.dtype, t.shape, static_cast<int>(d)));
    fill(out.back(), random);
  }
  return out;
}
std::vector<Shards> arguments(runtime::Client& client, const Local& p, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Shards> args;
  for (int i = 0; i < p.inputs(); ++i) args.push_back(shards(client, p, i, random));
  return args;
}
using Bytes = std::vector<std::vector<std::string>>;  // by output and device
Bytes bytes_of(const std::vector<Shards>& results) {
  Bytes out;
  for (const Shards& s : results) {
    out.emplace_back();
    for (const BufferPtr& b : s)
      out.back().emplace_back(reinterpret_cast<const char*>(b->data()), static_cast<std::size_t>(b->bytes()));
  }
  return out;
}
Bytes run(runtime::Client& client, const Local& p, unsigned seed = 1) {
  return bytes_of(p.compile(client)->execute(arguments(client, p, seed), {}));
}
void expect_backends_agree(const Local& p, const std::string& what) {
  const Bytes got = run(runtime::native_client(), p), want = run(runtime::reference_client(), p);
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t o = 0; o < got.size(); ++o)
    for (std::size_t d = 0; d < got[o].size(); ++d)
      EXPECT_EQ(got[o][d], want[o][d]) << what << ": output " << o << " device " << d << "\n" << ir::print(p.program());
}

ops::AxesOnly over(std::initializer_list<std::string> axes) { return {axes, {}}; }

// ---- random programs
class RandomProgram {
 public:
  RandomProgram(Mesh mesh, unsigned seed) : p(std::move(mesh)), random_(seed) {
    std::vector<std::string> names;
    for (const MeshAxis& a : p.mesh().axes()) names.push_back(a.name);
    const P everywhere{SpecDim(names)};
    const i64 n = pick({1, 2, 3, 5}), m = pick({1, 4, 7});
    for (const Dims& shape : {Dims{n, m}, Dims{n, m}, Dims{m, 3}, Dims{m}})
      p.input(Dtype::f32, shape, random_() % 2 && !names.empty() ? everywhere : P{});
    for (int i = 0; i < 24; ++i) step();
    for (int v = p.inputs(); v < p.size(); ++v)
      if (random_() % 3 == 0 || v + 1 == p.size()) p.output(v, everywhere);
  }
  Local p;

 private:
  i64 pick(std::vector<i64> from) { return from[random_() % from.size()]; }
  bool usable(Var v) const { return p.type(v).dtype == Dtype::f32 && p.type(v).shape.count() <= 4096; }
  Var any() {
    Var v;
    do v = static_cast<Var>(random_() % static_cast<unsigned>(p.size()));
    while (!usable(v));
    return v;
  }
  std::string axis() { return p.mesh().axes()[random_() % p.mesh().axes().size()].name; }
  void step() {
    const Var x = any();
    const Dims shape = p.type(x).shape;
    switch (random_() % 12) {
      case 0:
        return unary(x, ops::neg);
      case 1:
        return unary(x, ops::sign);
      case 2:
      case 3:
        return binary(x);
      case 4: {
        Dims wide = shape;
        wide.insert(0, 2);
        std::vector<int> dims;
        for (int d = 0; d < shape.rank(); ++d) dims.push_back(d + 1);
        if (wide.rank() <= 4) p.op(ops::broadcast_in_dim, {x}, ops::BroadcastInDim{wide, dims});
        return;
      }
      case 5:
        p.op(ops::reshape, {x}, ops::Reshape{Dims{shape.count()}});
        return;
      case 6:
        if (shape.rank() > 0)
          p.op(ops::reduce_max, {x}, ops::Reduce{{static_cast<int>(random_() % static_cast<unsigned>(shape.rank()))}});
        return;
      case 7:
        return dot(x);
      case 8:
        if (shape.rank() == 2) p.op(ops::transpose, {x}, ops::Transpose{{1, 0}});
        return;
      case 9:
        return collective(x);
      case 10:
        p.op(ops::full, {}, ops::Full{ir::Scalar::of_double(Dtype::f32, 2), shape});
        return;
      default:
        if (shape.rank() > 0) p.op(ops::iota, {}, ops::Iota{Dtype::f32, shape, 0});
    }
  }
  void unary(Var x, const ir::Op& op) { p.op(op, {x}); }
  void binary(Var x) {
    std::vector<Var> like;
    for (Var v = 0; v < p.size(); ++v)
      if (usable(v) && p.type(v).shape == p.type(x).shape) like.push_back(v);
    const Var y = like[random_() % like.size()];
    const ir::Op* ops[] = {&ops::add, &ops::sub, &ops::maximum, &ops::minimum};
    if (random_() % 3 == 0) {
      const Var test = p.op(ops::compare, {x, y}, ops::Compare{ops::Compare::Direction::lt});
      const Var chosen = p.op(ops::select, {test, y, x});
      p.op(ops::clamp, {x, chosen, y});
      return;
    }
    p.op(*ops[random_() % 4], {x, y});
  }
  // sign() keeps the numbers small.
  void dot(Var x) {
    for (Var y = 0; y < p.size(); ++y) {
      const Dims a = p.type(x).shape, b = p.type(y).shape;
      if (!usable(y) || a.rank() != 2 || b.rank() != 2) continue;
      const Var l = p.op(ops::sign, {x}), r = p.op(ops::sign, {y});
      if (a[0] == b[0] && random_() % 2) {
        const Var z = p.op(ops::dot_general, {l, r}, ops::DotGeneral{{0}, {0}, {}, {}});
        if (random_() % 2 && !p.mesh().axes().empty()) psum_all(z);
        return;
      }
      if (a[1] == b[0]) {
        p.op(ops::dot_general, {l, r}, ops::DotGeneral{{1}, {0}, {}, {}});
        return;
      }
    }
  }
  void psum_all(Var x) {
    ops::AxesOnly all;
    for (const MeshAxis& a : p.mesh().axes()) all.axes.push_back(a.name);
    p.op(ops::psum, {x}, all);
  }
  void collective(Var x) {
    if (p.mesh().axes().empty()) return;
    const Var s = p.op(ops::sign, {x});
    const std::string name = axis();
    const i64 size = p.mesh().size(name);
    switch (random_() % 6) {
      case 0:
        psum_all(s);
        return;
      case 1:
        p.op(ops::psum, {s}, over({name}));
        return;
      case 2:
        p.op(ops::pmax, {x}, over({name}));
        return;
      case 3:
        if (p.type(x).shape.rank() < 4) p.op(ops::all_gather, {x}, ops::AllGather{{name}, size, 0, false, false});
        return;
      case 4:
        p.op(ops::ppermute, {x}, ops::Ppermute{{name}, size, {{0, static_cast<int>(size) - 1}}});
        return;
      default: {
        const Var i =
            p.op(ops::convert, {p.op(ops::axis_index, {}, ops::AxisIndex{{name}, size, {}})}, ops::Convert{Dtype::f32});
        p.op(ops::add, {x, p.op(ops::broadcast_in_dim, {i}, ops::BroadcastInDim{p.type(x).shape, {}})});
      }
    }
  }
  std::mt19937 random_;
};

TEST(NativeSchedule, RandomProgramsGiveWhatTheReferenceGives) {
  for (unsigned seed = 0; seed < 60; ++seed)
    for (const Mesh& mesh : {mesh_of({}), mesh_of({{"i", 3}}), mesh_of({{"i", 2}, {"j", 3}}), mesh_of({{"i", 1}})}) {
      const RandomProgram r(mesh, seed);
      expect_backends_agree(r.p, "seed " + std::to_string(seed) + " on " + std::to_string(mesh.device_count()));
    }
}

// ---- one layer, forward and backward, as data-parallel training runs it
struct Layer {
  Local p;
  explicit Layer(i64 devices, i64 rows = 5, i64 in = 7, i64 out = 3) : p(mesh_of({{"batch", devices}})) {
    const P split{SpecDim("batch")};
    const Var w = p.input(Dtype::f32, {in, out}), x = p.input(Dtype::f32, {rows, in}, split);
    const Var y = p.op(ops::dot_general, {x, w}, ops::DotGeneral{{1}, {0}, {}, {}});
    const Var zero = p.op(ops::full, {}, ops::Full{ir::Scalar::of_double(Dtype::f32, 0), {rows, out}});
    const Var h = p.op(ops::maximum, {y, zero});
    const Var dw = p.op(ops::dot_general, {x, h}, ops::DotGeneral{{0}, {0}, {}, {}});
    const Var sum = p.op(ops::psum, {dw}, over({"batch"}));
    p.output(p.op(ops::sub, {w, sum}));
    p.output(h, split);
  }
};

TEST(NativeSchedule, ALayerOnDevices) {
  for (const i64 devices : {1, 2, 8, 64}) expect_backends_agree(Layer(devices).p, std::to_string(devices));
}

// Operands that are read in place, results stored transposed or summed over devices, either operand the same on all.
TEST(NativeSchedule, ProductsOfViewsTransposedAndSummed) {
  const P split{SpecDim("batch")};
  for (const i64 devices : {1, 3})
    for (const bool left : {false, true})
      for (const bool right : {false, true})
        for (const i64 k : {3, 40, 5000}) {
          Local p(mesh_of({{"batch", devices}}));
          const Var a = p.input(Dtype::f32, {2, 9, k}, left ? split : P()),
                    b = p.input(Dtype::f32, {2 * k, 2, 17}, right ? split : P());
          const Var reversed = p.op(ops::reverse, {a}, ops::Reverse{{2}});
          const Var sliced = p.op(ops::slice, {b}, ops::SliceParams{{0, 0, 1}, {2 * k, 2, 17}, {2, 1, 3}});
          const Var product = p.op(ops::dot_general, {reversed, sliced}, ops::DotGeneral{{2}, {0}, {0}, {1}});
          const Var moved = p.op(ops::transpose, {product}, ops::Transpose{{2, 0, 1}});
          const Var other = p.op(ops::dot_general, {sliced, a}, ops::DotGeneral{{0, 1}, {2, 0}, {}, {}});
          p.output(p.op(ops::psum, {moved}, over({"batch"})));
          p.output(p.op(ops::psum, {other}, over({"batch"})));
          p.output(p.op(ops::dot_general, {a, sliced}, ops::DotGeneral{{0, 2}, {1, 0}, {}, {}}),
                   left || right ? split : P());
          expect_backends_agree(p, std::to_string(devices) + " devices, k " + std::to_string(k));
        }
}

// As gradients of convolutions are: operand and kernel transposed, the result moved, both directions sharing a padding.
TEST(NativeSchedule, ConvolutionsOfTransposedOperandsSummedOverDevices) {
  const P split{SpecDim("batch")};
  for (const i64 devices : {1, 2}) {
    Local p(mesh_of({{"batch", devices}}));
    const Var x = p.input(Dtype::f32, {3, 20, 23, 5}, split), w = p.input(Dtype::f32, {3, 3, 5, 6});
    const ops::Conv same{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    const Var y = p.op(ops::conv, {x, w}, same);
    const Var xt = p.op(ops::transpose, {x}, ops::Transpose{{3, 1, 2, 0}}),
              yt = p.op(ops::transpose, {p.op(ops::sign, {y})}, ops::Transpose{{1, 2, 0, 3}});
    const Var dw = p.op(ops::transpose, {p.op(ops::conv, {xt, yt}, same)}, ops::Transpose{{1, 2, 0, 3}});
    p.output(y, split);
    p.output(p.op(ops::psum, {dw}, over({"batch"})));
    expect_backends_agree(p, std::to_string(devices) + " devices");
  }
}

TEST(NativeSchedule, ReplicatedResultsAreOneBufferAndSplitOnesAreAdjacent) {
  const Layer layer(4);
  const auto results =
      layer.p.compile(runtime::native_client())->execute(arguments(runtime::native_client(), layer.p, 1), {});
  for (std::size_t d = 1; d < 4; ++d) {
    EXPECT_EQ(results[0][d], results[0][0]);
    EXPECT_EQ(results[1][d]->data(), results[1][d - 1]->data() + results[1][d]->bytes());
  }
}

TEST(NativeSchedule, CountsLaunchesAndCollectives) {
  const Layer layer(4);
  const auto executable = layer.p.compile(runtime::native_client());
  for (int i = 0; i < 3; ++i) executable->execute(arguments(runtime::native_client(), layer.p, 1), {});
  EXPECT_EQ(executable->stats().launches, 3);
  EXPECT_EQ(executable->stats().collectives, 3);
  EXPECT_EQ(executable->stats().collective_bytes, 3 * 7 * 3 * 4);
}

// Values whose sums depend on the order.
TEST(NativeSchedule, ThreadsDoNotChangeBits) {
  Local p(mesh_of({{"i", 3}}));
  const P split{SpecDim("i")};
  const Var x = p.input(Dtype::f32, {300, 257}, split), w = p.input(Dtype::f32, {257, 300});
  const Var third = p.op(ops::full, {}, ops::Full{ir::Scalar::of_double(Dtype::f32, 1.0 / 3), {300, 257}});
  const Var y = p.op(ops::exp, {p.op(ops::mul, {x, third})});
  p.output(p.op(ops::reduce_sum, {y}, ops::Reduce{{0}}), split);
  p.output(p.op(ops::reduce_sum, {y}, ops::Reduce{{0, 1}}), split);
  p.output(p.op(ops::dot_general, {y, w}, ops::DotGeneral{{1}, {0}, {}, {}}), split);
  p.output(p.op(ops::psum, {y}, over({"i"})));
  const Var square = p.op(ops::dot_general, {y, y}, ops::DotGeneral{{0}, {0}, {}, {}});
  p.output(p.op(ops::psum, {square}, over({"i"})));
  const int before = runtime::thread_count();
  std::vector<Bytes> seen;
  for (const int threads : {1, 2, 3, 7}) {
    runtime::set_thread_count(threads);
    for (int repeat = 0; repeat < 3; ++repeat) seen.push_back(run(runtime::native_client(), p));
  }
  runtime::set_thread_count(before);
  for (const Bytes& b : seen) EXPECT_TRUE(b == seen[0]);
}

TEST(NativeSchedule, SixtyFourDevicesOnOneThread) {
  const int before = runtime::thread_count();
  runtime::set_thread_count(1);
  expect_backends_agree(Layer(64).p, "64");
  runtime::set_thread_count(before);
}

TEST(NativeSchedule, SeveralThreadsExecuteOneProgram) {
  const Layer layer(4, 20, 50, 30);
  const auto executable = layer.p.compile(runtime::native_client());
  const Bytes want = bytes_of(executable->execute(arguments(runtime::native_client(), layer.p, 1), {}));
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        if (bytes_of(executable->execute(arguments(runtime::native_client(), layer.p, 1), {})) != want) ++wrong;
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(wrong, 0);
}

// ---- donation
struct Update {  // w - g, on devices that share w or have each its own
  Local p;
  explicit Update(i64 devices, bool split) : p(mesh_of({{"i", devices}})) {
    const P spec = split ? P{SpecDim("i")} : P{};
    const Var g = p.input(Dtype::f32, {1000}, spec), w = p.input(Dtype::f32, {1000}, spec);
    p.output(p.op(ops::sub, {w, g}), spec);
  }
  // The address of the result when input 1 is donated, and of that input.
  std::pair<const std::byte*, const std::byte*> addresses(std::vector<std::uint8_t> donate, bool keep = false) {
    std::mt19937 random(1);
    std::vector<Shards> args;
    for (int i = 0; i < 2; ++i)
      args.push_back(p.split(i) ? adjacent_shards(p, i, random) : shards(runtime::native_client(), p, i, random));
    const std::byte* donated = args[1][0]->data();
    const Shards kept = keep ? args[1] : Shards{};
    const auto results = p.compile(runtime::native_client())->execute(std::move(args), donate);
    return {results[0][0]->data(), donated};
  }
};

TEST(NativeDonation, TheResultTakesTheDonatedStorage) {
  for (const bool split : {false, true})
    for (const i64 devices : {1, 4}) {
      const auto [result, donated] = Update(devices, split).addresses({0, 1});
      EXPECT_EQ(result, donated) << devices << split;
    }
}
TEST(NativeDonation, HeldOrKeptStorageIsNotTaken) {
  for (const bool split : {false, true}) {
    const auto held = Update(4, split).addresses({0, 1}, true);
    EXPECT_NE(held.first, held.second);
    const auto kept = Update(4, split).addresses({0, 0});
    EXPECT_NE(kept.first, kept.second);
  }
}
TEST(NativeDonation, EachDonatedBufferServesOneResult) {
  Local p(mesh_of({}));
  const Var a = p.input(Dtype::f32, {64}), b = p.input(Dtype::f32, {64});
  p.output(p.op(ops::add, {a, b}));
  p.output(p.op(ops::mul, {a, b}));
  p.output(p.op(ops::sub, {a, b}));
  const std::vector<std::uint8_t> both{1, 1};
  auto args = arguments(runtime::native_client(), p, 1);
  const auto results = p.compile(runtime::native_client())->execute(std::move(args), both);
  EXPECT_EQ(bytes_of(results), run(runtime::reference_client(), p));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers keep freed memory
i64 resident_pages() {
  std::ifstream statm("/proc/self/statm");
  i64 size = 0, resident = 0;
  statm >> size >> resident;
  return resident;
}
TEST(NativeSchedule, MemoryStaysFlat) {
  const Layer layer(8, 20, 50, 30);
  const auto executable = layer.p.compile(runtime::native_client());
  const auto args = arguments(runtime::native_client(), layer.p, 1);
  for (int i = 0; i < 200; ++i) executable->execute(args, {});
  const i64 before = resident_pages();
  for (int i = 0; i < 3000; ++i) executable->execute(args, {});
  EXPECT_LE(resident_pages() - before, 256);
}
#endif

TEST(NativeSchedule, ArgumentsThatDoNotFitAreRefused) {
  const Layer layer(2);
  auto args = arguments(runtime::native_client(), layer.p, 1);
  args[1].pop_back();
  EXPECT_THROW(layer.p.compile(runtime::native_client())->execute(std::move(args), {}), InternalError);
}

}  // namespace
}  // namespace uni
