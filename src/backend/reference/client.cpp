// The interpreter: every equation on every device, one after another.
#include <mutex>
#include <unordered_map>

#include "backend/reference/collective.hpp"
#include "base/text.hpp"
#include "ops/collectives.hpp"
#include <unisono/error.hpp>

namespace uni::reference {

namespace {
using runtime::BufferPtr;
using runtime::Shards;

void (*evaluator_of(const ir::Op* op))(const Call&) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, void (*)(const Call&)>;
    for (const auto family : {elementwise_evaluators(), structural_evaluators(), index_evaluators(),
                              contract_evaluators(), random_evaluators()})
      for (const Evaluator& e : family) all->emplace(e.op, e.run);
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

BufferPtr new_buffer(Dtype dtype, const Dims& shape, int device) {
  auto storage = detail::make_handle<runtime::Storage>(shape.count() * itemsize(dtype));
  return detail::make_handle<runtime::Buffer>(storage, 0, dtype, shape, device);
}

class Interpreter final : public runtime::Executable {
 public:
  explicit Interpreter(runtime::LocalProgram program) : local_(std::move(program)) {
    for (const ir::Eqn& e : local_.program->eqns) {
      if (!ops::is_collective(*e.op) && !evaluator_of(e.op))
        throw InternalError(base::cat("reference: no evaluator for ", e.op->name));
      if (!ops::is_collective(*e.op) || e.op == &ops::pvary || e.op == &ops::axis_index) continue;
      ++collectives_;
      bytes_ += local_.program->types[static_cast<std::size_t>(e.in[0])].bytes();
    }
  }

  std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t>) override {
    const ir::Program& p = *local_.program;
    std::vector<Shards> env(p.types.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
      check(args[i], p.types[i], i);
      env[i] = std::move(args[i]);
    }
    for (const ir::Eqn& e : p.eqns) {
      for (ir::Var v : e.out) {
        const ir::Type& t = p.types[static_cast<std::size_t>(v)];
        for (int device : local_.mesh.devices()) env[static_cast<std::size_t>(v)].push_back(new_buffer(t.dtype, t.shape, device));
      }
      run(e, env);
    }
    std::vector<Shards> out;
    for (ir::Var v : p.outputs) out.push_back(env[static_cast<std::size_t>(v)]);
    const std::lock_guard lock(mutex_);
    ++launches_;
    return out;
  }

  runtime::LaunchStats stats() const override {
    const std::lock_guard lock(mutex_);
    return {launches_, launches_ * collectives_, launches_ * bytes_};
  }

 private:
  void check(const Shards& shards, const ir::Type& t, std::size_t i) const {
    if (static_cast<i64>(shards.size()) == local_.mesh.device_count()) {
      bool fits = true;
      for (const BufferPtr& b : shards) fits = fits && b->dtype() == t.dtype && b->shape() == t.shape;
      if (fits) return;
    }
    throw InternalError(base::cat("reference: argument ", i, " does not fit ", ir::to_string(t), " on ",
                                  local_.mesh.device_count(), " devices"));
  }

  Value value(const std::vector<Shards>& env, ir::Var v, std::size_t device) const {
    const auto i = static_cast<std::size_t>(v);
    return {local_.program->types[i], env[i][device]->data()};
  }

  void run(const ir::Eqn& e, const std::vector<Shards>& env) const {
    const auto devices = static_cast<std::size_t>(local_.mesh.device_count());
    if (ops::is_collective(*e.op)) {
      CollectiveCall call{e, local_.mesh, {}, {}};
      for (std::size_t d = 0; d < devices; ++d) {
        if (!e.in.empty()) call.in.push_back(value(env, e.in[0], d));
        call.out.push_back(value(env, e.out[0], d));
      }
      return run_collective(call);
    }
    for (std::size_t d = 0; d < devices; ++d) {
      std::vector<Value> in, out;
      for (ir::Var v : e.in) in.push_back(value(env, v, d));
      for (ir::Var v : e.out) out.push_back(value(env, v, d));
      evaluator_of(e.op)({e, in, out});
    }
  }

  const runtime::LocalProgram local_;
  i64 collectives_ = 0, bytes_ = 0, launches_ = 0;
  mutable std::mutex mutex_;
};

class ReferenceClient final : public runtime::Client {
 public:
  std::string_view platform() const override { return "reference"; }
  BufferPtr allocate(Dtype dtype, const Dims& shape, int device) override { return new_buffer(dtype, shape, device); }
  runtime::Handle<runtime::Executable> compile(const runtime::LocalProgram& program) override {
    return runtime::Handle<runtime::Executable>(new Interpreter(program));
  }
};
}  // namespace

}  // namespace uni::reference

namespace uni::runtime {
Client& reference_client() {
  static Client* const client = new reference::ReferenceClient;
  return *client;
}
}  // namespace uni::runtime
