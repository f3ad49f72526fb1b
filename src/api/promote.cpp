#include "api/promote.hpp"

#include <array>
#include <cstdint>
#include <limits>

#include "api/fail.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::api {

namespace {
// The nodes of the lattice: the strong dtypes and the three weak kinds.
enum Node : int { b1, iw, u1, u2, u4, u8, i1, i2, i4, i8, fw, bf, f2, f4, f8, cw, c8, c16, nodes };
// Which nodes lie directly above.
constexpr std::array<std::array<int, 3>, nodes> above = {{{iw, -1, -1},
                                                          {u1, i1, -1},
                                                          {i2, u2, -1},
                                                          {i4, u4, -1},
                                                          {i8, u8, -1},
                                                          {fw, -1, -1},
                                                          {i2, -1, -1},
                                                          {i4, -1, -1},
                                                          {i8, -1, -1},
                                                          {fw, -1, -1},
                                                          {cw, bf, f2},
                                                          {f4, -1, -1},
                                                          {f4, -1, -1},
                                                          {f8, c8, -1},
                                                          {c16, -1, -1},
                                                          {c8, -1, -1},
                                                          {c16, -1, -1},
                                                          {-1, -1, -1}}};

// Bit n of reachable[m]: node n is m or lies above it.
constexpr std::array<std::uint32_t, nodes> reachable_nodes() {
  std::array<std::uint32_t, nodes> reach{};
  for (int n = nodes; n-- > 0;) reach[static_cast<std::size_t>(n)] = 1u << n;
  for (int round = 0; round < nodes; ++round)
    for (std::size_t n = 0; n < nodes; ++n)
      for (int up : above[n])
        if (up >= 0) reach[n] |= reach[static_cast<std::size_t>(up)];
  return reach;
}
constexpr auto reachable = reachable_nodes();

// The common node above both that has all other common ones above it.
constexpr Node least_upper_bound(Node a, Node b) {
  const std::uint32_t common = reachable[a] & reachable[b];
  for (int n = 0; n < nodes; ++n)
    if ((common >> n & 1u) && (common & ~reachable[static_cast<std::size_t>(n)]) == 0) return static_cast<Node>(n);
  return c16;
}
static_assert(least_upper_bound(u4, i4) == i8 && least_upper_bound(u8, i1) == fw && least_upper_bound(bf, f2) == f4);

Node node_of(ValueType t) {
  if (t.weak) return is_complex(t.dtype) ? cw : is_float(t.dtype) ? fw : is_integer(t.dtype) ? iw : b1;
  switch (t.dtype) {
    case Dtype::b8:
      return b1;
    case Dtype::i8:
      return i1;
    case Dtype::i16:
      return i2;
    case Dtype::i32:
      return i4;
    case Dtype::i64:
      return i8;
    case Dtype::u8:
      return u1;
    case Dtype::u16:
      return u2;
    case Dtype::u32:
      return u4;
    case Dtype::u64:
      return u8;
    case Dtype::f16:
      return f2;
    case Dtype::bf16:
      return bf;
    case Dtype::f32:
      return f4;
    case Dtype::f64:
      return f8;
    case Dtype::c64:
      return c8;
    default:
      return c16;
  }
}

Dtype dtype_of_node(Node n) {
  constexpr Dtype dtypes[nodes] = {Dtype::b8,  Dtype::i32, Dtype::u8,  Dtype::u16, Dtype::u32, Dtype::u64,
                                   Dtype::i8,  Dtype::i16, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::bf16,
                                   Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c64, Dtype::c128};
  return dtypes[n];
}

int kind_of(Dtype d) { return is_complex(d) ? 3 : is_float(d) ? 2 : is_integer(d) ? 1 : 0; }

// The dtype of a weak result: the widest weak operand of that kind, else the default. Two strong integers that meet in
// a float (u64 and a signed one) need f64.
Dtype weak_dtype(Dtype standard, ValueType a, ValueType b) {
  Dtype dtype = standard;
  if (!a.weak && !b.weak) dtype = Dtype::f64;
  for (ValueType t : {a, b})
    if (t.weak && kind_of(t.dtype) == kind_of(standard) && itemsize(t.dtype) > itemsize(dtype)) dtype = t.dtype;
  return dtype;
}

ValueType default_type(detail::HostScalar s) {
  switch (s.kind) {
    case detail::HostScalar::Kind::boolean:
      return {Dtype::b8, false};
    case detail::HostScalar::Kind::real:
      return {Dtype::f32, true};
    default:
      return {Dtype::i32, true};
  }
}
}  // namespace

ValueType value_type(const Array& x) {
  const ir::Type& t = core::type_of(x);
  return {t.dtype, t.weak};
}
ValueType value_type(const In& x) { return x.is_scalar() ? default_type(x.scalar()) : value_type(x.array()); }

ValueType promote(std::string_view who, ValueType a, ValueType b) {
  if (a == b) return a;
  if (a.dtype == Dtype::key || b.dtype == Dtype::key) {
    const Dtype other = a.dtype == Dtype::key ? b.dtype : a.dtype;
    fail<DtypeError>(base::cat(who, ": a random key and ", name(other), " have no common dtype"));
  }
  const Node n = least_upper_bound(node_of(a), node_of(b));
  const bool weak = n == iw || n == fw || n == cw;
  return {weak ? weak_dtype(dtype_of_node(n), a, b) : dtype_of_node(n), weak};
}

ValueType promote(std::string_view who, std::initializer_list<In> operands) {
  ValueType type = value_type(*operands.begin());
  for (const In& x : operands) type = promote(who, type, value_type(x));
  return type;
}

ValueType to_inexact(std::string_view who, ValueType type) {
  if (is_inexact(type.dtype)) return type;
  if (type.dtype == Dtype::i64 || type.dtype == Dtype::u64) return {Dtype::f64, type.weak};
  if (type.dtype == Dtype::key) fail<DtypeError>(base::cat(who, ": a random key has no numeric value"));
  return {Dtype::f32, type.weak};
}

namespace {
struct Range {
  i64 low;
  std::uint64_t high;
};
Range range_of(Dtype dtype) {
  const int bits = 8 * itemsize(dtype);
  if (is_unsigned(dtype)) return {0, ~std::uint64_t{0} >> (64 - bits)};
  return {std::numeric_limits<i64>::min() >> (64 - bits), ~std::uint64_t{0} >> (65 - bits)};
}

template <class T>
[[noreturn]] void misfit(std::string_view who, T value, Dtype dtype) {
  const Range r = range_of(dtype);
  fail<DtypeError>(base::cat(who, ": ", value, " does not fit ", name(dtype), " (", r.low, " to ", r.high, ")"));
}

ir::Scalar integer_constant(std::string_view who, detail::HostScalar s, Dtype dtype) {
  const Range r = range_of(dtype);
  if (s.kind == detail::HostScalar::Kind::natural) {
    if (s.u > r.high) misfit(who, s.u, dtype);
    return ir::Scalar::of_int(dtype, static_cast<i64>(s.u));
  }
  if (s.kind == detail::HostScalar::Kind::real) {
    // The bounds are exact as doubles, or one above the largest integer.
    const bool high_enough = s.d > static_cast<double>(r.low) - 1 || s.d >= static_cast<double>(r.low);
    const bool fits = high_enough && s.d < static_cast<double>(r.high / 2 + 1) * 2;
    if (!fits) misfit(who, s.d, dtype);
    return ir::Scalar::of_int(dtype,
                              s.d < 0x1p63 ? static_cast<i64>(s.d) : static_cast<i64>(static_cast<std::uint64_t>(s.d)));
  }
  if (s.i < r.low || (s.i > 0 && static_cast<std::uint64_t>(s.i) > r.high)) misfit(who, s.i, dtype);
  return ir::Scalar::of_int(dtype, s.i);
}
}  // namespace

ir::Scalar constant(std::string_view who, detail::HostScalar s, Dtype dtype) {
  if (dtype == Dtype::key)
    fail<DtypeError>(base::cat(who, ": a number is not a random key"), "make one with Key(seed)");
  if (is_integer(dtype)) return integer_constant(who, s, dtype);
  if (s.kind == detail::HostScalar::Kind::real) return ir::Scalar::of_double(dtype, s.d);
  const bool large = s.kind == detail::HostScalar::Kind::natural && s.i < 0;
  return large ? ir::Scalar::of_double(dtype, static_cast<double>(s.u)) : ir::Scalar::of_int(dtype, s.i);
}

const Dims& shape_of(const In& x) {
  static const Dims scalar;
  return x.is_scalar() ? scalar : core::type_of(x.array()).shape;
}

Dims broadcast_shapes(std::string_view who, std::span<const Dims> shapes) {
  Dims out;
  for (const Dims& s : shapes)
    while (out.rank() < s.rank()) out.push_back(1);
  for (int axis = 1; axis <= out.rank(); ++axis) {
    for (const Dims& s : shapes) {
      if (axis > s.rank() || s[-axis] == 1 || s[-axis] == out[-axis]) continue;
      if (out[-axis] == 1) {
        out[-axis] = s[-axis];
        continue;
      }
      std::vector<std::string> texts;
      for (const Dims& each : shapes) texts.push_back(base::cat(each));
      fail<ShapeError>(base::cat(who, ": shapes ", base::listing(texts), " do not broadcast"));
    }
  }
  return out;
}

Dims broadcast_shapes(std::string_view who, std::initializer_list<In> operands) {
  std::vector<Dims> shapes;
  for (const In& x : operands) shapes.push_back(shape_of(x));
  return broadcast_shapes(who, shapes);
}

Array as_array(std::string_view who, const In& x) { return as_type(who, x, value_type(x)); }

Array as_type(std::string_view who, const In& x, ValueType type) {
  if (x.is_scalar()) return lax::full_scalar(constant(who, x.scalar(), type.dtype), {}, type.weak);
  const ir::Type& own = core::type_of(x.array());
  return own.dtype == type.dtype ? x.array() : lax::convert(x.array(), type.dtype, type.weak);
}

Array prepare(std::string_view who, const In& x, ValueType type, const Dims& shape) {
  if (x.is_scalar()) return lax::full_scalar(constant(who, x.scalar(), type.dtype), shape, type.weak);
  return lax::broadcast_to(as_type(who, x, type), shape);
}

Array as_inexact(std::string_view who, const In& x) { return as_type(who, x, to_inexact(who, value_type(x))); }

}  // namespace uni::api
