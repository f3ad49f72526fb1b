#include "backend/codegen/memory.hpp"

#include "base/text.hpp"

namespace uni::codegen {

using base::cat;

std::string memory_type(Dtype d) {
  switch (d) {
    case Dtype::b8:
      return "i8";
    case Dtype::f16:
      return "half";
    case Dtype::bf16:
      return "i16";
    default:
      return Writer::type(*kind_of(d), 1);
  }
}

namespace {
std::string memory_suffix(Dtype d) {
  const std::string t = memory_type(d);
  return t == "half" ? "f16" : t == "float" ? "f32" : t == "double" ? "f64" : t;
}
std::string vector_of(const std::string& scalar, int lanes) {
  return lanes == 1 ? scalar : cat("<", lanes, " x ", scalar, ">");
}

Val widened(Writer& w, const std::string& loaded, Dtype dtype, int lanes) {
  const std::string memory = vector_of(memory_type(dtype), lanes);
  if (dtype == Dtype::b8)
    return w.value(Kind::i1, lanes, cat("icmp ne ", memory, " ", loaded, ", ", lanes == 1 ? "0" : "zeroinitializer"));
  if (dtype == Dtype::f16)
    return w.value(Kind::f32, lanes, cat("fpext ", memory, " ", loaded, " to ", Writer::type(Kind::f32, lanes)));
  if (dtype == Dtype::bf16) {
    const Val bits = cast("zext", Val{&w, loaded, Kind::i16, lanes}, Kind::i32);
    return bitcast(shift_left(bits, integer(16, bits, Kind::i32)), Kind::f32);
  }
  return {&w, loaded, *kind_of(dtype), lanes};
}
std::string narrowed(const Val& v, Dtype dtype) {
  Writer& w = *v.writer;
  const std::string memory = vector_of(memory_type(dtype), v.lanes);
  const std::string type = Writer::type(v.kind, v.lanes);
  const std::string name = w.fresh();
  if (dtype == Dtype::b8) {
    w.line(cat(name, " = zext ", type, " ", v.name, " to ", memory));
  } else if (dtype == Dtype::f16) {
    w.line(cat(name, " = fptrunc ", type, " ", v.name, " to ", memory));
  } else if (dtype == Dtype::bf16) {
    const Val bits = bitcast(v, Kind::i32);
    return cast("trunc", shift_right(bits, integer(16, bits, Kind::i32), false), Kind::i16).name;
  } else {
    return v.name;
  }
  return name;
}
}  // namespace

Val read(Writer& w, const std::string& from, Dtype dtype, int lanes, const std::string& mask) {
  const std::string memory = vector_of(memory_type(dtype), lanes), name = w.fresh();
  if (mask.empty()) {
    w.line(cat(name, " = load ", memory, ", ptr ", from, ", align ", itemsize(dtype)));
  } else {
    const std::string f = cat("@llvm.masked.load.v", lanes, memory_suffix(dtype), ".p0");
    w.declarations.insert(cat("declare ", memory, " ", f, "(ptr, i32, <", lanes, " x i1>, ", memory, ")"));
    w.line(cat(name, " = call ", memory, " ", f, "(ptr ", from, ", i32 ", itemsize(dtype), ", <", lanes, " x i1> ",
               mask, ", ", memory, " zeroinitializer)"));
  }
  return widened(w, name, dtype, lanes);
}
void write(const std::string& to, const Val& v, Dtype dtype, const std::string& mask, bool stream) {
  Writer& w = *v.writer;
  const std::string memory = vector_of(memory_type(dtype), v.lanes), bits = narrowed(v, dtype);
  if (mask.empty()) {
    w.line(cat("store ", memory, " ", bits, ", ptr ", to, ", align ", stream ? 64 : static_cast<int>(itemsize(dtype)),
               stream ? ", !nontemporal !0" : ""));
    return;
  }
  const std::string f = cat("@llvm.masked.store.v", v.lanes, memory_suffix(dtype), ".p0");
  w.declarations.insert(cat("declare void ", f, "(", memory, ", ptr, i32, <", v.lanes, " x i1>)"));
  w.line(cat("call void ", f, "(", memory, " ", bits, ", ptr ", to, ", i32 ", itemsize(dtype), ", <", v.lanes,
             " x i1> ", mask, ")"));
}

Val gather(const std::string& base, Dtype dtype, const Val& offsets, const std::string& mask) {
  Writer& w = *offsets.writer;
  const int lanes = offsets.lanes;
  const std::string memory = vector_of(memory_type(dtype), lanes);
  const std::string pointers = w.fresh(), name = w.fresh();
  w.line(
      cat(pointers, " = getelementptr ", memory_type(dtype), ", ptr ", base, ", <", lanes, " x i64> ", offsets.name));
  const std::string f = cat("@llvm.masked.gather.v", lanes, memory_suffix(dtype), ".v", lanes, "p0");
  w.declarations.insert(
      cat("declare ", memory, " ", f, "(<", lanes, " x ptr>, i32, <", lanes, " x i1>, ", memory, ")"));
  w.line(cat(name, " = call ", memory, " ", f, "(<", lanes, " x ptr> ", pointers, ", i32 ", itemsize(dtype), ", <",
             lanes, " x i1> ", mask.empty() ? "splat (i1 true)" : mask, ", ", memory, " zeroinitializer)"));
  return widened(w, name, dtype, lanes);
}

}  // namespace uni::codegen
