#include "backend/native/plan.hpp"

#include <map>
#include <unordered_map>

#include "base/text.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }

KernelFn kernel_of(const ir::Op* op) {
  static const auto* const table = [] {
    auto* all = new std::unordered_map<const ir::Op*, KernelFn>;
    for (const auto family : {structural_kernels(), index_kernels(), reduce_kernels(), window_kernels(),
                              contract_kernels(), random_kernels()})
      for (const KernelEntry& e : family) all->emplace(e.op, e.run);
    return all;
  }();
  const auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

class Planner {
 public:
  explicit Planner(const runtime::LocalProgram& local)
      : shared_(std::make_shared<const ir::Program>(swap_transposed_dots(*local.program))), program_(*shared_) {
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
    producer_.resize(program_.types.size(), nullptr);
    for (const ir::Eqn& e : program_.eqns) {
      for (ir::Var v : e.in) ++uses_[at(v)];
      for (ir::Var v : e.out) producer_[at(v)] = &e;
    }
    for (ir::Var v : program_.outputs) ++uses_[at(v)];
  }

  Plan run() {
    for (const ir::Eqn& e : program_.eqns) find_varying(e);
    for (const ir::Eqn& e : program_.eqns) find_merged_sums(e);
    for (const ir::Eqn& e : program_.eqns)
      if (!absorbed_.contains(&e)) equation(e);
    for (ir::Var v : program_.outputs) make_available(v);
    while (!pending_.empty()) flush(pending_.begin()->second.get());
    plan_.steps = std::move(steps_);
    place_values(plan_);
    return std::move(plan_);
  }

 private:
  struct Pending {
    std::unique_ptr<Group> group = std::make_unique<Group>();
    std::vector<int> in, values;            // external operands; value of each member
    std::unordered_map<int, int> member;    // root value -> member
    std::unordered_map<int, int> external;  // root value -> position in `in`
    bool varying = false;
    std::pair<i64, bool> key;
  };

  Value& value(ir::Var v) { return plan_.values[at(v)]; }
  bool covers_all(const ir::Params& p) const { return ir::subtract(all_axes_, p.axes()).empty(); }

  void find_varying(const ir::Eqn& e) {
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

  // psum(dot(x, y)) over all devices, contracting the leading dimensions of both: one product over all devices' rows.
  void find_merged_sums(const ir::Eqn& e) {
    if (e.op != &ops::psum || plan_.devices == 1 || !covers_all(e.params)) return;
    const ir::Eqn* dot = producer_[at(e.in[0])];
    if (!dot || dot->op != &ops::dot_general || uses_[at(e.in[0])] != 1) return;
    const auto& p = dot->params.as<ops::DotGeneral>();
    if (!p.lhs_batch.empty() || p.lhs_contract.empty() || p.lhs_contract[0] != 0 || p.rhs_contract[0] != 0) return;
    if (!value(dot->in[0]).varying || !value(dot->in[1]).varying) return;
    const Dtype dtype = value(e.in[0]).type.dtype;
    if (!is_inexact(dtype) || itemsize(dtype) < 4) return;  // 16-bit sums round once per device
    absorbed_.emplace(dot, true);
    merged_.emplace(&e, dot);
  }

  void equation(const ir::Eqn& e) {
    if (e.op == &ops::reshape || e.op == &ops::pvary) return share(e);
    if (is_maker(e.op)) return remember_maker(e);
    if (is_pointwise(e)) return join_group(e);
    for (ir::Var v : e.in) make_available(v);
    if (ops::is_collective(*e.op)) return collective(e);
    kernel(e);
  }

  void share(const ir::Eqn& e) { value(e.out[0]).root = value(e.in[0]).root; }

  // ---- groups
  bool is_pointwise(const ir::Eqn& e) const {
    if (e.in.empty() || e.out.size() != 1 || e.in.size() > 3) return false;
    ir::Types in;
    for (ir::Var v : e.in) in.push_back(plan_.values[at(v)].type);
    return pointwise_kernel(*e.op, e.params, in, plan_.values[at(e.out[0])].type) != nullptr;
  }

  static bool is_maker(const ir::Op* op) {
    return op == &ops::full || op == &ops::iota || op == &ops::broadcast_in_dim;
  }

  Pending& group_for(int root) {
    const Value& out = value(root);
    const std::pair<i64, bool> key{out.type.count(), out.varying};
    constexpr std::size_t room = 4;  // an equation and the makers of its operands
    if (const auto it = pending_.find(key);
        it != pending_.end() && it->second->group->members.size() + room > Group::max_members)
      flush(it->second.get());
    std::unique_ptr<Pending>& slot = pending_[key];
    if (!slot) {
      slot = std::make_unique<Pending>();
      slot->key = key;
      slot->varying = out.varying;
      slot->group->count = out.type.count();
    }
    return *slot;
  }

  void join_group(const ir::Eqn& e) {
    const Value& out = value(e.out[0]);
    const std::pair<i64, bool> key{out.type.count(), out.varying};
    for (ir::Var v : e.in) {
      if (const auto it = makers_.find(value(v).root); it != makers_.end())
        for (ir::Var made_from : it->second->in) make_available(made_from);
      if (Pending* p = pending_of(v); p && p->key != key) flush(p);
    }
    Pending& g = group_for(e.out[0]);
    for (ir::Var v : e.in)  // group_for may have flushed a full group
      if (Pending* p = pending_of(v); p && p != &g) flush(p);
    Group::Member m;
    m.eqn = &e;
    m.type = out.type;
    ir::Types in;
    for (ir::Var v : e.in) {
      in.push_back(value(v).type);
      m.in.push_back(source(g, v));
    }
    m.run = pointwise_kernel(*e.op, e.params, in, out.type);
    add_member(g, e.out[0], e.out[0], std::move(m));
  }

  // `result` is -1 for what this group makes for itself only.
  void add_member(Pending& g, int root, int result, Group::Member m) {
    g.member[root] = static_cast<int>(g.group->members.size());
    g.values.push_back(result);
    g.group->members.push_back(std::move(m));
    if (result >= 0) in_group_[result] = &g;
  }

  // ---- constants, counters and broadcasts are made again in each group that reads them, and stored for other readers
  void remember_maker(const ir::Eqn& e) {
    const ir::Eqn* maker = &e;
    if (e.op == &ops::broadcast_in_dim)
      if (const auto it = makers_.find(value(e.in[0]).root); it != makers_.end() && it->second->op == &ops::full)
        maker = it->second;
    makers_[e.out[0]] = maker;
  }
  void make(Pending& g, int root, int result) {
    const ir::Eqn& e = *makers_.at(root);
    Group::Member m;
    m.eqn = &e;
    m.type = value(root).type;
    if (e.op == &ops::full) {
      m.kind = Group::Member::Kind::constant;
    } else if (e.op == &ops::iota) {
      m.kind = Group::Member::Kind::iota;
    } else {
      m.kind = Group::Member::Kind::broadcast;
      m.external = external(g, e.in[0]);
      find_strides(e, m);
    }
    add_member(g, root, result, std::move(m));
  }

  // Result dimensions that the operand walks through evenly become one.
  void find_strides(const ir::Eqn& e, Group::Member& m) {
    const auto& p = e.params.as<ops::BroadcastInDim>();
    const Dims& in = value(e.in[0]).type.shape;
    const std::vector<i64> from = row_strides(in);
    std::vector<i64> strides(at(p.shape.rank()), 0);
    for (int d = 0; d < in.rank(); ++d)
      if (in[d] != 1) strides[at(p.dims[at(d)])] = from[at(d)];
    for (int d = 0; d < p.shape.rank(); ++d) {
      const i64 size = p.shape[d], stride = strides[at(d)];
      if (size == 1) continue;
      if (!m.sizes.empty() && m.strides.back() == stride * size) {
        m.sizes.back() *= size;
        m.strides.back() = stride;
      } else {
        m.sizes.push_back(size);
        m.strides.push_back(stride);
      }
    }
    if (!m.sizes.empty()) return;
    m.sizes = {1};
    m.strides = {0};
  }

  Pending* pending_of(ir::Var v) {
    const auto it = in_group_.find(value(v).root);
    return it == in_group_.end() ? nullptr : it->second;
  }
  int external(Pending& g, ir::Var v) {
    const auto [it, fresh] = g.external.try_emplace(value(v).root, static_cast<int>(g.in.size()));
    if (fresh) {
      g.in.push_back(value(v).root);
      g.group->item_of_input.push_back(itemsize(value(v).type.dtype));
    }
    return it->second;
  }
  Group::Source source(Pending& g, ir::Var v) {
    const int root = value(v).root;
    if (makers_.contains(root) && !g.member.contains(root)) make(g, root, -1);
    if (const auto it = g.member.find(root); it != g.member.end()) return {Group::Source::Kind::member, it->second};
    return {Group::Source::Kind::flat, external(g, v)};
  }

  void make_available(ir::Var v) {
    const int root = value(v).root;
    if (const auto it = makers_.find(root); it != makers_.end()) {
      for (ir::Var made_from : it->second->in) make_available(made_from);
      make(group_for(root), root, root);
      makers_.erase(root);
    }
    if (Pending* p = pending_of(v)) flush(p);
  }

  void flush(Pending* p) {
    const std::unique_ptr<Pending> owned = std::move(pending_[p->key]);
    pending_.erase(owned->key);
    Step s;
    s.kind = Step::Kind::group;
    s.in = owned->in;
    s.each_device = owned->varying;
    s.out = owned->values;  // which of them are needed outside is known when all steps are
    s.group = std::move(owned->group);
    for (int v : owned->values)
      if (v >= 0) in_group_.erase(v);
    steps_.push_back(std::move(s));
  }

  // ---- other steps
  void kernel(const ir::Eqn& e) {
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
    if (s.each_device) merge_rows(s, e);
    steps_.push_back(std::move(s));
  }

  // Rows of all devices in one call, where only the first operand differs and its leading dimension is carried along.
  void merge_rows(Step& s, const ir::Eqn& e) {
    if (!value(e.in[0]).varying || s.in_types[0].shape.empty()) return;
    if (e.op == &ops::dot_general) {
      const auto& p = e.params.as<ops::DotGeneral>();
      if (!p.lhs_batch.empty() || value(e.in[1]).varying) return;
      for (int d : p.lhs_contract)
        if (d == 0) return;
    } else if (e.op == &ops::conv) {
      if (value(e.in[1]).varying || e.params.as<ops::Conv>().batch_groups != 1) return;
    } else {
      return;
    }
    s.in_types[0].shape[0] *= plan_.devices;
    s.out_types[0].shape[0] *= plan_.devices;
    s.each_device = false;
  }

  void collective(const ir::Eqn& e) {
    if (e.op != &ops::axis_index) {
      ++plan_.collectives;
      plan_.collective_bytes += value(e.in[0]).type.bytes();
    }
    if (const auto it = merged_.find(&e); it != merged_.end()) return merged_sum(e, *it->second);
    Step s;
    s.kind = Step::Kind::collective;
    s.eqn = e;
    for (ir::Var v : e.in) s.in.push_back(value(v).root);
    s.out = e.out;
    steps_.push_back(std::move(s));
  }

  void merged_sum(const ir::Eqn& e, const ir::Eqn& dot) {
    for (ir::Var v : dot.in) make_available(v);
    Step s;
    s.run = kernel_of(&ops::dot_general);
    s.eqn = dot;
    for (ir::Var v : dot.in) {
      s.in.push_back(value(v).root);
      s.in_types.push_back(value(v).type);
      s.in_types.back().shape[0] *= plan_.devices;
    }
    s.out = e.out;
    s.out_types.push_back(value(e.out[0]).type);
    steps_.push_back(std::move(s));
  }

  const std::shared_ptr<const ir::Program> shared_;
  const ir::Program& program_;
  ir::AxisNames all_axes_;
  Plan plan_;
  std::vector<Step> steps_;
  std::vector<int> uses_;
  std::vector<const ir::Eqn*> producer_;
  std::unordered_map<const ir::Eqn*, bool> absorbed_;
  std::unordered_map<const ir::Eqn*, const ir::Eqn*> merged_;
  std::map<std::pair<i64, bool>, std::unique_ptr<Pending>> pending_;
  std::unordered_map<int, const ir::Eqn*> makers_;  // root value -> what makes it, while it is not stored
  std::unordered_map<int, Pending*> in_group_;      // root value -> its pending group
};
}  // namespace

Plan make_plan(const runtime::LocalProgram& program) { return Planner(program).run(); }

}  // namespace uni::native
