#include "backend/codegen/pointwise.hpp"

#include <algorithm>
#include <limits>

#include "backend/codegen/math.hpp"
#include "base/text.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"

namespace uni::codegen {

std::optional<Kind> kind_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::b8:
      return Kind::i1;
    case Dtype::i8:
    case Dtype::u8:
      return Kind::i8;
    case Dtype::i16:
    case Dtype::u16:
      return Kind::i16;
    case Dtype::i32:
    case Dtype::u32:
      return Kind::i32;
    case Dtype::i64:
    case Dtype::u64:
      return Kind::i64;
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::f32:
      return Kind::f32;
    case Dtype::f64:
      return Kind::f64;
    default:
      return std::nullopt;
  }
}

Val rounded(const Val& x, Dtype dtype) {
  if (dtype == Dtype::f16) {
    const std::string half = x.lanes == 1 ? "half" : base::cat("<", x.lanes, " x half>");
    const std::string wide = Writer::type(Kind::f32, x.lanes);
    const std::string cut = x.writer->fresh();
    x.writer->line(base::cat(cut, " = fptrunc ", wide, " ", x.name, " to ", half));
    return x.writer->value(Kind::f32, x.lanes, base::cat("fpext ", half, " ", cut, " to ", wide));
  }
  if (dtype != Dtype::bf16) return x;
  const Val bits = bitcast(x, Kind::i32);
  const auto number = [&](i64 v) { return integer(v, bits, Kind::i32); };
  const Val last = shift_right(bits, number(16), false) & number(1);
  const Val nearest = (bits + number(0x7fff) + last) & number(0xffff0000);
  const Val quiet = (bits | number(0x00400000)) & number(0xffff0000);
  return bitcast(select(compare("uno", x, x), quiet, nearest), Kind::f32);
}

namespace {
using In = std::span<const Val>;
using Ctx = const MapContext&;

Val zero(const Val& like) { return like.writer->literal_bits(0, like.kind, like.lanes); }
Val ones(const Val& like) { return like.writer->literal_bits(~std::uint64_t{0}, like.kind, like.lanes); }
Val all_like(const Val& like, i64 v) {
  return is_real(like.kind) ? constant(static_cast<double>(v), like) : integer(v, like, like.kind);
}

Val neg(In x, Ctx) { return -x[0]; }
Val abs_of(In x, Ctx c) {
  if (is_real(x[0].kind)) return absolute(x[0]);
  return is_signed(c.out) ? select(compare("slt", x[0], zero(x[0])), -x[0], x[0]) : x[0];
}
Val sign_of(In x, Ctx c) {
  const Val& v = x[0];
  if (is_real(v.kind)) {
    const Val below = select(compare("olt", v, zero(v)), all_like(v, -1), v);
    return select(compare("ogt", v, zero(v)), all_like(v, 1), below);
  }
  const Val positive = select(compare(is_signed(c.out) ? "sgt" : "ugt", v, zero(v)), all_like(v, 1), zero(v));
  return is_signed(c.out) ? select(compare("slt", v, zero(v)), ones(v), positive) : positive;
}
Val not_of(In x, Ctx) { return ~x[0]; }
template <auto Name>
Val by_intrinsic(In x, Ctx) {
  return x[0].writer->intrinsic(Name(), x[0].kind, {x.begin(), x.end()});
}
constexpr auto floor_name = [] { return std::string_view("floor"); };
constexpr auto ceil_name = [] { return std::string_view("ceil"); };
constexpr auto round_name = [] { return std::string_view("nearbyint"); };
constexpr auto sqrt_name = [] { return std::string_view("sqrt"); };
constexpr auto fma_name = [] { return std::string_view("fma"); };
Val rsqrt_of(In x, Ctx) { return 1.0 / x[0].writer->intrinsic("sqrt", x[0].kind, {x[0]}); }
template <Val (*F)(const Val&)>
Val function_f32(In x, Ctx) {
  return F(x[0]);
}
Val any_lane(const Val& mask) {
  if (mask.lanes == 1) return mask;
  Writer& w = *mask.writer;
  const std::string bits = w.fresh();
  w.line(base::cat(bits, " = bitcast ", Writer::type(Kind::i1, mask.lanes), " ", mask.name, " to i", mask.lanes));
  return w.value(Kind::i1, 1, base::cat("icmp ne i", mask.lanes, " ", bits, ", 0"));
}
// Angles that the method does not reach are rare: then all lanes are computed one by one.
template <Val (*F)(const Val&)>
Val angle_f32(In x, Ctx c) {
  Writer& w = *x[0].writer;
  const int lanes = x[0].lanes;
  const Val far = compare("ogt", absolute(x[0]), constant(max_angle_f32, x[0]));
  const Val any = any_lane(far);
  const std::string slot = w.slot(Kind::f32, lanes), slow = w.label(), fast = w.label(), done = w.label();
  const std::string type = Writer::type(Kind::f32, lanes);
  const auto keep = [&](const Val& v) { w.line(base::cat("store ", type, " ", v.name, ", ptr ", slot)); };
  w.branch(any, slow, fast);
  w.begin(slow);
  keep(c.call());
  w.jump(done);
  w.begin(fast);
  keep(F(x[0]));
  w.jump(done);
  w.begin(done);
  return w.value(Kind::f32, lanes, base::cat("load ", type, ", ptr ", slot));
}

Val finite(In x, Ctx) {
  return compare("olt", absolute(x[0]), constant(std::numeric_limits<double>::infinity(), x[0]));
}
Val same(In x, Ctx) { return x[0]; }
Val integer_pow(In x, Ctx c) {
  const int n = c.params.as<ops::IntegerPow>().exponent;
  std::optional<Val> result;
  Val base = x[0];
  for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0; k >>= 1) {
    if (k & 1u) result = result ? *result * base : base;
    if (k > 1) base = base * base;
  }
  if (!result) return all_like(x[0], 1);
  return n < 0 ? 1.0 / *result : *result;
}

Val add(In x, Ctx) { return x[0].kind == Kind::i1 ? x[0] | x[1] : x[0] + x[1]; }
Val sub(In x, Ctx) { return x[0] - x[1]; }
Val mul(In x, Ctx) { return x[0].kind == Kind::i1 ? x[0] & x[1] : x[0] * x[1]; }
Val integer_op(std::string_view op, const Val& a, const Val& b) {
  return a.writer->value(a.kind, a.lanes, base::cat(op, " ", Writer::type(a.kind, a.lanes), " ", a.name, ", ", b.name));
}
// A divisor of 0 or -1 is set aside: the first has its own result, the second may overflow.
Val divide(In x, Ctx c) {
  if (is_real(x[0].kind)) return x[0] / x[1];
  const Val none = compare("eq", x[1], zero(x[1])), one = all_like(x[1], 1);
  if (!is_signed(c.out)) return select(none, ones(x[0]), integer_op("udiv", x[0], select(none, one, x[1])));
  const Val minus = compare("eq", x[1], ones(x[1]));
  const Val q = integer_op("sdiv", x[0], select(none | minus, one, x[1]));
  return select(none, ones(x[0]), select(minus, -x[0], q));
}
Val remainder_of(In x, Ctx c) {
  const Val none = compare("eq", x[1], zero(x[1])), one = all_like(x[1], 1);
  if (!is_signed(c.out)) return select(none, x[0], integer_op("urem", x[0], select(none, one, x[1])));
  const Val minus = compare("eq", x[1], ones(x[1]));
  const Val r = integer_op("srem", x[0], select(none | minus, one, x[1]));
  return select(none, x[0], r);
}
Val extreme(const Val& a, const Val& b, bool is_signed_value, bool larger) {
  if (is_real(a.kind)) return a.writer->intrinsic(larger ? "maximum" : "minimum", a.kind, {a, b});
  if (a.kind == Kind::i1) return larger ? a | b : a & b;
  const std::string_view test = is_signed_value ? (larger ? "sgt" : "slt") : (larger ? "ugt" : "ult");
  return select(compare(test, a, b), a, b);
}
Val maximum(In x, Ctx c) { return extreme(x[0], x[1], is_signed(c.out), true); }
Val minimum(In x, Ctx c) { return extreme(x[0], x[1], is_signed(c.out), false); }
Val clamp(In x, Ctx c) { return extreme(extreme(x[1], x[0], is_signed(c.out), true), x[2], is_signed(c.out), false); }
Val and_of(In x, Ctx) { return x[0] & x[1]; }
Val or_of(In x, Ctx) { return x[0] | x[1]; }
Val xor_of(In x, Ctx) { return x[0] ^ x[1]; }
// Counts outside of [0, width) shift everything out.
Val shift(In x, bool left, bool fill_sign) {
  const Val width = all_like(x[1], bits_of(x[0].kind));
  const Val inside = compare("ult", x[1], width);
  const Val n = select(inside, x[1], zero(x[1]));
  const Val y = left ? shift_left(x[0], n) : shift_right(x[0], n, fill_sign);
  const Val rest = fill_sign ? shift_right(x[0], all_like(x[0], bits_of(x[0].kind) - 1), true) : zero(x[0]);
  return select(inside, y, rest);
}
Val shift_left_of(In x, Ctx) { return shift(x, true, false); }
Val shift_right_of(In x, Ctx) { return shift(x, false, false); }
Val shift_signed(In x, Ctx c) { return shift(x, false, is_signed(c.out)); }

Val compare_of(In x, Ctx c) {
  using D = ops::Compare::Direction;
  const D d = c.params.as<ops::Compare>().direction;
  const bool real = is_real(x[0].kind), wide = is_signed(c.in[0]);
  const auto named = [&](std::string_view order) { return base::cat(real ? "o" : wide ? "s" : "u", order); };
  switch (d) {
    case D::eq:
      return compare(real ? "oeq" : "eq", x[0], x[1]);
    case D::ne:
      return compare(real ? "une" : "ne", x[0], x[1]);
    case D::lt:
      return compare(named("lt"), x[0], x[1]);
    case D::le:
      return compare(named("le"), x[0], x[1]);
    case D::gt:
      return compare(named("gt"), x[0], x[1]);
    case D::ge:
      break;
  }
  return compare(named("ge"), x[0], x[1]);
}
Val select_of(In x, Ctx) { return select(x[0], x[1], x[2]); }

Val convert(In x, Ctx c) {
  const Val& v = x[0];
  const Dtype from = c.in[0];
  const Kind to = *kind_of(c.out);
  if (c.out == Dtype::b8) {
    if (v.kind == Kind::i1) return v;
    return compare(is_real(v.kind) ? "une" : "ne", v, zero(v));
  }
  const bool from_signed = is_signed(from);
  if (is_real(v.kind)) {
    if (!is_real(to)) return v.writer->intrinsic(is_signed(c.out) ? "fptosi.sat" : "fptoui.sat", to, {v});
    return to == v.kind ? v : cast(to == Kind::f64 ? "fpext" : "fptrunc", v, to);
  }
  if (is_real(to)) return cast(from_signed ? "sitofp" : "uitofp", v, to);
  if (bits_of(to) == bits_of(v.kind)) return v;
  return cast(bits_of(to) < bits_of(v.kind) ? "trunc" : from_signed ? "sext" : "zext", v, to);
}
Val bitcast_of(In x, Ctx c) { return bitcast(x[0], *kind_of(c.out)); }

bool is_half(Dtype d) { return d == Dtype::f16 || d == Dtype::bf16; }
bool any(std::span<const Dtype>, Dtype) { return true; }
bool as_f32(std::span<const Dtype>, Dtype out) { return *kind_of(out) == Kind::f32; }
bool integral(std::span<const Dtype>, Dtype out) { return !is_real(*kind_of(out)); }
bool not_half(std::span<const Dtype> in, Dtype out) { return !is_half(in[0]) && !is_half(out); }
// Rounding to 16 bits from wider numbers than f32 holds must not round twice.
bool rounds_once(std::span<const Dtype> in, Dtype out) {
  return !is_half(out) || in[0] == Dtype::f32 || is_half(in[0]) || itemsize(in[0]) <= 2;
}

struct Row {
  const ir::Op* op;
  Emitter emit;
  bool (*takes)(std::span<const Dtype> in, Dtype out) = any;
  int cost = 1;
};
constexpr Row rows[] = {{&ops::neg, neg},
                        {&ops::abs, abs_of},
                        {&ops::sign, sign_of, any, 2},
                        {&ops::floor, by_intrinsic<floor_name>},
                        {&ops::ceil, by_intrinsic<ceil_name>},
                        {&ops::round, by_intrinsic<round_name>},
                        {&ops::not_, not_of},
                        {&ops::exp, function_f32<exp_f32>, as_f32, 20},
                        {&ops::expm1, function_f32<expm1_f32>, as_f32, 24},
                        {&ops::log, function_f32<log_f32>, as_f32, 24},
                        {&ops::log1p, function_f32<log1p_f32>, as_f32, 32},
                        {&ops::sqrt, by_intrinsic<sqrt_name>, any, 8},
                        {&ops::rsqrt, rsqrt_of, any, 12},
                        {&ops::sin, angle_f32<sin_f32>, as_f32, 20},
                        {&ops::cos, angle_f32<cos_f32>, as_f32, 20},
                        {&ops::tanh, function_f32<tanh_f32>, as_f32, 30},
                        {&ops::logistic, function_f32<logistic_f32>, as_f32, 26},
                        {&ops::erf, function_f32<erf_f32>, as_f32, 40},
                        {&ops::erf_inv, function_f32<erf_inv_f32>, as_f32, 50},
                        {&ops::is_finite, finite},
                        {&ops::stop_gradient, same},
                        {&ops::integer_pow, integer_pow, any, 3},
                        {&ops::add, add},
                        {&ops::sub, sub},
                        {&ops::mul, mul},
                        {&ops::div, divide, any, 4},
                        {&ops::rem, remainder_of, integral, 40},
                        {&ops::maximum, maximum},
                        {&ops::minimum, minimum},
                        {&ops::and_, and_of},
                        {&ops::or_, or_of},
                        {&ops::xor_, xor_of},
                        {&ops::shift_left, shift_left_of, any, 2},
                        {&ops::shift_right_logical, shift_right_of, any, 2},
                        {&ops::shift_right_arithmetic, shift_signed, any, 2},
                        {&ops::fma, by_intrinsic<fma_name>, not_half},
                        {&ops::compare, compare_of},
                        {&ops::select, select_of},
                        {&ops::clamp, clamp, any, 2},
                        {&ops::convert, convert, rounds_once},
                        {&ops::bitcast, bitcast_of, not_half}};

const Row* find_row(const ir::Op& op) {
  const auto it = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.op == &op; });
  return it == std::end(rows) ? nullptr : it;
}
}  // namespace

Emitter find_emitter(const ir::Op& op, const ir::Params&, std::span<const Dtype> in, Dtype out) {
  const Row* row = find_row(op);
  if (!row || !kind_of(out)) return nullptr;
  for (Dtype d : in)
    if (!kind_of(d)) return nullptr;
  return row->takes(in, out) ? row->emit : nullptr;
}
int cost_of(const ir::Op& op) {
  const Row* row = find_row(op);
  return row ? row->cost : 100;
}

Val combine(const ir::Op& reduce, Dtype dtype, const Val& a, const Val& b) {
  if (&reduce == &ops::reduce_sum) return a + b;
  if (&reduce == &ops::reduce_prod) return a * b;
  if (&reduce == &ops::reduce_and) return a & b;
  if (&reduce == &ops::reduce_or) return a | b;
  return extreme(a, b, is_signed(dtype), &reduce == &ops::reduce_max);
}
Val neutral(const ir::Op& reduce, Dtype dtype, Writer& w, int lanes) {
  const Kind kind = *kind_of(dtype);
  const int bits = bits_of(kind);
  if (&reduce == &ops::reduce_sum || &reduce == &ops::reduce_or) return w.literal_bits(0, kind, lanes);
  if (&reduce == &ops::reduce_prod) return w.literal(1, kind, lanes);
  if (&reduce == &ops::reduce_and) return w.literal_bits(1, kind, lanes);
  const bool largest = &reduce == &ops::reduce_max;  // begins with the lowest
  if (is_real(kind)) return w.literal((largest ? -1 : 1) * std::numeric_limits<double>::infinity(), kind, lanes);
  const std::uint64_t low = is_signed(dtype) ? std::uint64_t{1} << (bits - 1) : 0;
  const std::uint64_t high = is_signed(dtype) ? low - 1 : ~std::uint64_t{0};
  return w.literal_bits(largest ? low : high, kind, lanes);
}

}  // namespace uni::codegen
