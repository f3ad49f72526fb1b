#include "backend/native/execute.hpp"

#include <algorithm>

#include "backend/codegen/register_loop.hpp"
#include "backend/native/collective.hpp"
#include "backend/native/control.hpp"
#include "backend/native/walk.hpp"

namespace uni::native {

namespace {
std::size_t at(int v) { return static_cast<std::size_t>(v); }

// Small work stays in the calling thread.
template <class Fn>
void shared(i64 jobs, i64 bytes, const Fn& fn) {
  if (bytes < parallel_bytes) {
    for (i64 j = 0; j < jobs; ++j) fn(j);
    return;
  }
  runtime::parallel_for(jobs, fn);
}

void run_group(const Plan& plan, const Context& c, const Step& s) {
  const Group& g = *s.group;
  constexpr i64 chunk = 16 * Group::tile;
  const i64 devices = s.each_device ? plan.devices : 1, chunks = (g.count + chunk - 1) / chunk;
  const auto one = [&](i64 job) {
    const i64 d = job / chunks, begin = job % chunks * chunk;
    std::byte *in[Group::max_inputs], *out[Group::max_members];
    for (std::size_t k = 0; k < s.in_slots.size(); ++k) in[k] = place(c, s.in_slots[k], d);
    for (std::size_t k = 0; k < s.out_slots.size(); ++k) out[k] = place(c, s.out_slots[k], d);
    g.run(begin, std::min(begin + chunk, g.count), in, out);
  };
  shared(devices * chunks, devices * g.count * g.bytes_per_element(), one);
}

void run_compiled(const Plan& plan, const Context& c, const Step& s) {
  const Grid& g = s.grid;
  const i64 devices = s.each_device ? plan.devices : 1, across = g.column_chunks(), chunks = g.chunks();
  const auto one = [&](i64 job) {
    const i64 d = job / chunks, chunk = job % chunks;
    const i64 row = chunk / across * g.row_block, column = chunk % across * g.column_block;
    std::byte* arguments[Cluster::most_arguments];
    std::size_t n = 0;
    for (const Slot& slot : s.in_slots) arguments[n++] = place(c, slot, d);
    for (const Slot& slot : s.out_slots) arguments[n++] = place(c, slot, d);
    s.compiled(arguments, row, std::min(row + g.row_block, g.rows), column,
               std::min(column + g.column_block, g.columns), chunk);
  };
  shared(devices * chunks, devices * g.rows * g.columns * 8, one);
}

// A device's loop does not depend on another's.
void run_loop(const Plan& plan, const Context& c, const Step& s) {
  const auto one = [&](i64 d) {
    std::byte* arguments[codegen::most_loop_arguments];
    std::size_t n = 0;
    for (const Slot& slot : s.in_slots) arguments[n++] = place(c, slot, d);
    for (const Slot& slot : s.out_slots) arguments[n++] = place(c, slot, d);
    s.compiled(arguments, 0, s.length, 0, 0, d);
  };
  if (!s.each_device) return one(0);
  runtime::parallel_for(plan.devices, one);
}

void run_kernel(const Plan& plan, const Context& c, const Step& s) {
  const auto one = [&](i64 d) {
    constexpr std::size_t few = 16;
    View views[few];
    std::vector<View> many;
    const std::size_t ins = s.in_slots.size(), outs = s.out_slots.size();
    View* v = ins + outs <= few ? views : (many.resize(ins + outs), many.data());
    for (std::size_t k = 0; k < ins; ++k) v[k] = {&s.in_types[k], place(c, s.in_slots[k], d)};
    for (std::size_t k = 0; k < outs; ++k) v[ins + k] = {&s.out_types[k], place(c, s.out_slots[k], d)};
    s.run({{v, ins}, {v + ins, outs}, s.eqn.params});
  };
  if (!s.each_device) return one(0);
  i64 bytes = 0;
  for (const ir::Type& t : s.in_types) bytes += t.bytes();
  for (const ir::Type& t : s.out_types) bytes += t.bytes();
  shared(plan.devices, plan.devices * bytes, one);
}

void run_collective_step(const Plan& plan, const Context& c, const Step& s) {
  const ir::Type& result = plan.values[at(s.out[0])].type;
  const Slot& out = s.out_slots[0];
  if (s.in.empty()) return run_collective({s.eqn, plan.mesh, result, result, nullptr, 0, place(c, out, 0), out.stride});
  run_collective({s.eqn, plan.mesh, plan.values[at(s.eqn.in[0])].type, result, place(c, s.in_slots[0], 0),
                  s.in_slots[0].stride, place(c, out, 0), out.stride});
}

void run(const Plan& plan, Context& c, const Step& s) {
  switch (s.kind) {
    case Step::Kind::group:
      return run_group(plan, c, s);
    case Step::Kind::compiled:
      return run_compiled(plan, c, s);
    case Step::Kind::dense:
      return s.dense->run(place(c, s.in_slots[0], 0), place(c, s.in_slots[1], 0), place(c, s.out_slots[0], 0),
                          s.out_slots.size() > 1 ? place(c, s.out_slots[1], 0) : nullptr);
    case Step::Kind::kernel:
      return run_kernel(plan, c, s);
    case Step::Kind::collective:
      return run_collective_step(plan, c, s);
    case Step::Kind::control:
      return run_control(plan, c, s);
    case Step::Kind::loop:
      return run_loop(plan, c, s);
  }
}
}  // namespace

std::unique_ptr<Context> make_context(const Plan& plan) {
  auto c = std::make_unique<Context>();
  c->data.resize(plan.values.size(), nullptr);
  c->taken.resize(plan.inputs.size(), 0);
  c->nested.resize(static_cast<std::size_t>(plan.nested));
  for (const Step& s : plan.steps)
    if (s.control) c->nested[at(s.control->number)] = make_control_state(plan, *s.control);
  if (plan.arena_bytes == 0) return c;
  c->arena = detail::make_handle<runtime::Storage>(plan.arena_bytes);
  for (std::size_t v = 0; v < plan.values.size(); ++v)
    if (plan.values[v].place == Value::Place::arena) c->data[v] = c->arena->data() + plan.values[v].offset;
  return c;
}

void run_steps(const Plan& plan, Context& c) {
  for (const Step& s : plan.steps) run(plan, c, s);
}

}  // namespace uni::native
