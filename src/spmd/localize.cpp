#include "spmd/localize.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "ops/collectives.hpp"
#include "ops/list.hpp"
#include "ops/shard_map.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::spmd {

using base::cat;
using ir::AxisNames;
using ir::Eqn;
using ir::Program;
using ir::Type;
using ir::Var;
using ops::ShardMapParams;

namespace {
std::size_t index(Var v) { return static_cast<std::size_t>(v); }

// ---- one mesh for all regions: the coarsest row-major factorisation in which every region's axes are runs of axes
struct Chain {  // axes from the outermost region inwards
  std::vector<i64> sizes;
  std::vector<std::string> names;
};
i64 product(const std::vector<i64>& sizes) {
  i64 n = 1;
  for (i64 s : sizes) n *= s;
  return n;
}
std::set<i64> cuts(const std::vector<i64>& sizes) {  // products of all suffixes
  std::set<i64> out{1};
  i64 n = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) out.insert(n *= sizes[i]);
  return out;
}
std::vector<i64> refine(const std::vector<i64>& a, const std::vector<i64>& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  if (product(a) != product(b))
    throw ShardingError(cat("one compiled program holds regions over ", product(a), " and over ", product(b),
                            " devices\nfix: call them outside of one jit, or use the same number of devices"));
  std::set<i64> all = cuts(a);
  all.merge(cuts(b));
  std::vector<i64> sizes;
  i64 last = 1;
  for (i64 c : all) {
    if (c % last != 0) throw ShardingError("one compiled program holds regions whose meshes have no common refinement");
    if (c != last) sizes.insert(sizes.begin(), c / last);
    last = c;
  }
  return sizes;
}
// Whether it holds a region.
bool collect(const Program& p, const Chain& outer, std::vector<Chain>& leaves, std::vector<int>& devices) {
  bool any = false;
  for (const Eqn& e : p.eqns) {
    if (e.op != &ops::shard_map) {  // a loop may hold regions
      for (const ir::ProgramPtr& nested : e.params.programs()) any = collect(*nested, outer, leaves, devices) || any;
      continue;
    }
    any = true;
    const auto& r = e.params.as<ShardMapParams>();
    Chain inner = outer;
    for (const MeshAxis& a : r.mesh.axes()) {
      inner.sizes.push_back(a.size);
      inner.names.push_back(a.name);
    }
    if (devices.empty()) devices = r.mesh.devices();
    if (!collect(*r.body, inner, leaves, devices)) leaves.push_back(inner);
  }
  return any;
}
Mesh common_mesh(const Program& p) {
  std::vector<Chain> leaves;
  std::vector<int> devices;
  collect(p, {}, leaves, devices);
  if (leaves.empty()) return Mesh({}, {0});
  std::vector<i64> sizes;
  for (const Chain& c : leaves)  // axes of size one would vanish in the products
    sizes = refine(sizes, c.sizes);
  sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
  std::vector<MeshAxis> axes;
  std::set<std::string> taken;
  std::vector<i64> big;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < leaves[0].sizes.size(); ++i)
    if (leaves[0].sizes[i] != 1) {
      big.push_back(leaves[0].sizes[i]);
      names.push_back(leaves[0].names[i]);
    }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::string name = big == sizes ? names[i] : cat("d", i);
    while (!taken.insert(name).second) name += "_";
    axes.push_back({name, sizes[i]});
  }
  const i64 total = product(sizes);
  if (static_cast<i64>(devices.size()) != total) {
    devices.clear();
    for (i64 d = 0; d < total; ++d) devices.push_back(static_cast<int>(d));
  }
  return Mesh(axes, devices);
}

// A value of the program being rewritten: local, split by `spec` over axes of the common mesh that are not manual here.
struct Local {
  Var var = -1;
  P spec;
};
using Names = std::map<std::string, AxisNames>;  // a region's axis -> axes of the common mesh

class Localizer {
 public:
  explicit Localizer(Mesh mesh) : mesh_(std::move(mesh)) {}

  runtime::LocalProgram run(const Program& p) {
    runtime::LocalProgram local;
    std::vector<Local> in;
    for (Var v = 0; v < p.inputs; ++v) {
      const P spec = input_spec(p, v);
      Type t = ops::local_type(p.types[index(v)], spec, mesh_);
      t.varying.clear();
      in.push_back({out_.add(std::move(t)), spec});
      local.in.push_back(spec);
    }
    out_.inputs = p.inputs;
    for (const Local& o : body(p, in, {}, 0)) {
      out_.outputs.push_back(o.var);
      local.out.push_back(o.spec);
    }
    local.program = std::make_shared<const Program>(ir::remove_dead_code(ir::merge_common_subexpressions(out_)));
    local.mesh = mesh_;
    return local;
  }

 private:
  // The program of a loop or branch: takes and gives whole values.
  Program nested(const Program& p, const Names& names, std::size_t used_axes) {
    std::vector<Local> in;
    for (Var v = 0; v < p.inputs; ++v) {
      Type t = p.types[index(v)];
      t.varying.clear();
      in.push_back({out_.add(std::move(t)), P{}});
    }
    out_.inputs = p.inputs;
    for (const Local& o : body(p, in, names, used_axes)) out_.outputs.push_back(reshard(o, P{}).var);
    return ir::remove_dead_code(ir::merge_common_subexpressions(out_));
  }

  std::vector<Local> body(const Program& p, const std::vector<Local>& in, const Names& names, std::size_t used_axes) {
    std::vector<Local> env(p.types.size());
    std::copy(in.begin(), in.end(), env.begin());
    for (const Eqn& e : p.eqns) {
      std::vector<Local> operands;
      for (Var v : e.in) operands.push_back(env[index(v)]);
      const std::vector<Local> results = equation(e, operands, names, used_axes);
      for (std::size_t i = 0; i < results.size(); ++i) env[index(e.out[i])] = results[i];
    }
    std::vector<Local> out;
    for (Var v : p.outputs) out.push_back(env[index(v)]);
    return out;
  }

  std::vector<Local> equation(const Eqn& e, std::vector<Local>& operands, const Names& names, std::size_t used_axes) {
    where_ = e.where;
    if (e.op == &ops::shard_map) return region(e, operands, names, used_axes);
    if (e.op == &ops::pvary) return operands;
    std::vector<Var> in;
    for (const Local& o : operands) in.push_back(reshard(o, P{}).var);
    ir::Params params = e.params.with_programs([&](const ir::ProgramPtr& p) {
      return std::make_shared<const Program>(Localizer(mesh_).nested(*p, names, used_axes));
    });
    if (ops::is_collective(*e.op)) params = ops::rename_axes(*e.op, params, look_up, &names);
    std::vector<Local> out;
    for (Var v : emit(*e.op, in, params)) out.push_back({v, P{}});
    return out;
  }

  static AxisNames look_up(const void* names, const std::string& name) {
    return static_cast<const Names*>(names)->at(name);
  }

  std::vector<Local> region(const Eqn& e, const std::vector<Local>& operands, const Names& outer,
                            std::size_t used_axes) {
    const auto& r = e.params.as<ShardMapParams>();
    Names names = outer;
    Names mine;
    for (const MeshAxis& a : r.mesh.axes()) {
      i64 covered = 1;
      AxisNames run;
      while (covered < a.size) {
        run.push_back(mesh_.axes()[used_axes].name);
        covered *= mesh_.axes()[used_axes++].size;
      }
      names[a.name] = run;
      mine[a.name] = run;
    }
    std::vector<Local> in;
    for (std::size_t i = 0; i < operands.size(); ++i)
      in.push_back({reshard(operands[i], renamed(r.in[i], mine)).var, P{}});
    std::vector<Local> out = body(*r.body, in, names, used_axes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {reshard(out[i], P{}).var, renamed(r.out[i], mine)};
    return out;
  }

  static P renamed(const P& spec, const Names& names) {
    std::vector<SpecDim> dims;
    for (const SpecDim& d : spec.dims()) {
      AxisNames run;
      for (const std::string& n : d.names()) run.insert(run.end(), names.at(n).begin(), names.at(n).end());
      dims.emplace_back(run);
    }
    return P(std::move(dims));
  }

  // An input that only regions take, all in the same way, arrives split in that way.
  P input_spec(const Program& p, Var v) const {
    bool first = true;
    P spec;
    for (Var o : p.outputs)
      if (o == v) return P{};
    for (const Eqn& e : p.eqns) {
      for (std::size_t i = 0; i < e.in.size(); ++i) {
        if (e.in[i] != v) continue;
        if (e.op != &ops::shard_map) return P{};
        const P want = renamed(e.params.as<ShardMapParams>().in[i], top_names(e));
        if (!first && !(want == spec)) return P{};
        spec = want;
        first = false;
      }
    }
    return spec;
  }
  Names top_names(const Eqn& e) const {
    Names names;
    std::size_t next = 0;
    for (const MeshAxis& a : e.params.as<ShardMapParams>().mesh.axes()) {
      i64 covered = 1;
      AxisNames run;
      while (covered < a.size) {
        run.push_back(mesh_.axes()[next].name);
        covered *= mesh_.axes()[next++].size;
      }
      names[a.name] = run;
    }
    return names;
  }

  Local reshard(const Local& value, const P& target) {
    if (value.spec == target) return value;
    Var v = value.var;
    for (int d = 0; d < static_cast<int>(value.spec.dims().size()); ++d)
      if (const AxisNames& names = value.spec.axes(d); !names.empty())
        v = emit(ops::all_gather, {v}, ops::AllGather{names, mesh_.size(AxisName(names)), d, true, true})[0];
    for (int d = 0; d < static_cast<int>(target.dims().size()); ++d)
      if (!target.axes(d).empty()) v = own_block(v, d, target.axes(d));
    return {v, target};
  }

  Var own_block(Var v, int dim, const AxisNames& names) {
    const i64 parts = mesh_.size(AxisName(names));
    Dims sizes = out_.types[index(v)].shape;
    sizes[dim] /= parts;
    const auto constant = [&](i64 value) {
      return emit(ops::full, {}, ops::Full{ir::Scalar::of_int(Dtype::i32, value), {}, false})[0];
    };
    const Var me = emit(ops::axis_index, {}, ops::AxisIndex{names, parts, {}})[0];
    const Var start = emit(*ops::find_op("mul"), {me, constant(sizes[dim])}, {})[0];
    std::vector<Var> operands{v};
    for (int d = 0; d < sizes.rank(); ++d) operands.push_back(d == dim ? start : constant(0));
    return emit(ops::dynamic_slice, operands, ops::DynamicSlice{sizes})[0];
  }

  std::vector<Var> emit(const ir::Op& op, const std::vector<Var>& in, const ir::Params& params) {
    ir::Types types;
    for (Var v : in) types.push_back(out_.types[index(v)]);
    Eqn e{&op, in, {}, params, where_};
    for (Type& t : ir::infer(op, types, params)) e.out.push_back(out_.add(std::move(t)));
    out_.eqns.push_back(e);
    return e.out;
  }

  Mesh mesh_;
  Program out_;
  std::source_location where_;
};
}  // namespace

runtime::LocalProgram localize(const Program& program) { return Localizer(common_mesh(program)).run(program); }

}  // namespace uni::spmd
