#include "case.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ops/call.hpp"
#include "ops/shard_map.hpp"

namespace uni::random_programs {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

ir::Program with_call(const ir::Program& p, std::size_t begin, std::size_t end, const std::string& name) {
  std::set<ir::Var> inside, needed(p.outputs.begin(), p.outputs.end());
  for (std::size_t k = begin; k < end; ++k) inside.insert(p.eqns[k].out.begin(), p.eqns[k].out.end());
  for (std::size_t k = end; k < p.eqns.size(); ++k) needed.insert(p.eqns[k].in.begin(), p.eqns[k].in.end());
  ir::Program body;
  ir::Eqn call{&ops::call, {}, {}, {}, {}};
  std::map<ir::Var, ir::Var> renamed;
  for (std::size_t k = begin; k < end; ++k)
    for (ir::Var v : p.eqns[k].in)
      if (!inside.contains(v) && !renamed.contains(v)) {
        renamed[v] = body.add(p.types[at(v)]);
        call.in.push_back(v);
      }
  body.inputs = static_cast<int>(call.in.size());
  for (std::size_t k = begin; k < end; ++k) {
    ir::Eqn e = p.eqns[k];
    for (ir::Var& v : e.in) v = renamed.at(v);
    for (ir::Var& v : e.out) {
      renamed[v] = body.add(p.types[at(v)]);
      if (needed.contains(v)) {
        call.out.push_back(v);
        body.outputs.push_back(renamed[v]);
      }
      v = renamed[v];
    }
    body.eqns.push_back(std::move(e));
  }
  call.params = ops::CallParams{std::make_shared<const ir::Program>(std::move(body)), name};
  ir::Program out = p;
  out.eqns.erase(out.eqns.begin() + static_cast<i64>(begin), out.eqns.begin() + static_cast<i64>(end));
  out.eqns.insert(out.eqns.begin() + static_cast<i64>(begin), std::move(call));
  return out;
}

// Every device has its own block of the inputs that are split, and gives its own block of the results.
ir::Program in_region(const Case& c, ir::Program body) {
  ops::ShardMapParams params{nullptr, c.mesh, {}, {}, false, "region"};
  std::vector<std::string> names;
  for (const MeshAxis& a : c.mesh.axes()) names.push_back(a.name);
  const P own{SpecDim(names)};
  ir::Program out;
  ir::Eqn e{&ops::shard_map, {}, {}, {}, {}};
  for (int v = 0; v < body.inputs; ++v) {
    params.in.push_back(c.split[at(v)] ? own : P{});
    e.in.push_back(out.add(ops::global_type(body.types[at(v)], params.in.back(), c.mesh)));
  }
  out.inputs = body.inputs;
  for (ir::Var v : body.outputs) {
    params.out.push_back(own);
    e.out.push_back(out.add(ops::global_type(body.types[at(v)], own, c.mesh)));
  }
  out.outputs = e.out;
  params.body = std::make_shared<const ir::Program>(std::move(body));
  e.params = std::move(params);
  out.eqns.push_back(std::move(e));
  return out;
}
}  // namespace

ir::Program whole_program(const Case& c) {
  ir::Program p = c.body;
  for (const auto& [begin, end] : c.calls) p = ir::compact(with_call(p, begin, end, "f" + std::to_string(begin)));
  return c.mesh.device_count() > 1 ? in_region(c, std::move(p)) : p;
}

Case cleaned(const Case& c) {
  Case out = c;
  out.body = ir::remove_dead_code(c.body);
  std::set<ir::Var> used(out.body.outputs.begin(), out.body.outputs.end());
  for (const ir::Eqn& e : out.body.eqns) used.insert(e.in.begin(), e.in.end());
  out.args.clear(), out.split.clear(), out.donate.clear();
  // Inputs that stay come first, then all other variables.
  std::vector<ir::Var> renamed(out.body.types.size(), -1);
  ir::Types types;
  for (ir::Var v = 0; v < static_cast<ir::Var>(renamed.size()); ++v) {
    const bool input = v < c.body.inputs;
    if (input && !used.contains(v)) continue;
    renamed[at(v)] = static_cast<ir::Var>(types.size());
    types.push_back(out.body.types[at(v)]);
    if (!input) continue;
    out.args.push_back(c.args[at(v)]);
    out.split.push_back(c.split[at(v)]);
    out.donate.push_back(c.donate[at(v)]);
  }
  out.body.types = std::move(types);
  out.body.inputs = static_cast<int>(out.args.size());
  for (ir::Eqn& e : out.body.eqns) {
    for (ir::Var& v : e.in) v = renamed[at(v)];
    for (ir::Var& v : e.out) v = renamed[at(v)];
  }
  for (ir::Var& v : out.body.outputs) v = renamed[at(v)];
  out.body = ir::compact(out.body);
  return out;
}

}  // namespace uni::random_programs
