// The interpreter: every equation on every device, one after another.
#include <atomic>
#include <unordered_map>

#include "backend/reference/eval.hpp"
#include "base/text.hpp"
#include "ops/collectives.hpp"
#include <unisono/error.hpp>

namespace uni::reference {

void no_evaluator(const ir::Eqn& eqn, Dtype dtype) {
  throw InternalError(base::cat("reference: ", eqn.op->name, " has no evaluator for ", dtype));
}

namespace {
using runtime::BufferPtr;
using runtime::Shards;

struct Runner {
  void (*local)(const Call&) = nullptr;
  void (*collective)(const CollectiveCall&) = nullptr;
};
// Null runners for an operation that has none.
Runner runner_of(const ir::Op* op) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, Runner>;
    for (const auto family : {elementwise_evaluators(), convert_evaluators(), structural_evaluators(),
                              index_evaluators(), reduce_evaluators(), window_evaluators(), contract_evaluators(),
                              linalg_evaluators(), spectral_evaluators(), random_evaluators()})
      for (const Evaluator& e : family) (*all)[e.op].local = e.run;
    for (const CollectiveEvaluator& e : collective_evaluators()) (*all)[e.op].collective = e.run;
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? Runner{} : it->second;
}

BufferPtr new_buffer(Dtype dtype, const Dims& shape, int device) {
  auto storage = detail::make_handle<runtime::Storage>(shape.count() * itemsize(dtype));
  return detail::make_handle<runtime::Buffer>(storage, 0, dtype, shape, device);
}

class Interpreter final : public runtime::Executable {
 public:
  explicit Interpreter(runtime::LocalProgram program)
      : local_(std::move(program)), last_use_(local_.program->types.size(), 0) {
    const ir::Program& p = *local_.program;
    for (std::size_t i = 0; i < p.eqns.size(); ++i) {
      const ir::Eqn& e = p.eqns[i];
      const Runner runner = runner_of(e.op);
      nested_.push_back(nested(e));
      if (!runner.local && !runner.collective && nested_.back().empty())
        throw InternalError(base::cat("reference: no evaluator for ", e.op->name));
      runners_.push_back(runner);
      for (ir::Var v : e.in) last_use_[at(v)] = i;
      for (ir::Var v : e.out) last_use_[at(v)] = i;
      if (!runner.collective || e.op == &ops::pvary || e.op == &ops::axis_index) continue;
      ++collectives_;
      bytes_ += p.types[at(e.in[0])].bytes();
    }
    for (ir::Var v : p.outputs) last_use_[at(v)] = p.eqns.size();
  }

  std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t>) override {
    check(args);
    ++launches_;
    return evaluate(std::move(args));
  }

  runtime::LaunchStats stats() const override {
    const i64 launches = launches_;
    return {launches, launches * collectives_, launches * bytes_};
  }

 private:
  std::vector<Shards> evaluate(std::vector<Shards> args) const {
    const ir::Program& p = *local_.program;
    std::vector<Shards> values(p.types.size());
    std::move(args.begin(), args.end(), values.begin());
    for (std::size_t i = 0; i < p.eqns.size(); ++i) {
      const ir::Eqn& e = p.eqns[i];
      for (ir::Var v : e.out)
        for (int device : local_.mesh.devices())
          values[at(v)].push_back(new_buffer(p.types[at(v)].dtype, p.types[at(v)].shape, device));
      if (nested_[i].empty())
        run(e, runners_[i], values);
      else
        control(e, nested_[i], values);
      for (const std::vector<ir::Var>* vars : {&e.in, &e.out})
        for (ir::Var v : *vars)
          if (last_use_[at(v)] == i) values[at(v)].clear();
    }
    std::vector<Shards> out;
    for (ir::Var v : p.outputs) out.push_back(values[at(v)]);
    return out;
  }

  std::vector<Nested> nested(const ir::Eqn& e) const {
    std::vector<Nested> programs;
    for (const ir::ProgramPtr& p : e.params.programs()) {
      auto inner = std::make_shared<const Interpreter>(runtime::LocalProgram{p, local_.mesh, {}, {}});
      programs.push_back([inner](const std::vector<Shards>& args) { return inner->evaluate(args); });
    }
    return programs;
  }
  void control(const ir::Eqn& e, const std::vector<Nested>& programs, std::vector<Shards>& values) const {
    const auto of = [&](const std::vector<ir::Var>& vars) {
      std::vector<Shards> out;
      for (ir::Var v : vars) out.push_back(values[at(v)]);
      return out;
    };
    const std::vector<Shards> results = run_control(e, local_.mesh, of(e.in), programs, of(e.out));
    for (std::size_t i = 0; i < e.out.size(); ++i) values[at(e.out[i])] = results[i];
  }

  void check(const std::vector<Shards>& args) const {
    const ir::Program& p = *local_.program;
    if (static_cast<int>(args.size()) != p.inputs)
      throw InternalError(base::cat("reference: ", args.size(), " arguments for a program of ", p.inputs, " inputs"));
    for (std::size_t i = 0; i < args.size(); ++i) {
      const ir::Type& t = p.types[i];
      if (static_cast<i64>(args[i].size()) != local_.mesh.device_count())
        throw InternalError(base::cat("reference: argument ", i, " has ", args[i].size(), " buffers for ",
                                      local_.mesh.device_count(), " devices"));
      for (const BufferPtr& b : args[i])
        if (b->dtype() != t.dtype || b->shape() != t.shape)
          throw InternalError(base::cat("reference: argument ", i, " is ",
                                        ir::to_string({b->dtype(), b->shape(), false, {}}), ", the program takes ",
                                        ir::to_string(t)));
    }
  }

  std::vector<Value> on_device(const std::vector<Shards>& values, const std::vector<ir::Var>& vars,
                               std::size_t device) const {
    std::vector<Value> out;
    for (ir::Var v : vars) out.push_back({local_.program->types[at(v)], values[at(v)][device]->data()});
    return out;
  }
  void run(const ir::Eqn& e, const Runner& runner, const std::vector<Shards>& values) const {
    std::vector<Value> all_in, all_out;
    for (std::size_t d = 0; d < at(local_.mesh.device_count()); ++d) {
      const std::vector<Value> in = on_device(values, e.in, d), out = on_device(values, e.out, d);
      if (runner.local) runner.local({e, in, out});
      all_in.insert(all_in.end(), in.begin(), in.end());
      all_out.insert(all_out.end(), out.begin(), out.end());
    }
    if (runner.collective) runner.collective({e, local_.mesh, all_in, all_out});
  }

  const runtime::LocalProgram local_;
  std::vector<Runner> runners_;              // by equation
  std::vector<std::vector<Nested>> nested_;  // likewise: the programs of control flow
  std::vector<std::size_t> last_use_;        // by variable: the equation after which its buffers may go
  i64 collectives_ = 0, bytes_ = 0;
  std::atomic<i64> launches_{0};
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
