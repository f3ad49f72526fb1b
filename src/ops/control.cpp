#include "ops/control.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "interp/batch.hpp"
#include "ops/collectives.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;
using ir::Program;
using ir::ProgramPtr;

namespace {
constexpr std::string_view same_way = "make the condition the same on all devices, for example by pmax";

// Calls visit with each operation of these programs at which devices wait for each other.
template <class Visit>
void each_meeting(std::span<const ProgramPtr> programs, const Visit& visit) {
  for (const ProgramPtr& p : programs)
    for (const ir::Eqn& e : p->eqns) {
      if (is_collective(*e.op) && e.op != &pvary && e.op != &axis_index && !e.params.axes().empty()) visit(e);
      each_meeting(e.params.programs(), visit);
    }
}
// Devices that differ along these axes only are in one group.
std::vector<i64> groups_over(const Mesh& mesh, const AxisNames& axes) {
  std::vector<i64> groups;
  for (i64 d = 0; d < mesh.device_count(); ++d) {
    i64 rest = d, group = 0, scale = 1;
    for (std::size_t a = mesh.axes().size(); a-- > 0;) {
      const MeshAxis& axis = mesh.axes()[a];
      if (!ir::contains(axes, axis.name)) {
        group += rest % axis.size * scale;
        scale *= axis.size;
      }
      rest /= axis.size;
    }
    groups.push_back(group);
  }
  return groups;
}
}  // namespace

Agreement::Agreement(const ir::Eqn& e, const Mesh& mesh) : name_(e.op->name), where_(e.where) {
  if (mesh.device_count() == 1) return;
  std::vector<AxisNames> all;
  each_meeting(e.params.programs(), [&](const ir::Eqn& c) {
    if (std::find(all.begin(), all.end(), c.params.axes()) == all.end()) all.push_back(c.params.axes());
  });
  for (const AxisNames& axes : all) groups_.push_back(groups_over(mesh, axes));
}

void Agreement::check(std::span<const i64> way) const {
  for (const std::vector<i64>& groups : groups_)
    for (std::size_t d = 0; d < way.size(); ++d)
      for (std::size_t other = 0; other < d; ++other)
        if (groups[d] == groups[other] && way[d] != way[other])
          throw ExecutionError(cat(name_, ": devices ", other, " and ", d,
                                   " meet in a collective of its body and go different ways", base::at(where_),
                                   "\nfix: ", same_way));
}

void refuse_varying_way(std::string_view name, const AxisNames& varying, std::span<const ProgramPtr> programs) {
  each_meeting(programs, [&](const ir::Eqn& e) {
    for (const std::string& axis : e.params.axes())
      if (ir::contains(varying, axis))
        throw TraceError(cat(name, ": the condition varies over axis \"", axis, "\", and devices meet in ", e.op->name,
                             " over it", base::at(e.where), base::at(core::current_location()), "\nfix: ", same_way));
  });
}

ProgramPtr staged(interp::Fn f, const Types& types) {
  interp::Staged s = interp::stage(f, types, "loop");
  if (!s.captured.empty()) throw InternalError("a program of control flow captured a value");
  return s.program;
}

ProgramPtr vary_as(const ProgramPtr& program, const Types& inputs, std::span<const AxisNames> outputs) {
  bool same = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) same = same && program->types[i].varying == inputs[i].varying;
  const Types out = program->output_types();
  for (std::size_t i = 0; i < outputs.size(); ++i) same = same && ir::subtract(outputs[i], out[i].varying).empty();
  if (same) return program;
  const auto body = [&](std::span<const Array> in) {
    Arrays results = interp::interpret(*program, in);
    for (std::size_t i = 0; i < outputs.size(); ++i) results[i] = core::make_varying(results[i], outputs[i]);
    return results;
  };
  return staged(body, inputs);
}

void check_carry(std::string_view name, const Program& body, i64 consts, i64 carry) {
  if (static_cast<i64>(body.outputs.size()) < carry || consts + carry > body.inputs)
    throw InternalError(cat(name, ": the body has fewer values than the carry"));
  const Types out = body.output_types();
  for (i64 i = 0; i < carry; ++i) {
    const Type &want = body.types[static_cast<std::size_t>(consts + i)], &got = out[static_cast<std::size_t>(i)];
    if (got.dtype == want.dtype && got.shape == want.shape && ir::subtract(got.varying, want.varying).empty()) continue;
    throw InternalError(
        cat(name, ": carry ", i, " is ", ir::to_string(want), ", the body makes ", ir::to_string(got), " of it"));
  }
}

Arrays batched_results(const Program& program, std::span<const Array> in, const Flags& batched, const BatchArgs& args,
                       const Flags& force, Flags* found) {
  interp::Batched r = interp::batch([&](std::span<const Array> x) { return interp::interpret(program, x); }, in,
                                    batched, {args.size, args.axis_name});
  for (std::size_t i = 0; i < r.out.size() && i < force.size(); ++i) {
    if (!force[i]) continue;
    r.out[i] = force_batched(r.out[i], r.batched[i], args.size);
    r.batched[i] = true;
  }
  if (found) *found = r.batched;
  return r.out;
}

}  // namespace uni::ops
