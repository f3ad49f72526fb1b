// The text of LLVM functions, one typed value at a time. All values of one Writer have the same number of lanes or one.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <unisono/dtype.hpp>

namespace uni::codegen {

enum class Kind : std::uint8_t { i1, i8, i16, i32, i64, f32, f64 };
constexpr bool is_real(Kind k) { return k >= Kind::f32; }
int bits_of(Kind kind);

class Writer;
// A value in registers: a scalar, or as many lanes as a vector has.
struct Val {
  Writer* writer = nullptr;
  std::string name;
  Kind kind = Kind::f32;
  int lanes = 1;
};

class Writer {
 public:
  std::string body;                    // instructions so far
  std::string entry;                   // of the entry block: stack slots
  std::set<std::string> declarations;  // of intrinsics

  static std::string type(Kind kind, int lanes);
  static std::string suffix(Kind kind, int lanes);  // "v16f32", as names of intrinsics have it

  std::string fresh();
  void line(std::string_view instruction);
  Val value(Kind kind, int lanes, std::string_view instruction);
  Val literal(double value, Kind kind, int lanes);
  Val literal_bits(std::uint64_t bits, Kind kind, int lanes);
  Val splat(const Val& scalar, int lanes);
  // Calls the intrinsic "llvm.NAME.SUFFIX" on values of one type.
  Val intrinsic(std::string_view name, Kind kind, const std::vector<Val>& in);
  std::string slot(Kind kind, int lanes, i64 count = 1);  // stack memory, 64-byte aligned

  // Blocks
  std::string label();
  void jump(const std::string& to);
  void branch(const Val& condition, const std::string& yes, const std::string& no);
  void begin(const std::string& label);

 private:
  int next_ = 0;
};

// Arithmetic. Integers wrap; both operands have one kind and number of lanes.
Val operator+(const Val& a, const Val& b);
Val operator-(const Val& a, const Val& b);
Val operator*(const Val& a, const Val& b);
Val operator/(const Val& a, const Val& b);  // reals
Val operator-(const Val& a);
Val operator&(const Val& a, const Val& b);
Val operator|(const Val& a, const Val& b);
Val operator^(const Val& a, const Val& b);
Val operator~(const Val& a);
Val shift_left(const Val& a, const Val& n);
Val shift_right(const Val& a, const Val& n, bool is_signed);
Val fma(const Val& a, const Val& b, const Val& c);
// predicate: of fcmp ("olt") or icmp ("slt")
Val compare(std::string_view predicate, const Val& a, const Val& b);
Val select(const Val& condition, const Val& yes, const Val& no);
Val bitcast(const Val& a, Kind kind);
Val cast(std::string_view instruction, const Val& a, Kind kind);  // "sext", "fptrunc", ...
Val absolute(const Val& a);
Val copysign(const Val& magnitude, const Val& sign);
// A constant like `like`.
Val constant(double value, const Val& like);
Val integer(i64 value, const Val& like, Kind kind);

// Operands that are numbers.
inline Val operator+(const Val& a, double b) { return a + constant(b, a); }
inline Val operator-(const Val& a, double b) { return a - constant(b, a); }
inline Val operator*(const Val& a, double b) { return a * constant(b, a); }
inline Val operator-(double a, const Val& b) { return constant(a, b) - b; }
inline Val operator/(double a, const Val& b) { return constant(a, b) / b; }
inline Val fma(const Val& a, const Val& b, double c) { return fma(a, b, constant(c, a)); }
inline Val fma(const Val& a, double b, const Val& c) { return fma(a, constant(b, a), c); }

}  // namespace uni::codegen
