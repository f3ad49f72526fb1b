// make_program and eval_shape.
#include "ir/program.hpp"

#include <ostream>

#include "interp/stage.hpp"
#include "ops/collectives.hpp"
#include "ops/simplify.hpp"
#include <unisono/transform.hpp>

namespace uni {

namespace {
const ir::Program& program_of(const Program& p) { return *static_cast<const ir::Program*>(p.handle().get()); }

int count_in(const ir::Program& p, std::string_view operation) {
  int n = 0;
  for (const ir::Eqn& e : p.eqns) {
    n += e.op->name == operation;
    for (const ir::ProgramPtr& nested : e.params.programs()) n += count_in(*nested, operation);
  }
  return n;
}

void append_collectives(const ir::Program& p, std::vector<CollectiveUse>& out) {
  for (const ir::Eqn& e : p.eqns) {
    for (const ir::ProgramPtr& nested : e.params.programs()) append_collectives(*nested, out);
    if (!ops::is_collective(*e.op) || e.op == &ops::pvary || e.op == &ops::axis_index) continue;
    ir::Type type = p.types[static_cast<std::size_t>(e.in[0])];
    type.varying.clear();
    std::string axes;
    for (const std::string& n : e.params.axes()) axes += (axes.empty() ? "" : ", ") + n;
    out.push_back({std::string(e.op->name), axes, ir::to_string(type), type.bytes()});
  }
}
}  // namespace

std::vector<CollectiveUse> Program::collectives() const {
  std::vector<CollectiveUse> out;
  append_collectives(ops::simplify(program_of(*this)), out);
  return out;
}

std::string Program::to_string() const { return ir::print(program_of(*this), {.locations = true}); }
int Program::count(std::string_view operation) const { return count_in(program_of(*this), operation); }
std::string Program::fingerprint() const { return ir::fingerprint(program_of(*this)); }
std::ostream& operator<<(std::ostream& out, const Program& program) { return out << program.to_string(); }

namespace detail {
namespace {
struct Traced {
  interp::Staged staged;
  std::vector<bool> defined;
};
Traced trace(const TreeRef& args, FlatFunction f) {
  std::vector<Array*> slots;
  collect_leaves(args, slots);
  ir::Types types;
  for (const Array* a : slots)
    if (a->defined()) types.push_back(core::type_of(*a));
  Traced out;
  const auto body = [&](std::span<const Array> in) {
    Arrays all;
    std::size_t next = 0;
    for (const Array* a : slots) all.push_back(a->defined() ? in[next++] : Array());
    Arrays results;
    for (const Array& r : f(all)) {
      out.defined.push_back(r.defined());
      if (r.defined()) results.push_back(r);
    }
    return results;
  };
  out.staged = interp::stage(body, types, "make_program");
  return out;
}
// A type without a value: the value of a trace that has ended.
struct ShapeOnly final : core::Tracer {
  explicit ShapeOnly(ir::Type t) : Tracer(nullptr, ended(), std::move(t), Location{}) {}
  static std::shared_ptr<TraceLife> ended() {
    auto life = std::make_shared<TraceLife>();
    life->alive = false;
    life->name = "eval_shape";
    return life;
  }
};
}  // namespace

Program flat_program(const TreeRef& args, FlatFunction f) { return Program(trace(args, f).staged.program); }

Arrays flat_shapes(const TreeRef& args, FlatFunction f) {
  const Traced t = trace(args, f);
  const ir::Types types = t.staged.program->output_types();
  Arrays out;
  std::size_t next = 0;
  for (const bool d : t.defined) out.push_back(d ? core::make_array<ShapeOnly>(types[next++]) : Array());
  return out;
}
}  // namespace detail

}  // namespace uni
