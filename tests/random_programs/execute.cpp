#include "execute.hpp"

#include <algorithm>

namespace uni::random_programs {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// One allocation for all devices, as results of earlier programs lie.
runtime::Shards shards_of(const Value& value, bool same, const Mesh& mesh) {
  const i64 bytes = static_cast<i64>(value[0].bytes.size());
  auto storage = detail::make_handle<runtime::Storage>(same ? bytes : bytes * mesh.device_count());
  runtime::Shards shards;
  for (std::size_t d = 0; d < value.size(); ++d) {
    if (same && d > 0) {
      shards.push_back(shards[0]);
      continue;
    }
    const i64 offset = static_cast<i64>(d) * bytes;
    std::copy(value[d].bytes.begin(), value[d].bytes.end(), storage->data() + offset);
    shards.push_back(
        detail::make_handle<runtime::Buffer>(storage, offset, value[d].dtype, value[d].shape, mesh.devices()[d]));
  }
  return shards;
}
Value value_of(const runtime::Shards& shards) {
  Value out;
  for (const runtime::BufferPtr& b : shards) {
    out.emplace_back(b->dtype(), b->shape());
    std::copy(b->data(), b->data() + b->bytes(), out.back().bytes.begin());
  }
  return out;
}
P everywhere(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxis& a : mesh.axes()) names.push_back(a.name);
  return names.empty() ? P{} : P{SpecDim(names)};
}
}  // namespace

Value placed(const Case& c, std::size_t input, const ir::Type& local) {
  const Value& own = c.args[input];
  if (own[0].shape == local.shape) return own;
  Block whole(local.dtype, local.shape);
  auto to = whole.bytes.begin();
  for (const Block& b : own) to = std::copy(b.bytes.begin(), b.bytes.end(), to);
  return Value(own.size(), whole);
}

Execution execute(runtime::Executable& executable, const runtime::LocalProgram& program, const Case& c, bool donate) {
  std::vector<runtime::Shards> args;
  std::vector<runtime::Shards> held;
  std::vector<Value> before;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    before.push_back(placed(c, i, program.program->types[i]));
    args.push_back(shards_of(before[i], program.in[i].dims().empty(), program.mesh));
    held.push_back(donate && c.donate[i] ? runtime::Shards{} : args[i]);
  }
  Execution out;
  for (const runtime::Shards& s : executable.execute(std::move(args), donate ? c.donate : std::vector<std::uint8_t>{}))
    out.results.push_back(value_of(s));
  for (std::size_t i = 0; i < held.size(); ++i)
    if (!held[i].empty() && value_of(held[i]) != before[i]) out.kept = false;
  return out;
}

std::vector<Value> step(const Mesh& mesh, const ir::Eqn& eqn, const ir::Program& program,
                        const std::vector<const Value*>& in) {
  ir::Program p;
  ir::Eqn e = eqn;
  for (ir::Var& v : e.in) v = p.add(program.types[at(v)]);
  p.inputs = static_cast<int>(in.size());
  for (ir::Var& v : e.out) v = p.add(program.types[at(v)]);
  p.outputs = e.out;
  p.eqns.push_back(std::move(e));
  const std::vector<P> in_specs(in.size(), everywhere(mesh)), out_specs(p.outputs.size(), everywhere(mesh));
  std::vector<runtime::Shards> args;
  for (const Value* v : in) args.push_back(shards_of(*v, false, mesh));
  std::vector<Value> out;
  const auto executable = runtime::reference_client().compile(
      {std::make_shared<const ir::Program>(std::move(p)), mesh, in_specs, out_specs});
  for (const runtime::Shards& s : executable->execute(std::move(args), {})) out.push_back(value_of(s));
  return out;
}

}  // namespace uni::random_programs
