#include "core/trace.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/thread_instance.hpp"
#include "core/primitive.hpp"
#include <unisono/error.hpp>

namespace uni::core {

Trace& bottom_trace();  // interp/eval.cpp

namespace {
thread_local Trace* current = nullptr;
thread_local Location location;
thread_local bool located = false;
}  // namespace

bool Trace::owns(const Array& a) const {
  return a.defined() && a.node()->is_tracer && static_cast<const Tracer*>(a.node())->owner == this &&
         static_cast<const Tracer*>(a.node())->life == life_;
}

Trace& current_trace() { return current ? *current : bottom_trace(); }
bool evaluating() { return !current; }
WithTrace::WithTrace(Trace& trace) : saved_(current) { current = &trace == &bottom_trace() ? nullptr : &trace; }
WithTrace::~WithTrace() { current = saved_; }

At::At(Location where) : set_(!located) {
  if (!set_) return;
  located = true;
  location = where;
}
At::~At() {
  if (set_) located = false;
}
Location current_location() { return located ? location : Location{}; }
WithLocation::WithLocation(Location where) : saved_(location), had_(located) {
  location = where;
  located = where.line() != 0;
}
WithLocation::~WithLocation() {
  location = saved_;
  located = had_;
}

static std::vector<Axis>& axes() { return base::thread_instance<std::vector<Axis>>(); }
const std::vector<Axis>& axis_env() { return axes(); }
const Axis& find_axis(const std::string& name, std::string_view who) {
  for (std::size_t i = axes().size(); i-- > 0;)
    if (axes()[i].name == name) return axes()[i];
  std::vector<std::string> names;
  for (const Axis& a : axes()) names.push_back(a.name);
  const std::string known = names.empty() ? "; no named axis is in scope here" : base::did_you_mean(name, names);
  throw TraceError(base::cat(who, ": unknown axis \"", name, "\"", known, base::at(current_location())));
}
AxisNames typed_axes(const AxisNames& names) {
  AxisNames typed;
  for (const std::string& n : names)
    if (find_axis(n, "axis").kind == Axis::Kind::typed) typed.push_back(n);
  std::sort(typed.begin(), typed.end());
  return typed;
}

WithAxes::WithAxes(std::vector<Axis> added) : count_(added.size()) {
  for (Axis& a : added) axes().push_back(std::move(a));
}
WithAxes::~WithAxes() { axes().resize(axes().size() - count_); }

void check_alive(std::string_view who, const Array& a) {
  if (!a.node()->is_tracer) return;
  const auto& t = static_cast<const Tracer&>(*a.node());
  if (t.life->alive) return;
  const std::string made = base::at(t.made);
  throw TraceError(base::cat(who, ": a value ", ir::to_string(t.type), " of `", t.life->name,
                             "` was used after that trace had ended", base::at(current_location()),
                             made.empty() ? "" : "\n    made" + made.substr(4),
                             "\nfix: return it from the traced function"));
}

namespace {
bool same_varying(std::span<const Array> in) {
  for (std::size_t i = 1; i < in.size(); ++i)
    if (!(in[i].node()->type.varying == in[0].node()->type.varying)) return false;
  return true;
}
}  // namespace

Array make_varying(const Array& a, const AxisNames& names) {
  const AxisNames missing = ir::subtract(names, type_of(a).varying);
  if (missing.empty()) return a;
  return bind1(pvary_op(), {a}, pvary_params(missing));
}

Arrays bind(const Op& op, std::span<const Array> in, Params params) {
  for (const Array& a : in) {
    type_of(a);
    check_alive(op.name, a);
  }
  if (op.traits.own_varying || op.kind == ir::OpKind::higher_order || same_varying(in))
    return current_trace().process(op, in, params);
  AxisNames varying;
  for (const Array& a : in) varying = ir::unite(varying, a.node()->type.varying);
  Arrays agreed;
  for (const Array& a : in) agreed.push_back(make_varying(a, varying));
  return current_trace().process(op, agreed, params);
}

namespace {
template <class E>
[[noreturn]] void rethrow_at(const E& e) {
  const std::string text = e.what();
  if (text.find("\n    in ") != std::string::npos) throw E(text);
  const std::size_t fix = text.find("\nfix: ");
  throw E(text.substr(0, fix) + base::at(current_location()) + (fix == std::string::npos ? "" : text.substr(fix)));
}
}  // namespace

Types infer_here(const Op& op, std::span<const Array> in, const Params& params) {
  try {
    return ir::infer(op, types_of(in), params);
  } catch (const ShapeError& e) {
    rethrow_at(e);
  } catch (const DtypeError& e) {
    rethrow_at(e);
  } catch (const ShardingError& e) {
    rethrow_at(e);
  }
}

const Primitive* as_primitive(const Op& op) {
  return op.kind == ir::OpKind::first_order ? static_cast<const Primitive*>(&op) : nullptr;
}
const HigherOrder* as_higher_order(const Op& op) {
  return op.kind == ir::OpKind::higher_order ? static_cast<const HigherOrder*>(&op) : nullptr;
}

}  // namespace uni::core
