#include <algorithm>

#include "backend/native/planner.hpp"

#include "base/text.hpp"
#include "ops/collectives.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }
}  // namespace

KernelFn kernel_of(const ir::Op* op) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, KernelFn>;
    for (const auto family : {structural_kernels(), index_kernels(), sort_kernels(), reduce_kernels(),
                              cumulative_kernels(), window_kernels(), random_kernels()})
      for (const KernelEntry& e : family) all->emplace(e.op, e.run);
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

Planner::Planner(const runtime::LocalProgram& local)
    : shared_(std::make_shared<const ir::Program>(unroll_windows(
          pad_convolutions(*local.program), compiled_from() / std::max<i64>(1, local.mesh.device_count())))),
      program_(*shared_) {
  plan_.program = shared_;
  plan_.mesh = local.mesh;
  plan_.devices = local.mesh.device_count();
  for (const MeshAxis& a : local.mesh.axes()) all_axes_.push_back(a.name);
  for (const ir::Type& t : program_.types) plan_.values.push_back({t});
  for (std::size_t v = 0; v < plan_.values.size(); ++v) plan_.values[v].root = static_cast<int>(v);
  for (int v = 0; v < program_.inputs; ++v) {
    plan_.inputs.push_back(v);
    plan_.values[at(v)].varying = plan_.devices > 1 && !local.in[at(v)].dims().empty();
  }
  plan_.outputs = program_.outputs;
  plan_.output_specs = local.out;
  uses_.resize(program_.types.size(), 0);
  for (const ir::Eqn& e : program_.eqns)
    for (ir::Var v : e.in) ++uses_[at(v)];
  for (ir::Var v : program_.outputs) ++uses_[at(v)];
}

Plan Planner::run() {
  for (const ir::Eqn& e : program_.eqns) find_varying(e);
  for (const ir::Eqn& e : program_.eqns) equation(e);
  for (ir::Var v : program_.outputs) make_available(v);
  while (!clusters_.empty()) close(clusters_.front().get());
  while (!pending_.empty()) flush(pending_.begin()->second.get());
  plan_.steps = std::move(steps_);
  place_values(plan_);
  compile_clusters(plan_);
  return std::move(plan_);
}

bool Planner::covers_all(const ir::Params& p) const { return ir::subtract(all_axes_, p.axes()).empty(); }
int Planner::new_value(ir::Type type, bool varying) {
  Value v{std::move(type), varying};
  v.root = static_cast<int>(plan_.values.size());
  plan_.values.push_back(std::move(v));
  return plan_.values.back().root;
}

void Planner::find_varying(const ir::Eqn& e) {
  bool any = false;
  for (ir::Var v : e.in) any = any || value(v).varying;
  if (ops::is_collective(*e.op)) {
    const bool unifies = e.op == &ops::psum || e.op == &ops::pmax || e.op == &ops::pmin || e.op == &ops::all_gather;
    if (e.op == &ops::pvary)
      ;
    else if (unifies)
      any = any && !covers_all(e.params);
    else
      any = plan_.devices > 1 && (any || !e.params.axes().empty());
  }
  for (ir::Var v : e.out) value(v).varying = any;
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
  kernel(e);
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

Plan make_plan(const runtime::LocalProgram& program) { return Planner(program).run(); }

}  // namespace uni::native
