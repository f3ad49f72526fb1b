// Groups of small pointwise work.
#include "backend/native/planner.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }
}  // namespace

bool Planner::is_pointwise(const ir::Eqn& e) const {
  if (e.in.empty() || e.out.size() != 1 || e.in.size() > 3) return false;
  ir::Types in;
  for (ir::Var v : e.in) in.push_back(plan_.values[at(v)].type);
  return pointwise_kernel(*e.op, e.params, in, plan_.values[at(e.out[0])].type) != nullptr;
}

bool is_maker(const ir::Op* op) { return op == &ops::full || op == &ops::iota || op == &ops::broadcast_in_dim; }

Planner::Pending& Planner::group_for(int root) {
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

void Planner::join_group(const ir::Eqn& e) {
  const Value& out = value(e.out[0]);
  const std::pair<i64, bool> key{out.type.count(), out.varying};
  for (ir::Var v : e.in) {
    const int root = value(v).root;
    if (contractions_.contains(root) || views_.contains(root) || cluster_of(root)) make_available(v);
  }
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
void Planner::add_member(Pending& g, int root, int result, Group::Member m) {
  g.member[root] = static_cast<int>(g.group->members.size());
  g.values.push_back(result);
  g.group->members.push_back(std::move(m));
  if (result >= 0) in_group_[result] = &g;
}

void Planner::make(Pending& g, int root, int result) {
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
void Planner::find_strides(const ir::Eqn& e, Group::Member& m) {
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

Planner::Pending* Planner::pending_of(ir::Var v) {
  const auto it = in_group_.find(value(v).root);
  return it == in_group_.end() ? nullptr : it->second;
}
int Planner::external(Pending& g, ir::Var v) {
  const auto [it, fresh] = g.external.try_emplace(value(v).root, static_cast<int>(g.in.size()));
  if (fresh) {
    g.in.push_back(value(v).root);
    g.group->item_of_input.push_back(itemsize(value(v).type.dtype));
  }
  return it->second;
}
Group::Source Planner::source(Pending& g, ir::Var v) {
  const int root = value(v).root;
  if (makers_.contains(root) && !g.member.contains(root)) make(g, root, -1);
  if (const auto it = g.member.find(root); it != g.member.end()) return {Group::Source::Kind::member, it->second};
  return {Group::Source::Kind::flat, external(g, v)};
}

void Planner::flush(Pending* p) {
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

}  // namespace uni::native
