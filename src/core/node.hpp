// What an Array holds: a concrete value or a tracer.
#pragma once
#include <memory>

#include "ir/type.hpp"
#include "runtime/client.hpp"
#include <unisono/array.hpp>

namespace uni::core {
class Trace;
}
namespace uni::detail {

class Node : public Shared {
 public:
  Node(ir::Type t, bool tracer) : type(std::move(t)), is_tracer(tracer) {}
  const ir::Type type;
  const bool is_tracer;
};

// Buffers on devices. An empty mesh: one whole buffer on one device.
class Concrete final : public Node {
 public:
  Concrete(ir::Type t, Mesh m, P s, runtime::Shards b)
      : Node(std::move(t), false), mesh(std::move(m)), spec(std::move(s)), shards(std::move(b)) {}
  const Mesh mesh;
  const P spec;
  runtime::Shards shards;  // emptied by donation
  bool donated = false;
  std::string donated_where;
};

// Whether a trace still runs; shared by its tracers so that a late use is told.
struct TraceLife {
  bool alive = true;
  std::string name;
};

// A value of a transformation. `owner` is valid while `life->alive`.
class Tracer : public Node {
 public:
  Tracer(core::Trace* o, std::shared_ptr<TraceLife> l, ir::Type t, Location w)
      : Node(std::move(t), true), owner(o), life(std::move(l)), made(w) {}
  // What a derivative's tracer carries along; empty when there is no value before the traced code runs.
  virtual Array primal_value() const { return {}; }
  core::Trace* const owner;
  const std::shared_ptr<TraceLife> life;
  const Location made;
};

}  // namespace uni::detail

namespace uni::core {

using detail::Concrete;
using detail::Node;
using detail::Tracer;
using ir::Type;
using ir::Types;

// The type of a value; throws Error for an Array that holds nothing.
const Type& type_of(const Array& a);
Types types_of(std::span<const Array> arrays);
// The concrete value, or null when it is a tracer.
const Concrete* concrete(const Array& a);
// The value below the tracers of derivatives: concrete outside traced code, else a tracer.
Array known_value(const Array& a);
template <class N, class... A>
Array make_array(A&&... a) {
  return Array(static_cast<Node*>(new N(std::forward<A>(a)...)));
}
// A whole array on device 0.
Array make_single(Type type, runtime::BufferPtr buffer);
// One whole contiguous buffer with the array's global value; gathers shards when needed. Throws TraceError for a
// tracer, ExecutionError for a donated array.
runtime::BufferPtr whole_buffer(const Array& a);

}  // namespace uni::core
