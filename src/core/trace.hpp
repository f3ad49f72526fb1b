// The current trace handles `bind`. Whatever in the operands is not the trace's own is a constant to it.
#pragma once
#include <memory>
#include <span>

#include "core/node.hpp"
#include "ir/program.hpp"

namespace uni::core {

using ir::AxisNames;
using ir::Op;
using ir::Params;

class Trace {
 public:
  explicit Trace(const char* name, Trace* parent) : life_(std::make_shared<detail::TraceLife>()), parent_(parent) {
    life_->name = name;
  }
  Trace(const Trace&) = delete;
  virtual ~Trace() { life_->alive = false; }
  virtual Arrays process(const Op& op, std::span<const Array> in, const Params& params) = 0;
  Trace* parent() const { return parent_; }
  const std::shared_ptr<detail::TraceLife>& life() const { return life_; }
  bool owns(const Array& a) const;

 private:
  std::shared_ptr<detail::TraceLife> life_;
  Trace* parent_;
};

// The trace of this thread; at the bottom the one that evaluates (interp/eval).
Trace& current_trace();
bool evaluating();  // the current trace is the bottom one
class WithTrace {   // sets the current trace for a scope, also when user code throws
 public:
  explicit WithTrace(Trace& trace);
  ~WithTrace();
  WithTrace(const WithTrace&) = delete;

 private:
  Trace* saved_;
};

// Throws TraceError for a tracer whose trace has ended; `who` uses it.
void check_alive(std::string_view who, const Array& a);

// Applies an operation: checks for dead tracers, makes typed-varying operands agree, asks the current trace.
Arrays bind(const Op& op, std::span<const Array> in, Params params = {});
inline Array bind1(const Op& op, std::initializer_list<Array> in, Params params = {}) {
  return bind(op, std::span<const Array>(in.begin(), in.size()), std::move(params))[0];
}

// The user's source line: the outermost public function wins.
class At {
 public:
  explicit At(Location where);
  ~At();
  At(const At&) = delete;

 private:
  bool set_;
};
Location current_location();
// Replaces the location for a scope (engines, while they walk a program's equations).
class WithLocation {
 public:
  explicit WithLocation(Location where);
  ~WithLocation();
  WithLocation(const WithLocation&) = delete;

 private:
  Location saved_;
  bool had_;
};

// Named axes in scope on this thread. Typed axes (shard_map) appear in types; untyped ones (pmap, vmap) do not: there
// every value counts as varying, and reducing collectives are followed by pvary.
struct Axis {
  std::string name;
  i64 size = 1;
  enum class Kind : std::uint8_t { typed, pmap, vmap } kind = Kind::typed;
  bool operator==(const Axis&) const = default;
};
const std::vector<Axis>& axis_env();
// The innermost axis of that name; throws TraceError with spelling help.
const Axis& find_axis(const std::string& name, std::string_view who);
class WithAxes {
 public:
  explicit WithAxes(std::vector<Axis> axes);
  ~WithAxes();
  WithAxes(const WithAxes&) = delete;

 private:
  std::size_t count_;
};

// The names among `names` whose innermost axis is typed, sorted.
AxisNames typed_axes(const AxisNames& names);

// pvary over the axes of `axes` that the value does not vary over yet. The operation itself is a row in
// ops/collectives.cpp.
extern const Op& pvary_op();
Params pvary_params(AxisNames axes);
Array make_varying(const Array& a, const AxisNames& axes);

}  // namespace uni::core
