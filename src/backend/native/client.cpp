// The executor: every step for all virtual devices, as chunks on the pool, before the next one. Devices are no threads,
// so nothing can wait for anything that has not started.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "backend/native/collective.hpp"
#include "backend/native/plan.hpp"
#include "backend/native/walk.hpp"
#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::native {

namespace {
using runtime::Buffer;
using runtime::BufferPtr;
using runtime::Handle;
using runtime::Shards;
using runtime::Storage;

std::size_t at(int v) { return static_cast<std::size_t>(v); }

// Buffers that lie one behind another in one allocation.
bool adjacent(const Shards& shards) {
  for (std::size_t d = 1; d < shards.size(); ++d)
    if (shards[d]->storage() != shards[0]->storage() ||
        shards[d]->offset() != shards[d - 1]->offset() + shards[d - 1]->bytes())
      return false;
  return true;
}
// Nobody but these arguments holds the memory.
bool sole_owner(const Shards& shards, bool varying) {
  const int n = static_cast<int>(shards.size());
  if (!varying)
    return shards[0]->use_count() == n && shards[0]->storage()->use_count() == 1 && shards[0]->offset() == 0;
  if (shards[0]->offset() != 0 || !adjacent(shards)) return false;
  for (const BufferPtr& b : shards)
    if (b->use_count() != 1) return false;
  return shards[0]->storage()->use_count() == n;
}

// What one execution needs besides its arguments and results. Kept between executions, so that running allocates
// nothing but results; several executions may run at once, each with its own.
struct Context {
  Handle<Storage> arena;
  std::vector<std::byte*> data;          // by root value
  std::vector<Handle<Storage>> staged;   // blocks of arguments that lay scattered
  std::vector<Handle<Storage>> results;  // by result root
  std::vector<std::uint8_t> taken;       // arguments whose storage a result took
};

class NativeExecutable final : public runtime::Executable {
 public:
  explicit NativeExecutable(Plan plan) : plan_(std::move(plan)) {}

  std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t> donate) override {
    Lease lease(*this);
    Context& c = *lease.context;
    for (std::size_t i = 0; i < args.size(); ++i) take_input(c, args[i], i);
    make_results(c, args, donate);
    for (const Step& s : plan_.steps) run(c, s);
    launches_.fetch_add(1, std::memory_order_relaxed);
    return results(c, args);
  }

  runtime::LaunchStats stats() const override {
    const i64 n = launches_;
    return {n, n * plan_.collectives, n * plan_.collective_bytes};
  }

 private:
  struct Lease {
    explicit Lease(NativeExecutable& o) : owner(o), context(o.take_context()) {}
    ~Lease() {
      context->staged.clear();
      context->results.clear();
      const std::lock_guard lock(owner.mutex_);
      owner.idle_.push_back(std::move(context));
    }
    NativeExecutable& owner;
    std::unique_ptr<Context> context;
  };

  std::unique_ptr<Context> take_context() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Context> c = std::move(idle_.back());
        idle_.pop_back();
        return c;
      }
    }
    auto c = std::make_unique<Context>();
    c->data.resize(plan_.values.size(), nullptr);
    c->taken.resize(plan_.inputs.size(), 0);
    if (plan_.arena_bytes == 0) return c;
    c->arena = detail::make_handle<Storage>(plan_.arena_bytes);
    for (std::size_t v = 0; v < plan_.values.size(); ++v)
      if (plan_.values[v].place == Value::Place::arena) c->data[v] = c->arena->data() + plan_.values[v].offset;
    return c;
  }

  void take_input(Context& c, const Shards& shards, std::size_t i) const {
    const int root = plan_.inputs[i];
    const Value& v = plan_.values[at(root)];
    check(shards, v.type, i);
    c.data[at(root)] = shards[0]->data();
    if (!v.varying || adjacent(shards)) return;
    auto whole = detail::make_handle<Storage>(v.bytes(plan_.devices));
    for (std::size_t d = 0; d < shards.size(); ++d)
      std::memcpy(whole->data() + static_cast<i64>(d) * v.type.bytes(), shards[d]->data(),
                  static_cast<std::size_t>(v.type.bytes()));
    c.data[at(root)] = whole->data();
    c.staged.push_back(std::move(whole));
  }
  void check(const Shards& shards, const ir::Type& t, std::size_t i) const {
    bool fits = static_cast<i64>(shards.size()) == plan_.devices;
    for (const BufferPtr& b : shards) fits = fits && b->dtype() == t.dtype && b->shape() == t.shape;
    if (!fits)
      throw InternalError(
          base::cat("native: argument ", i, " does not fit ", ir::to_string(t), " on ", plan_.devices, " devices"));
  }

  void make_results(Context& c, const std::vector<Shards>& args, std::span<const std::uint8_t> donate) const {
    if (!donate.empty()) std::fill(c.taken.begin(), c.taken.end(), std::uint8_t{0});
    for (std::size_t r = 0; r < plan_.result_roots.size(); ++r) {
      const Value& v = plan_.values[at(plan_.result_roots[r])];
      const int donor = donate.empty() ? -1 : find_donor(c, plan_.donors[r], args, donate, v.varying);
      c.results.push_back(donor < 0 ? detail::make_handle<Storage>(v.bytes(plan_.devices))
                                    : args[at(donor)][0]->storage());
      c.data[at(plan_.result_roots[r])] = c.results.back()->data();
    }
  }
  static int find_donor(Context& c, const std::vector<int>& candidates, const std::vector<Shards>& args,
                        std::span<const std::uint8_t> donate, bool varying) {
    for (int i : candidates) {
      if (!donate[at(i)] || c.taken[at(i)] || !sole_owner(args[at(i)], varying)) continue;
      c.taken[at(i)] = 1;
      return i;
    }
    return -1;
  }

  void run(Context& c, const Step& s) const {
    switch (s.kind) {
      case Step::Kind::group:
        return run_group(c, s);
      case Step::Kind::compiled:
        return run_compiled(c, s);
      case Step::Kind::dense:
        return s.dense->run(place(c, s.in_slots[0], 0), place(c, s.in_slots[1], 0), place(c, s.out_slots[0], 0),
                            s.out_slots.size() > 1 ? place(c, s.out_slots[1], 0) : nullptr);
      case Step::Kind::kernel:
        return run_kernel(c, s);
      case Step::Kind::collective:
        return run_collective_step(c, s);
    }
  }

  static std::byte* place(const Context& c, const Slot& slot, i64 device) {
    return c.data[at(slot.root)] + device * slot.stride;
  }

  void run_group(const Context& c, const Step& s) const {
    const Group& g = *s.group;
    constexpr i64 chunk = 16 * Group::tile;
    const i64 devices = s.each_device ? plan_.devices : 1, chunks = (g.count + chunk - 1) / chunk;
    const auto one = [&](i64 job) {
      const i64 d = job / chunks, begin = job % chunks * chunk;
      std::byte *in[Group::max_inputs], *out[Group::max_members];
      for (std::size_t k = 0; k < s.in_slots.size(); ++k) in[k] = place(c, s.in_slots[k], d);
      for (std::size_t k = 0; k < s.out_slots.size(); ++k) out[k] = place(c, s.out_slots[k], d);
      g.run(begin, std::min(begin + chunk, g.count), in, out);
    };
    shared(devices * chunks, devices * g.count * g.bytes_per_element(), one);
  }

  void run_compiled(const Context& c, const Step& s) const {
    const Grid& g = s.grid;
    const i64 devices = s.each_device ? plan_.devices : 1, across = g.column_chunks(), chunks = g.chunks();
    const auto one = [&](i64 job) {
      const i64 d = job / chunks, chunk = job % chunks;
      const i64 row = chunk / across * g.row_block, column = chunk % across * g.column_block;
      std::byte* arguments[Cluster::most_arguments];
      std::size_t n = 0;
      for (const Slot& slot : s.in_slots) arguments[n++] = place(c, slot, d);
      for (const Slot& slot : s.out_slots) arguments[n++] = place(c, slot, d);
      s.compiled(arguments, row, std::min(row + g.row_block, g.rows), column,
                 std::min(column + g.column_block, g.columns), chunk);
    };
    shared(devices * chunks, devices * g.rows * g.columns * 8, one);
  }

  void run_kernel(const Context& c, const Step& s) const {
    const auto one = [&](i64 d) {
      constexpr std::size_t few = 16;
      View views[few];
      std::vector<View> many;
      const std::size_t ins = s.in_slots.size(), outs = s.out_slots.size();
      View* v = ins + outs <= few ? views : (many.resize(ins + outs), many.data());
      for (std::size_t k = 0; k < ins; ++k) v[k] = {&s.in_types[k], place(c, s.in_slots[k], d)};
      for (std::size_t k = 0; k < outs; ++k) v[ins + k] = {&s.out_types[k], place(c, s.out_slots[k], d)};
      s.run({{v, ins}, {v + ins, outs}, s.eqn.params});
    };
    if (!s.each_device) return one(0);
    i64 bytes = 0;
    for (const ir::Type& t : s.in_types) bytes += t.bytes();
    for (const ir::Type& t : s.out_types) bytes += t.bytes();
    shared(plan_.devices, plan_.devices * bytes, one);
  }

  void run_collective_step(const Context& c, const Step& s) const {
    const ir::Type& result = plan_.values[at(s.out[0])].type;
    const Slot& out = s.out_slots[0];
    if (s.in.empty())
      return run_collective({s.eqn, plan_.mesh, result, result, nullptr, 0, place(c, out, 0), out.stride});
    run_collective({s.eqn, plan_.mesh, plan_.values[at(s.eqn.in[0])].type, result, place(c, s.in_slots[0], 0),
                    s.in_slots[0].stride, place(c, out, 0), out.stride});
  }

  // Small work stays in the calling thread.
  template <class Fn>
  static void shared(i64 jobs, i64 bytes, const Fn& fn) {
    if (bytes < parallel_bytes) {
      for (i64 j = 0; j < jobs; ++j) fn(j);
      return;
    }
    runtime::parallel_for(jobs, fn);
  }

  std::vector<Shards> results(const Context& c, const std::vector<Shards>& args) const {
    std::vector<Shards> out;
    out.reserve(plan_.outputs.size());
    for (int v : plan_.outputs) {
      const Value& value = plan_.values[at(v)];
      const Value& root = plan_.values[at(value.root)];
      Shards shards;
      shards.reserve(static_cast<std::size_t>(plan_.devices));
      for (i64 d = 0; d < plan_.devices; ++d)
        shards.push_back(d > 0 && !root.varying ? shards[0]
                                                : result(c, args, value, root, static_cast<std::size_t>(d)));
      out.push_back(std::move(shards));
    }
    return out;
  }
  BufferPtr result(const Context& c, const std::vector<Shards>& args, const Value& value, const Value& root,
                   std::size_t d) const {
    const ir::Type& t = value.type;
    if (root.place != Value::Place::input)
      return detail::make_handle<Buffer>(c.results[at(root.index)], static_cast<i64>(d) * t.bytes(), t.dtype, t.shape,
                                         plan_.mesh.devices()[d]);
    const BufferPtr& from = args[at(root.index)][d];
    return detail::make_handle<Buffer>(from->storage(), from->offset(), t.dtype, t.shape, from->device());
  }

  const Plan plan_;
  std::atomic<i64> launches_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
};

class NativeClient final : public runtime::Client {
 public:
  std::string_view platform() const override { return "native"; }
  BufferPtr allocate(Dtype dtype, const Dims& shape, int device) override {
    auto storage = detail::make_handle<Storage>(shape.count() * itemsize(dtype));
    return detail::make_handle<Buffer>(storage, 0, dtype, shape, device);
  }
  Handle<runtime::Executable> compile(const runtime::LocalProgram& program) override {
    return Handle<runtime::Executable>(new NativeExecutable(make_plan(program)));
  }
};
}  // namespace

}  // namespace uni::native

namespace uni::runtime {
Client& native_client() {
  static Client* const client = new native::NativeClient;
  return *client;
}
}  // namespace uni::runtime
