// Arguments in, results out: what an execution takes and gives. execute.cpp runs the steps between.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "backend/native/execute.hpp"
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

class NativeExecutable final : public runtime::Executable {
 public:
  explicit NativeExecutable(Plan plan) : plan_(std::move(plan)) {}

  std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t> donate) override {
    Lease lease(*this);
    Context& c = *lease.context;
    for (std::size_t i = 0; i < args.size(); ++i) take_input(c, args[i], i);
    make_results(c, args, donate);
    run_steps(plan_, c);
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
    return make_context(plan_);
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
