#include "backend/native/control.hpp"

#include <algorithm>
#include <cstring>

namespace uni::native {

namespace {
std::size_t at(i64 v) { return static_cast<std::size_t>(v); }

// A value on all devices: once, or device after device.
struct Block {
  std::byte* data = nullptr;
  bool varying = false;
};
void copy(const Block& to, const Block& from, i64 bytes, i64 devices) {
  if (to.data == from.data || bytes == 0) return;
  if (!to.varying) devices = 1;
  if (to.varying == from.varying) {
    std::memcpy(to.data, from.data, at(bytes * devices));
    return;
  }
  for (i64 d = 0; d < devices; ++d) std::memcpy(to.data + d * bytes, from.data, at(bytes));
}

std::vector<Control::Result> results_of(const Plan& body, i64 consts, i64 carry) {
  std::vector<Control::Result> out;
  std::vector<char> claimed(body.values.size(), 0);
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    const Value& v = body.values[at(body.outputs[i])];
    const Value& root = body.values[at(v.root)];
    Control::Result r{v.root, false, root.varying, v.type.bytes()};
    if (root.place == Value::Place::output && !claimed[at(v.root)]) {
      claimed[at(v.root)] = 1;
      r.own = true;
    }
    if (static_cast<i64>(i) < carry) {
      const i64 input = consts + static_cast<i64>(i);
      r.passed_on = v.root == body.inputs[at(input)];
      if (r.own) {
        const std::vector<int>& donors = body.donors[at(root.index)];
        r.in_place = std::find(donors.begin(), donors.end(), static_cast<int>(input)) != donors.end();
      }
    }
    out.push_back(r);
  }
  return out;
}
}  // namespace

Control::Control(const ir::Eqn& e, const Mesh& mesh, std::deque<Plan> plans, int n)
    : kind(e.op == &ops::cond   ? Kind::cond
           : e.op == &ops::scan ? Kind::scan
                                : Kind::loop),
      bodies(std::move(plans)),
      number(n),
      agreement(e, mesh) {
  if (kind == Kind::scan) {
    const auto& p = e.params.as<ops::ScanParams>();
    consts = p.consts;
    carry = p.carry;
    length = p.length;
    reverse = p.reverse;
  } else if (kind == Kind::loop) {
    const auto& p = e.params.as<ops::WhileParams>();
    cond_consts = p.cond_consts;
    consts = p.body_consts;
    carry = p.body->inputs - p.body_consts;
  }
  for (std::size_t i = 0; i < bodies.size(); ++i)
    results.push_back(results_of(bodies[i], consts, kind == Kind::loop && i == 0 ? 0 : carry));
}

namespace {
// One run of a step of control flow.
class Run {
 public:
  Run(const Plan& plan, Context& context, const Step& step)
      : plan_(plan),
        context_(context),
        step_(step),
        control_(*step.control),
        state_(context.nested[at(control_.number)]) {}

  void run() {
    switch (control_.kind) {
      case Control::Kind::cond:
        return run_cond();
      case Control::Kind::loop:
        return run_loop();
      case Control::Kind::scan:
        return run_scan();
    }
  }

 private:
  i64 devices() const { return plan_.devices; }
  Block outer(int value) const {
    const int root = plan_.values[at(value)].root;
    return {context_.data[at(root)], plan_.values[at(root)].varying};
  }
  Block in(i64 i) const { return outer(step_.in[at(i)]); }
  Block out(i64 i) const { return outer(step_.out[at(i)]); }
  Block input_block(std::size_t body, i64 i, std::byte* data) const {
    const Plan& p = control_.bodies[body];
    return {data, p.values[at(p.inputs[at(i)])].varying};
  }
  i64 input_bytes(std::size_t body, i64 i) const {
    const Plan& p = control_.bodies[body];
    return p.values[at(p.inputs[at(i)])].type.bytes();
  }
  std::byte*& input(std::size_t body, i64 i) {
    return state_.bodies[body]->data[at(control_.bodies[body].inputs[at(i)])];
  }
  std::byte*& root(std::size_t body, std::size_t result) {
    return state_.bodies[body]->data[at(control_.results[body][result].root)];
  }
  void run_body(std::size_t body) { run_steps(control_.bodies[body], *state_.bodies[body]); }
  // A result that the body did not write to its place.
  void fetch(std::size_t body, std::size_t result, const Block& to) {
    const Control::Result& r = control_.results[body][result];
    copy(to, {root(body, result), r.varying}, r.bytes, devices());
  }

  // ---- cond
  void run_cond() {
    const Block index = in(0);
    const auto last = static_cast<std::int32_t>(control_.bodies.size()) - 1;
    std::vector<i64> way;
    for (i64 d = 0; d < (index.varying ? devices() : 1); ++d) {
      std::int32_t k;
      std::memcpy(&k, index.data + d * 4, 4);
      way.push_back(std::clamp(k, 0, last));
    }
    if (std::adjacent_find(way.begin(), way.end(), std::not_equal_to<>()) == way.end()) return run_branch(at(way[0]));
    control_.agreement.check(way);
    for (i64 k = 0; k <= last; ++k)
      if (std::find(way.begin(), way.end(), k) != way.end()) run_branch_for(at(k), way);
  }
  void set_operands(std::size_t k) {
    for (std::size_t i = 1; i < step_.in.size(); ++i) input(k, static_cast<i64>(i) - 1) = in(static_cast<i64>(i)).data;
  }
  // All devices take it.
  void run_branch(std::size_t k) {
    set_operands(k);
    const std::vector<Control::Result>& results = control_.results[k];
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Block to = out(static_cast<i64>(i));
      if (results[i].own) root(k, i) = results[i].varying == to.varying ? to.data : state_.blocks[i]->data();
    }
    run_body(k);
    for (std::size_t i = 0; i < results.size(); ++i) fetch(k, i, out(static_cast<i64>(i)));
  }
  // Some devices take it.
  void run_branch_for(std::size_t k, const std::vector<i64>& way) {
    set_operands(k);
    const std::vector<Control::Result>& results = control_.results[k];
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].own) root(k, i) = state_.blocks[i]->data();
    run_body(k);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const i64 bytes = results[i].bytes, stride = results[i].varying ? bytes : 0;
      for (i64 d = 0; d < devices(); ++d)
        if (way[at(d)] == static_cast<i64>(k))
          std::memcpy(out(static_cast<i64>(i)).data + d * bytes, root(k, i) + d * stride, at(bytes));
    }
  }

  // ---- carries: two blocks each, of which `now_` holds the value
  std::size_t body_index() const { return control_.bodies.size() - 1; }
  Block carry_block(i64 i, std::byte* data) const { return input_block(body_index(), control_.consts + i, data); }
  i64 carry_bytes(i64 i) const { return input_bytes(body_index(), control_.consts + i); }
  void start(i64 first_carry) {
    for (i64 i = 0; i < control_.carry; ++i) {
      now_.push_back(state_.blocks[at(2 * i)]->data());
      next_.push_back(state_.blocks[at(2 * i + 1)]->data());
      copy(carry_block(i, now_.back()), in(first_carry + i), carry_bytes(i), devices());
    }
  }
  void aim_carries(bool in_place) {
    const std::size_t body = body_index();
    for (i64 i = 0; i < control_.carry; ++i) {
      input(body, control_.consts + i) = now_[at(i)];
      const Control::Result& r = control_.results[body][at(i)];
      if (!r.own) continue;
      const bool same = r.varying == carry_block(i, nullptr).varying;
      root(body, at(i)) = !same ? uniform(at(i)) : in_place && r.in_place ? now_[at(i)] : next_[at(i)];
    }
  }
  // Where the body makes one value that the carry holds for each device: behind the blocks.
  std::byte* uniform(std::size_t i) { return state_.blocks[at(2 * control_.carry) + i]->data(); }
  bool stays(i64 i) {
    const Control::Result& r = control_.results[body_index()][at(i)];
    return r.passed_on || (r.own && root(body_index(), at(i)) == now_[at(i)]);
  }
  void collect_carries() {
    for (i64 i = 0; i < control_.carry; ++i)
      if (!stays(i)) fetch(body_index(), at(i), carry_block(i, next_[at(i)]));
  }
  void swap_carries() {
    for (i64 i = 0; i < control_.carry; ++i)
      if (!stays(i)) std::swap(now_[at(i)], next_[at(i)]);
  }
  void finish() {
    for (i64 i = 0; i < control_.carry; ++i) copy(out(i), carry_block(i, now_[at(i)]), carry_bytes(i), devices());
  }

  // ---- while
  void run_loop() {
    start(control_.cond_consts + control_.consts);
    for (i64 i = 0; i < control_.cond_consts; ++i) input(0, i) = in(i).data;
    for (i64 i = 0; i < control_.consts; ++i) input(1, i) = in(control_.cond_consts + i).data;
    const bool differ = control_.results[0][0].varying;
    std::vector<i64> running(differ ? at(devices()) : 1);
    while (test(running)) {
      const bool all = std::find(running.begin(), running.end(), 0) == running.end();
      if (!all) control_.agreement.check(running);
      aim_carries(all);
      run_body(1);
      collect_carries();
      if (!all) keep_finished(running);
      swap_carries();
    }
    finish();
  }
  // Whether any device goes on.
  bool test(std::vector<i64>& running) {
    for (i64 i = 0; i < control_.carry; ++i) input(0, control_.cond_consts + i) = now_[at(i)];
    if (control_.results[0][0].own) root(0, 0) = state_.blocks.back()->data();
    run_body(0);
    const std::byte* const flags = root(0, 0);
    for (std::size_t d = 0; d < running.size(); ++d) running[d] = static_cast<i64>(flags[d]);
    return std::find(running.begin(), running.end(), 1) != running.end();
  }
  // Devices that have finished keep their carry.
  void keep_finished(const std::vector<i64>& running) {
    for (i64 i = 0; i < control_.carry; ++i) {
      if (control_.results[1][at(i)].passed_on) continue;
      const i64 bytes = carry_bytes(i);
      for (i64 d = 0; d < devices(); ++d)
        if (!running[at(d)]) std::memcpy(next_[at(i)] + d * bytes, now_[at(i)] + d * bytes, at(bytes));
    }
  }

  // ---- scan
  void run_scan() {
    const i64 first_x = control_.consts + control_.carry;
    const auto xs = static_cast<i64>(step_.in.size()) - first_x;
    start(control_.consts);
    for (i64 i = 0; i < control_.consts; ++i) input(0, i) = in(i).data;
    for (i64 step = 0; step < control_.length; ++step) {
      const i64 index = control_.reverse ? control_.length - 1 - step : step;
      for (i64 i = 0; i < xs; ++i) take_slice(first_x + i, index);
      aim_carries(true);
      for (std::size_t y = at(control_.carry); y < control_.results[0].size(); ++y) aim_output(y, index);
      run_body(0);
      for (std::size_t y = at(control_.carry); y < control_.results[0].size(); ++y) put_output(y, index);
      collect_carries();
      swap_carries();
    }
    finish();
  }
  std::byte* scratch(std::size_t i) { return state_.blocks[at(3 * control_.carry) + i]->data(); }
  void take_slice(i64 i, i64 index) {
    const Block x = in(i);
    const i64 bytes = input_bytes(0, i);
    if (!x.varying) {
      input(0, i) = x.data + index * bytes;
      return;
    }
    std::byte* const slice = scratch(at(i - control_.consts - control_.carry));
    for (i64 d = 0; d < devices(); ++d)
      std::memcpy(slice + d * bytes, x.data + (d * control_.length + index) * bytes, at(bytes));
    input(0, i) = slice;
  }
  std::size_t scratch_of(std::size_t y) const {
    return step_.in.size() - at(control_.consts + control_.carry) + y - at(control_.carry);
  }
  void aim_output(std::size_t y, i64 index) {
    const Control::Result& r = control_.results[0][y];
    if (!r.own) return;
    const Block to = out(static_cast<i64>(y));
    root(0, y) = to.varying ? scratch(scratch_of(y)) : to.data + index * r.bytes;
  }
  void put_output(std::size_t y, i64 index) {
    const Control::Result& r = control_.results[0][y];
    const Block to = out(static_cast<i64>(y));
    if (!to.varying) return copy({to.data + index * r.bytes, false}, {root(0, y), false}, r.bytes, 1);
    const i64 stride = r.varying ? r.bytes : 0;
    for (i64 d = 0; d < devices(); ++d)
      std::memcpy(to.data + (d * control_.length + index) * r.bytes, root(0, y) + d * stride, at(r.bytes));
  }

  const Plan& plan_;
  Context& context_;
  const Step& step_;
  const Control& control_;
  ControlState& state_;
  std::vector<std::byte*> now_, next_;
};
}  // namespace

ControlState make_control_state(const Plan& plan, const Control& control) {
  ControlState state;
  for (const Plan& body : control.bodies) state.bodies.push_back(make_context(body));
  const auto block = [&](i64 bytes) {
    state.blocks.push_back(detail::make_handle<runtime::Storage>(bytes * plan.devices));
  };
  if (control.kind == Control::Kind::cond) {
    for (const Control::Result& r : control.results[0]) block(r.bytes);
    return state;
  }
  const Plan& body = control.bodies.back();
  for (i64 i = 0; i < 2 * control.carry; ++i)
    block(body.values[at(body.inputs[at(control.consts + i / 2)])].type.bytes());
  for (i64 i = 0; i < control.carry; ++i) block(control.results.back()[at(i)].bytes);
  for (std::size_t i = at(control.consts + control.carry); i < body.inputs.size(); ++i)
    block(body.values[at(body.inputs[i])].type.bytes());
  for (std::size_t i = at(control.carry); i < control.results.back().size(); ++i)
    block(control.results.back()[i].bytes);
  block(1);  // the condition
  return state;
}

void run_control(const Plan& plan, Context& context, const Step& step) { Run(plan, context, step).run(); }

}  // namespace uni::native
