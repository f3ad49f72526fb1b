#include "backend/codegen/maps.hpp"

#include <unisono/error.hpp>

namespace uni::codegen {

using base::cat;

namespace {
std::string raw_slot(Writer& w, const std::string& type, i64 count) {
  const std::string name = w.fresh();
  w.entry += cat("  ", name, " = alloca ", type, ", i64 ", count, ", align 64\n");
  return name;
}

Val by_call(const Map& m, std::span<const Val> in) {
  if (!m.call.run) throw InternalError(cat("codegen: no way to compute ", m.op.name));
  Writer& w = *in[0].writer;
  const int lanes = in[0].lanes;
  const std::string pointers = raw_slot(w, "ptr", static_cast<i64>(in.size()));
  for (std::size_t k = 0; k < in.size(); ++k) {
    const std::string slot = raw_slot(w, memory_type(m.in[k]), lanes);
    write(slot, in[k], m.in[k], "");
    const Val p = w.value(Kind::i64, 1, cat("getelementptr ptr, ptr ", pointers, ", i64 ", k));
    w.line(cat("store ptr ", slot, ", ptr ", p.name));
  }
  const std::string out = raw_slot(w, memory_type(m.out), lanes);
  const auto address = [](auto p) { return reinterpret_cast<std::uintptr_t>(p); };
  w.line(cat("call void inttoptr (i64 ", address(m.call.run), " to ptr)(ptr ", out, ", ptr ", pointers, ", i64 ", lanes,
             ", ptr inttoptr (i64 ", address(m.call.data), " to ptr))"));
  return read(w, out, m.out, lanes, "");
}
}  // namespace

Val map(const Map& m, std::span<const Val> in) {
  const auto call = [&] { return by_call(m, in); };
  const MapContext context{m.params, m.in, m.out, call};
  const Emitter emit = find_emitter(m.op, m.params, m.in, m.out);
  return emit ? rounded(emit(in, context), m.out) : call();
}

Val literal(Writer& w, const ir::Scalar& value, Dtype dtype, int lanes) {
  const bool half = dtype == Dtype::f16 || dtype == Dtype::bf16;
  if (half) return w.literal(value.to_double(), Kind::f32, lanes);
  return w.literal_bits(value.low, *kind_of(dtype), lanes);
}

Val counter(const Val& index, Dtype dtype) {
  const Kind kind = *kind_of(dtype);
  if (kind == Kind::i1) return compare("ne", index, integer(0, index, Kind::i64));
  if (is_real(kind)) return rounded(cast("sitofp", index, kind), dtype);
  return cast("trunc", index, kind);
}

Val across(Val v, const ir::Op& reduce, Dtype dtype) {
  Writer& w = *v.writer;
  for (int half = v.lanes / 2; half >= 1; half /= 2) {
    const std::string type = Writer::type(v.kind, v.lanes);
    const auto part = [&](int from) {
      if (half == 1) return w.value(v.kind, 1, cat("extractelement ", type, " ", v.name, ", i64 ", from));
      std::string lanes;
      for (int k = 0; k < half; ++k) lanes += cat(k ? ", " : "<", "i32 ", from + k);
      return w.value(v.kind, half,
                     cat("shufflevector ", type, " ", v.name, ", ", type, " poison, <", half, " x i32> ", lanes, ">"));
    };
    v = combine(reduce, dtype, part(0), part(half));
  }
  return v;
}

}  // namespace uni::codegen
