// Clusters: large maps and reductions over one space become one compiled kernel.
#include <algorithm>
#include <cstdlib>

#include "backend/codegen/jit.hpp"
#include "backend/native/planner.hpp"
#include "ops/contract.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }

bool is_reduction(const ir::Op* op) {
  for (const auto* r :
       {&ops::reduce_sum, &ops::reduce_prod, &ops::reduce_max, &ops::reduce_min, &ops::reduce_and, &ops::reduce_or})
    if (op == r) return true;
  return false;
}
}  // namespace

i64 compiled_from() {
  const char* set = std::getenv("UNISONO_COMPILE_FROM");
  return set ? static_cast<i64>(std::strtoll(set, nullptr, 10)) : i64{1} << 14;
}

bool Planner::is_large(const ir::Type& t, bool varying) const {
  return t.count() * (varying ? plan_.devices : 1) >= from_;
}

void Planner::remember_view(const ir::Eqn& e) {
  if (e.in.empty()) {
    Strided v{-1, &e, value(e.out[0]).type.shape, {}, 0};
    v.strides.assign(at(v.shape.rank()), 0);
    if (e.op == &ops::iota && v.shape.count() > 1) {
      const int axis = e.params.as<ops::Iota>().axis;
      if (v.shape[axis] > 1) v.strides[at(axis)] = 1;
    }
    view_[e.out[0]] = std::move(v);
  } else {
    view_[e.out[0]] = applied(e, view_of(e.in[0]));
    views_[e.out[0]] = &e;
  }
}

// Of the variable's shape.
Strided Planner::view_of(ir::Var v) {
  const int root = value(v).root;
  const Dims& shape = value(v).type.shape;
  const auto it = view_.find(root);
  if (it == view_.end()) return whole(root, shape);
  if (it->second.shape == shape) return it->second;
  if (std::optional<Strided> r = reshaped(it->second, shape)) return *std::move(r);
  make_available(v);
  return whole(root, shape);
}

Cluster* Planner::cluster_of(int root) {
  for (const auto& c : clusters_)
    if (c->holds(root)) return c.get();
  return nullptr;
}
Cluster& Planner::open_cluster(const Dims& domain, bool varying) {
  constexpr std::size_t most_open = 16;
  if (clusters_.size() == most_open) close(clusters_.front().get());
  clusters_.push_back(std::make_unique<Cluster>(domain, varying));
  return *clusters_.back();
}

bool Planner::take_map(const ir::Eqn& e) {
  const Value& out = value(e.out[0]);
  if (out.type.count() == 0 || !codegen::can_emit(out.type.dtype)) return false;
  std::vector<Strided> operands;
  for (ir::Var v : e.in) {
    if (!codegen::can_emit(value(v).type.dtype)) return false;
    operands.push_back(squeezed(view_of(v)));
  }
  const auto joins = [&](const auto& wanted) {
    for (auto it = clusters_.rbegin(); it != clusters_.rend(); ++it) {
      Cluster& c = **it;
      if (c.full() || c.varying() != value(e.out[0]).varying) continue;
      const bool related = std::any_of(operands.begin(), operands.end(),
                                       [&](const Strided& v) { return v.base >= 0 && wanted(c, v.base); });
      if (related && join(c, e, operands)) return true;
    }
    return false;
  };
  if (joins([](const Cluster& c, int root) { return c.holds(root); })) return true;
  for (const Strided& v : operands)
    if (Cluster* c = v.base >= 0 ? cluster_of(v.base) : nullptr) close(c);
  if (!is_large(value(e.out[0]).type, value(e.out[0]).varying)) return false;
  const Dims shape = squeezed(value(e.out[0]).type.shape);
  if (joins([&](const Cluster& c, int root) { return c.domain() == shape && c.reads(root); })) return true;
  return join(open_cluster(shape, value(e.out[0]).varying), e, operands);
}

// Members that stand for the operands. False, with nothing changed, where an operand is a member read otherwise than
// element by element, or does not go with the cluster's columns.
bool Planner::prepare_operands(Cluster& c, const std::vector<Strided>& operands, const std::vector<int>& dims,
                               const ir::Eqn& e, std::vector<int>& nodes) {
  nodes.assign(operands.size(), -1);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Strided& v = operands[k];
    if (v.base >= 0 && c.holds(v.base)) {
      nodes[k] = c.aligned(v, dims);
      if (nodes[k] < 0) return false;
    } else if (!c.accepts(v, dims)) {
      return false;
    }
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (nodes[k] >= 0) continue;
    if (operands[k].base >= 0) make_available(operands[k].base);
    nodes[k] = c.load(operands[k], dims, value(e.in[k]).type.dtype);
  }
  return true;
}

bool Planner::join(Cluster& c, const ir::Eqn& e, const std::vector<Strided>& operands) {
  const ir::Type& out = value(e.out[0]).type;
  const std::optional<std::vector<int>> dims = c.placement(squeezed(out.shape), operands);
  std::vector<int> nodes;
  if (!dims || !prepare_operands(c, operands, *dims, e, nodes)) return false;
  ir::Types in;
  for (ir::Var v : e.in) in.push_back(value(v).type);
  c.map(e, std::move(nodes), e.out[0], out.dtype, *dims, pointwise_kernel(*e.op, e.params, in, out));
  return true;
}

bool Planner::take_reduction(const ir::Eqn& e) {
  if (!is_reduction(e.op)) return false;
  const ir::Type type = value(e.in[0]).type;
  const bool varying = value(e.out[0]).varying;
  if (type.count() == 0 || !codegen::can_emit(type.dtype)) return false;
  const Strided x = squeezed(view_of(e.in[0]));
  for (auto it = clusters_.rbegin(); it != clusters_.rend(); ++it) {
    Cluster& c = **it;
    const bool related = c.holds(x.base) || (x.base >= 0 && c.reads(x.base) && c.domain() == x.shape);
    if (related && !c.full() && c.varying() == varying && join_reduction(c, e, x)) return true;
  }
  if (Cluster* c = x.base >= 0 ? cluster_of(x.base) : nullptr) close(c);
  if (!is_large(type, varying)) return false;
  Cluster& c = open_cluster(x.shape, varying);
  if (join_reduction(c, e, x)) return true;
  clusters_.pop_back();
  return false;
}

bool Planner::join_reduction(Cluster& c, const ir::Eqn& e, const Strided& x) {
  const std::optional<std::vector<int>> dims = c.placement(x.shape, {&x, 1});
  std::vector<int> nodes;
  if (!dims || !prepare_operands(c, {x}, *dims, e, nodes)) return false;
  const Dims& shape = value(e.in[0]).type.shape;
  std::vector<int> over;
  int position = 0;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    const std::vector<int>& axes = e.params.as<ops::Reduce>().axes;
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) over.push_back((*dims)[at(position)]);
    ++position;
  }
  return !over.empty() && c.reduce(e, nodes[0], over, e.out[0], value(e.out[0]).type.dtype);
}

void Planner::close(Cluster* c) {
  const auto it = std::find_if(clusters_.begin(), clusters_.end(), [&](const auto& p) { return p.get() == c; });
  std::unique_ptr<Cluster> owned = std::move(*it);
  clusters_.erase(it);
  owned->close();
  Step s;
  s.kind = Step::Kind::compiled;
  s.in = owned->inputs();
  s.each_device = owned->varying();
  s.grid = owned->grid();
  for (std::size_t m = 0; m < owned->members().size(); ++m)
    if (owned->members()[m].value >= 0) {
      s.out.push_back(owned->members()[m].value);
      s.stored.push_back(static_cast<int>(m));
    }
  std::vector<Step> joins;
  for (const Cluster::FoldResult& f : owned->folds()) {
    const i64 width = owned->fold_width(f);
    const Dtype dtype = value(f.value).type.dtype;
    const int partial = new_value({dtype, {s.grid.chunks(), width}, false, {}}, owned->varying());
    s.out.push_back(partial);
    Step j;
    j.run = kernel_of(f.op);
    j.eqn = {f.op, {partial}, {f.value}, ops::Reduce{{0}}, {}};
    j.in = {partial};
    j.out = {f.value};
    j.in_types = {value(partial).type};
    j.out_types = {ir::Type{dtype, {width}, false, {}}};
    j.each_device = owned->varying();
    joins.push_back(std::move(j));
  }
  s.cluster = std::move(owned);
  steps_.push_back(std::move(s));
  for (Step& j : joins) steps_.push_back(std::move(j));
}

}  // namespace uni::native
