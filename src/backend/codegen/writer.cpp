#include "backend/codegen/writer.hpp"

#include <bit>

#include "base/text.hpp"

namespace uni::codegen {

using base::cat;

int bits_of(Kind kind) {
  switch (kind) {
    case Kind::i1:
      return 1;
    case Kind::i8:
      return 8;
    case Kind::i16:
      return 16;
    case Kind::i32:
    case Kind::f32:
      return 32;
    case Kind::i64:
    case Kind::f64:
      break;
  }
  return 64;
}

namespace {
std::string scalar_type(Kind kind) {
  if (kind == Kind::f32) return "float";
  if (kind == Kind::f64) return "double";
  return cat("i", bits_of(kind));
}
std::string hex(std::uint64_t bits) {
  std::string out = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789ABCDEF"[bits >> shift & 15];
  return out;
}
}  // namespace

std::string Writer::type(Kind kind, int lanes) {
  return lanes == 1 ? scalar_type(kind) : cat("<", lanes, " x ", scalar_type(kind), ">");
}
std::string Writer::suffix(Kind kind, int lanes) {
  const std::string one = cat(is_real(kind) ? "f" : "i", bits_of(kind));
  return lanes == 1 ? one : cat("v", lanes, one);
}

std::string Writer::fresh() { return cat("%t", next_++); }
void Writer::line(std::string_view instruction) { body += cat("  ", instruction, "\n"); }
Val Writer::value(Kind kind, int lanes, std::string_view instruction) {
  Val v{this, fresh(), kind, lanes};
  body += cat("  ", v.name, " = ", instruction, "\n");
  return v;
}
Val Writer::literal_bits(std::uint64_t bits, Kind kind, int lanes) {
  std::string text;
  if (kind == Kind::f32)  // written as the double of the same value
    text =
        hex(std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))));
  else if (kind == Kind::f64)
    text = hex(bits);
  else if (kind == Kind::i1)
    text = bits & 1 ? "true" : "false";
  else
    text = cat(static_cast<i64>(bits << (64 - bits_of(kind))) >> (64 - bits_of(kind)));
  return {this, lanes == 1 ? text : cat("splat (", scalar_type(kind), " ", text, ")"), kind, lanes};
}
Val Writer::literal(double value, Kind kind, int lanes) {
  if (kind == Kind::f32) return literal_bits(std::bit_cast<std::uint32_t>(static_cast<float>(value)), kind, lanes);
  if (kind == Kind::f64) return literal_bits(std::bit_cast<std::uint64_t>(value), kind, lanes);
  return literal_bits(static_cast<std::uint64_t>(static_cast<i64>(value)), kind, lanes);
}
Val Writer::splat(const Val& scalar, int lanes) {
  if (lanes == 1) return scalar;
  const std::string vector = type(scalar.kind, lanes);
  const Val one =
      value(scalar.kind, lanes,
            cat("insertelement ", vector, " poison, ", scalar_type(scalar.kind), " ", scalar.name, ", i64 0"));
  return value(
      scalar.kind, lanes,
      cat("shufflevector ", vector, " ", one.name, ", ", vector, " poison, <", lanes, " x i32> zeroinitializer"));
}
Val Writer::intrinsic(std::string_view name, Kind kind, const std::vector<Val>& in) {
  std::string arguments, types;
  for (const Val& v : in) {
    const std::string_view comma = arguments.empty() ? "" : ", ";
    arguments += cat(comma, type(v.kind, v.lanes), " ", v.name);
    types += cat(comma, type(v.kind, v.lanes));
  }
  const int lanes = in[0].lanes;
  // Conversions are named by result and operand.
  const std::string both = kind == in[0].kind ? "" : cat(".", suffix(in[0].kind, lanes));
  const std::string full = cat("@llvm.", name, ".", suffix(kind, lanes), both);
  declarations.insert(cat("declare ", type(kind, lanes), " ", full, "(", types, ")"));
  return value(kind, lanes, cat("call ", type(kind, lanes), " ", full, "(", arguments, ")"));
}
std::string Writer::slot(Kind kind, int lanes, i64 count) {
  const std::string name = fresh();
  entry += cat("  ", name, " = alloca ", type(kind, lanes), ", i64 ", count, ", align 64\n");
  return name;
}

std::string Writer::label() { return cat("b", next_++); }
void Writer::jump(const std::string& to) { line(cat("br label %", to)); }
void Writer::branch(const Val& condition, const std::string& yes, const std::string& no) {
  line(cat("br i1 ", condition.name, ", label %", yes, ", label %", no));
}
void Writer::begin(const std::string& name) { body += cat(name, ":\n"); }

namespace {
Val binary(std::string_view real, std::string_view integer, const Val& a, const Val& b) {
  const std::string_view op = is_real(a.kind) ? real : integer;
  return a.writer->value(a.kind, a.lanes, cat(op, " ", Writer::type(a.kind, a.lanes), " ", a.name, ", ", b.name));
}
}  // namespace
Val operator+(const Val& a, const Val& b) { return binary("fadd", "add", a, b); }
Val operator-(const Val& a, const Val& b) { return binary("fsub", "sub", a, b); }
Val operator*(const Val& a, const Val& b) { return binary("fmul", "mul", a, b); }
Val operator/(const Val& a, const Val& b) { return binary("fdiv", "", a, b); }
Val operator-(const Val& a) {
  if (!is_real(a.kind)) return integer(0, a, a.kind) - a;
  return a.writer->value(a.kind, a.lanes, cat("fneg ", Writer::type(a.kind, a.lanes), " ", a.name));
}
Val operator&(const Val& a, const Val& b) { return binary("", "and", a, b); }
Val operator|(const Val& a, const Val& b) { return binary("", "or", a, b); }
Val operator^(const Val& a, const Val& b) { return binary("", "xor", a, b); }
Val operator~(const Val& a) { return a ^ a.writer->literal_bits(~std::uint64_t{0}, a.kind, a.lanes); }
Val shift_left(const Val& a, const Val& n) { return binary("", "shl", a, n); }
Val shift_right(const Val& a, const Val& n, bool is_signed) { return binary("", is_signed ? "ashr" : "lshr", a, n); }
Val fma(const Val& a, const Val& b, const Val& c) { return a.writer->intrinsic("fma", a.kind, {a, b, c}); }
Val compare(std::string_view predicate, const Val& a, const Val& b) {
  return a.writer->value(Kind::i1, a.lanes,
                         cat(is_real(a.kind) ? "fcmp " : "icmp ", predicate, " ", Writer::type(a.kind, a.lanes), " ",
                             a.name, ", ", b.name));
}
Val select(const Val& condition, const Val& yes, const Val& no) {
  const std::string t = Writer::type(yes.kind, yes.lanes);
  return yes.writer->value(yes.kind, yes.lanes,
                           cat("select ", Writer::type(Kind::i1, condition.lanes), " ", condition.name, ", ", t, " ",
                               yes.name, ", ", t, " ", no.name));
}
Val cast(std::string_view instruction, const Val& a, Kind kind) {
  if (a.kind == kind) return a;
  return a.writer->value(
      kind, a.lanes,
      cat(instruction, " ", Writer::type(a.kind, a.lanes), " ", a.name, " to ", Writer::type(kind, a.lanes)));
}
Val bitcast(const Val& a, Kind kind) { return cast("bitcast", a, kind); }
Val absolute(const Val& a) { return a.writer->intrinsic("fabs", a.kind, {a}); }
Val copysign(const Val& magnitude, const Val& sign) {
  return magnitude.writer->intrinsic("copysign", magnitude.kind, {magnitude, sign});
}
Val constant(double value, const Val& like) { return like.writer->literal(value, like.kind, like.lanes); }
Val integer(i64 value, const Val& like, Kind kind) {
  return like.writer->literal_bits(static_cast<std::uint64_t>(value), kind, like.lanes);
}

}  // namespace uni::codegen
