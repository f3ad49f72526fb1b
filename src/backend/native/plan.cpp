#include <algorithm>

#include "backend/native/planner.hpp"

#include "base/text.hpp"
#include "backend/native/control.hpp"
#include "ops/collectives.hpp"
#include "ops/control.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }
}  // namespace

KernelFn kernel_of(const ir::Op* op) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, KernelFn>;
    for (const auto family :
         {structural_kernels(), index_kernels(), sort_kernels(), reduce_kernels(), cumulative_kernels(),
          window_kernels(), linalg_kernels(), spectral_kernels(), random_kernels()})
      for (const KernelEntry& e : family) all->emplace(e.op, e.run);
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

Planner::Planner(const ir::Program& program, const Mesh& mesh, const Flags& differs, i64 repeats)
    : shared_(std::make_shared<const ir::Program>(
          unroll_windows(pad_convolutions(program), compiled_from() / std::max<i64>(1, mesh.device_count())))),
      program_(*shared_),
      from_(repeats == 1 ? compiled_from() : std::min(compiled_from(), std::max<i64>(64, compiled_from() / repeats))) {
  plan_.program = shared_;
  plan_.mesh = mesh;
  plan_.devices = mesh.device_count();
  const Flags varying = varying_values(program_, differs, mesh);
  for (std::size_t v = 0; v < program_.types.size(); ++v) {
    plan_.values.push_back({program_.types[v], varying[v]});
    plan_.values[v].root = static_cast<int>(v);
  }
  for (int v = 0; v < program_.inputs; ++v) plan_.inputs.push_back(v);
  plan_.outputs = program_.outputs;
  uses_.resize(program_.types.size(), 0);
  for (const ir::Eqn& e : program_.eqns)
    for (ir::Var v : e.in) ++uses_[at(v)];
  for (ir::Var v : program_.outputs) ++uses_[at(v)];
}

Plan Planner::run() {
  for (const ir::Eqn& e : program_.eqns) equation(e);
  for (ir::Var v : program_.outputs) make_available(v);
  while (!clusters_.empty()) close(clusters_.front().get());
  while (!pending_.empty()) flush(pending_.begin()->second.get());
  plan_.steps = std::move(steps_);
  place_values(plan_);
  compile_steps(plan_);
  return std::move(plan_);
}

int Planner::new_value(ir::Type type, bool varying) {
  Value v{std::move(type), varying};
  v.root = static_cast<int>(plan_.values.size());
  plan_.values.push_back(std::move(v));
  return plan_.values.back().root;
}

void Planner::equation(const ir::Eqn& e) {
  if (e.op == &ops::reshape || e.op == &ops::pvary) return share(e);
  if (is_maker(e.op)) return remember_maker(e);
  if (take_contraction(e)) return;
  if (makes_view(e.op)) return remember_view(e);
  if (is_pointwise(e)) return take_map(e) ? void() : join_group(e);
  if (take_reduction(e)) return;
  for (ir::Var v : e.in) make_available(v);
  if (ops::is_collective(*e.op)) return collective(e);
  if (e.params.programs().empty()) return kernel(e);
  control(e);
}

void Planner::share(const ir::Eqn& e) { value(e.out[0]).root = value(e.in[0]).root; }

// Constants, counters and broadcasts are made again in each group or cluster that reads them, and stored for other
// readers; transposes, slices and reversals are read in place by clusters.
void Planner::remember_maker(const ir::Eqn& e) {
  const ir::Eqn* maker = &e;
  if (e.op == &ops::broadcast_in_dim) {
    if (const auto it = views_.find(value(e.in[0]).root); it != views_.end()) return remember_view(e);
    if (const auto it = makers_.find(value(e.in[0]).root); it != makers_.end() && it->second->op == &ops::full)
      maker = it->second;
  }
  remember_view(e);
  views_.erase(e.out[0]);
  makers_[e.out[0]] = maker;
}

void Planner::make_available(ir::Var v) {
  const int root = value(v).root;
  if (const auto it = makers_.find(root); it != makers_.end()) {
    for (ir::Var made_from : it->second->in) make_available(made_from);
    make(group_for(root), root, root);
    makers_.erase(root);
  }
  flush_contraction(root);
  if (views_.contains(root)) store_view(root);
  if (Cluster* c = cluster_of(root)) close(c);
  if (Pending* p = pending_of(v)) flush(p);
}

void Planner::store_view(int root) {
  const ir::Eqn& e = *views_.at(root);
  for (ir::Var v : e.in) make_available(v);
  views_.erase(root);
  view_.erase(root);
  if (!is_maker(e.op)) return kernel(e);
  makers_[root] = &e;
  make(group_for(root), root, root);
  makers_.erase(root);
}

void Planner::kernel(const ir::Eqn& e) {
  Step s;
  s.run = kernel_of(e.op);
  if (!s.run) throw InternalError(base::cat("native: no kernel for ", e.op->name));
  s.eqn = e;
  for (ir::Var v : e.in) {
    s.in.push_back(value(v).root);
    s.in_types.push_back(value(v).type);
  }
  for (ir::Var v : e.out) {
    s.out.push_back(v);
    s.out_types.push_back(value(v).type);
    s.each_device = s.each_device || value(v).varying;
  }
  steps_.push_back(std::move(s));
}

void Planner::collective(const ir::Eqn& e) {
  if (e.op != &ops::axis_index) {
    ++plan_.collectives;
    plan_.collective_bytes += value(e.in[0]).type.bytes();
  }
  Step s;
  s.kind = Step::Kind::collective;
  s.eqn = e;
  for (ir::Var v : e.in) s.in.push_back(value(v).root);
  s.out = e.out;
  steps_.push_back(std::move(s));
}

void Planner::control(const ir::Eqn& e) {
  constexpr i64 unknown_steps = 1000;
  i64 repeats = 1;
  if (e.op == &ops::while_loop) repeats = unknown_steps;
  if (e.op == &ops::scan) repeats = e.params.as<ops::ScanParams>().length;
  if (take_loop(e, repeats)) return;
  Step s;
  s.kind = Step::Kind::control;
  s.eqn = e;
  Flags differs;
  for (ir::Var v : e.in) {
    s.in.push_back(value(v).root);
    differs.push_back(value(v).varying);
  }
  s.out = e.out;
  const std::vector<Flags> inputs = nested_inputs(e, differs, plan_.mesh);
  const std::vector<ir::ProgramPtr> programs = e.params.programs();
  std::deque<Plan> bodies;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    bodies.push_back(Planner(*programs[i], plan_.mesh, inputs[i], std::max<i64>(1, repeats)).run());
    plan_.collectives += bodies.back().collectives;
    plan_.collective_bytes += bodies.back().collective_bytes;
  }
  s.control = std::make_shared<const Control>(e, plan_.mesh, std::move(bodies), plan_.nested++);
  steps_.push_back(std::move(s));
}

Plan make_plan(const runtime::LocalProgram& local) {
  Flags differs;
  for (const P& spec : local.in) differs.push_back(local.mesh.device_count() > 1 && !spec.dims().empty());
  return Planner(*local.program, local.mesh, differs, 1).run();
}

}  // namespace uni::native
