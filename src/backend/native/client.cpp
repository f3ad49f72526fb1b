// The executor: every step for all virtual devices, as chunks on the pool, before the next one. Devices are no threads,
// so nothing can wait for anything that has not started.
#include <atomic>
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
  if (!varying) return shards[0]->use_count() == n && shards[0]->storage()->use_count() == 1 && shards[0]->offset() == 0;
  if (shards[0]->offset() != 0 || !adjacent(shards)) return false;
  for (const BufferPtr& b : shards)
    if (b->use_count() != 1) return false;
  return shards[0]->storage()->use_count() == n;
}

class NativeExecutable final : public runtime::Executable {
 public:
  explicit NativeExecutable(Plan plan) : plan_(std::move(plan)) {}

  std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t> donate) override {
    Run run(*this);
    for (std::size_t i = 0; i < args.size(); ++i) run.take_input(args[i], static_cast<int>(i));
    run.make_results(args, donate);
    for (const Step& s : plan_.steps) run.step(s);
    ++launches_;
    return run.results(args);
  }

  runtime::LaunchStats stats() const override {
    const i64 n = launches_;
    return {n, n * plan_.collectives, n * plan_.collective_bytes};
  }

 private:
  // Scratch memory of one execution, kept between executions; several may run at once.
  Handle<Storage> take_arena() {
    if (plan_.arena_bytes == 0) return nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (!arenas_.empty()) {
        Handle<Storage> arena = std::move(arenas_.back());
        arenas_.pop_back();
        return arena;
      }
    }
    return detail::make_handle<Storage>(plan_.arena_bytes);
  }
  void return_arena(Handle<Storage> arena) {
    if (!arena) return;
    const std::lock_guard lock(mutex_);
    arenas_.push_back(std::move(arena));
  }

  class Run {
   public:
    explicit Run(NativeExecutable& owner)
        : owner_(owner), plan_(owner.plan_), arena_(owner.take_arena()), data_(plan_.values.size(), nullptr) {
      for (std::size_t v = 0; v < plan_.values.size(); ++v)
        if (plan_.values[v].place == Value::Place::arena) data_[v] = arena_->data() + plan_.values[v].offset;
    }
    ~Run() { owner_.return_arena(std::move(arena_)); }

    void take_input(const Shards& shards, int i) {
      const int root = plan_.inputs[at(i)];
      const Value& v = plan_.values[at(root)];
      check(shards, v.type, i);
      data_[at(root)] = shards[0]->data();
      if (!v.varying || adjacent(shards)) return;
      auto whole = detail::make_handle<Storage>(v.bytes(plan_.devices));
      for (std::size_t d = 0; d < shards.size(); ++d)
        std::memcpy(whole->data() + static_cast<i64>(d) * v.type.bytes(), shards[d]->data(),
                    static_cast<std::size_t>(v.type.bytes()));
      data_[at(root)] = whole->data();
      staged_.push_back(std::move(whole));
    }

    void make_results(const std::vector<Shards>& args, std::span<const std::uint8_t> donate) {
      for (std::size_t r = 0; r < plan_.result_roots.size(); ++r) {
        const int root = plan_.result_roots[r], donor = plan_.donor[r];
        const Value& v = plan_.values[at(root)];
        const bool reuse = donor >= 0 && !donate.empty() && donate[at(donor)] && sole_owner(args[at(donor)], v.varying);
        storage_.push_back(reuse ? args[at(donor)][0]->storage() : detail::make_handle<Storage>(v.bytes(plan_.devices)));
        data_[at(root)] = storage_.back()->data();
      }
    }

    void step(const Step& s) {
      switch (s.kind) {
        case Step::Kind::group: return run_group(s);
        case Step::Kind::kernel: return run_kernel(s);
        case Step::Kind::collective: return run_collective_step(s);
      }
    }

    std::vector<Shards> results(const std::vector<Shards>& args) {
      std::vector<Shards> out;
      out.reserve(plan_.outputs.size());
      for (int v : plan_.outputs) {
        const Value& value = plan_.values[at(v)];
        const Value& root = plan_.values[at(value.root)];
        Shards shards;
        shards.reserve(at(static_cast<int>(plan_.devices)));
        for (i64 d = 0; d < plan_.devices; ++d) {
          if (d > 0 && !root.varying) {
            shards.push_back(shards[0]);
            continue;
          }
          const int device = plan_.mesh.devices()[static_cast<std::size_t>(d)];
          if (root.place == Value::Place::input) {
            const BufferPtr& from = args[at(root.index)][static_cast<std::size_t>(d)];
            shards.push_back(detail::make_handle<Buffer>(from->storage(), from->offset(), value.type.dtype,
                                                         value.type.shape, from->device()));
          } else {
            shards.push_back(detail::make_handle<Buffer>(storage_[at(root.index)], d * value.type.bytes(),
                                                         value.type.dtype, value.type.shape, device));
          }
        }
        out.push_back(std::move(shards));
      }
      return out;
    }

   private:
    void check(const Shards& shards, const ir::Type& t, int i) const {
      bool fits = static_cast<i64>(shards.size()) == plan_.devices;
      for (const BufferPtr& b : shards) fits = fits && b->dtype() == t.dtype && b->shape() == t.shape;
      if (!fits)
        throw InternalError(base::cat("native: argument ", i, " does not fit ", ir::to_string(t), " on ", plan_.devices,
                                      " devices"));
    }

    std::byte* data(int v, i64 device) const {
      const Value& root = plan_.values[at(plan_.values[at(v)].root)];
      return data_[at(plan_.values[at(v)].root)] + (root.varying ? device * root.type.bytes() : 0);
    }

    void run_group(const Step& s) const {
      const Group& g = *s.group;
      constexpr i64 chunk = 16 * Group::tile;
      const i64 devices = s.each_device ? plan_.devices : 1, chunks = (g.count + chunk - 1) / chunk;
      const auto one = [&](i64 job) {
        const i64 d = job / chunks, begin = job % chunks * chunk;
        constexpr std::size_t few = 64;
        std::byte *in[few], *out[few];
        std::vector<std::byte*> many_in, many_out;
        std::byte **ins = in, **outs = out;
        if (s.in.size() > few) ins = (many_in.resize(s.in.size()), many_in.data());
        if (s.out.size() > few) outs = (many_out.resize(s.out.size()), many_out.data());
        for (std::size_t k = 0; k < s.in.size(); ++k) ins[k] = data(s.in[k], d);
        for (std::size_t k = 0; k < s.out.size(); ++k) outs[k] = data(s.out[k], d);
        g.run(begin, std::min(begin + chunk, g.count), ins, outs);
      };
      shared(devices * chunks, devices * g.count * g.bytes_per_element(), one);
    }

    void run_kernel(const Step& s) const {
      const auto one = [&](i64 d) {
        std::vector<View> in(s.in.size()), out(s.out.size());
        for (std::size_t k = 0; k < in.size(); ++k) in[k] = {&s.in_types[k], data(s.in[k], d)};
        for (std::size_t k = 0; k < out.size(); ++k) out[k] = {&s.out_types[k], data(s.out[k], d)};
        s.run({in, out, s.eqn.params});
      };
      if (!s.each_device) return one(0);
      i64 bytes = 0;
      for (const ir::Type& t : s.in_types) bytes += t.bytes();
      for (const ir::Type& t : s.out_types) bytes += t.bytes();
      shared(plan_.devices, plan_.devices * bytes, one);
    }

    void run_collective_step(const Step& s) const {
      const Value& result = plan_.values[at(s.out[0])];
      const i64 out_stride = result.varying ? result.type.bytes() : 0;
      std::byte* out = data(s.out[0], 0);
      if (s.in.empty()) {
        run_collective({s.eqn, plan_.mesh, result.type, result.type, nullptr, 0, out, out_stride});
        return;
      }
      const Value& operand = plan_.values[at(s.eqn.in[0])];
      const Value& root = plan_.values[at(operand.root)];
      run_collective({s.eqn, plan_.mesh, operand.type, result.type, data(s.in[0], 0),
                      root.varying ? operand.type.bytes() : 0, out, out_stride});
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

    NativeExecutable& owner_;
    const Plan& plan_;
    Handle<Storage> arena_;
    std::vector<std::byte*> data_;  // by root value
    std::vector<Handle<Storage>> staged_, storage_;
  };

  const Plan plan_;
  std::atomic<i64> launches_{0};
  std::mutex mutex_;
  std::vector<Handle<Storage>> arenas_;
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
