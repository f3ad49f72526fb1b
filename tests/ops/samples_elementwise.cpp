// Samples of the element-wise rows: every dtype that a row takes, sizes 0, 1 and odd, square shapes.
#include "ops/elementwise.hpp"
#include "samples.hpp"

namespace uni::contract {

namespace {
using core::Primitive;

using Dtypes = std::vector<Dtype>;
const Dtypes floats = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16};
const Dtypes complexes = {Dtype::c128, Dtype::c64};
const Dtypes integers = {Dtype::i32, Dtype::i8, Dtype::i16, Dtype::i64, Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64};
const Dtypes bools = {Dtype::b8};
const Dtypes keys = {Dtype::key};

Dtypes operator+(Dtypes a, const Dtypes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Range {
  double low = -2, high = 2;
};

// The row on operands of one dtype. The first dtype of a kind gets all shapes, the others one.
void same(Samples& out, const Primitive& row, const Dtypes& dtypes, const std::vector<Range>& ranges,
          Sample like = {}) {
  for (const Dtype d : dtypes) {
    const bool main = d == Dtype::f64 || d == Dtype::c128 || d == Dtype::i32 || d == Dtype::b8;
    const std::vector<Dims> shapes = main ? std::vector<Dims>{{}, {0}, {1}, {5}, {2, 2}} : std::vector<Dims>{{5}};
    for (const Dims& shape : shapes) {
      Sample s = like;
      for (const Range& r : ranges) s.operands.push_back({d, shape, r.low, r.high});
      out.add(row, std::move(s));
    }
  }
}

void unary(Samples& out) {
  using namespace ops;
  using ops::conj, ops::digamma, ops::erf_inv, ops::imag, ops::logistic, ops::real, ops::rsqrt, ops::sign,
      ops::stop_gradient;
  const struct {
    const Primitive* row;
    Dtypes dtypes;
    Range range;
  } table[] = {{&neg, floats + complexes + integers, {}},
               {&ops::abs, floats + integers, {}},
               {&ops::abs, complexes, {0.3, 2}},
               {&sign, floats + integers, {}},
               {&sign, complexes, {0.3, 2}},
               {&ops::floor, floats, {}},
               {&ops::ceil, floats, {}},
               {&ops::round, floats, {}},
               {&not_, bools + integers, {}},
               {&ops::exp, floats + complexes, {}},
               {&ops::expm1, floats + complexes, {}},
               {&ops::log, floats + complexes, {0.2, 3}},
               {&ops::log, complexes, {-3, -0.2}},
               {&ops::log1p, floats + complexes, {-0.5, 2}},
               {&ops::sqrt, floats + complexes, {0.2, 3}},
               {&ops::sqrt, complexes, {-3, -0.2}},
               {&rsqrt, floats + complexes, {0.2, 3}},
               {&rsqrt, complexes, {-3, -0.2}},
               {&ops::cbrt, floats, {0.2, 2}},
               {&ops::cbrt, floats, {-2, -0.2}},
               {&ops::sin, floats + complexes, {}},
               {&ops::cos, floats + complexes, {}},
               {&ops::tan, floats + complexes, {-1, 1}},
               {&ops::asin, floats + complexes, {-0.9, 0.9}},
               {&ops::asin, complexes, {1.5, 3}},
               {&ops::acos, floats + complexes, {-0.9, 0.9}},
               {&ops::acos, complexes, {-3, -1.5}},
               {&ops::atan, floats, {}},
               {&ops::atan, complexes, {-0.7, 0.7}},
               {&ops::sinh, floats + complexes, {}},
               {&ops::cosh, floats + complexes, {}},
               {&ops::tanh, floats + complexes, {-1, 1}},
               {&ops::asinh, floats + complexes, {-0.7, 0.7}},
               {&ops::asinh, floats, {-20, 20}},
               {&ops::acosh, floats + complexes, {1.2, 3}},
               {&ops::acosh, complexes, {-3, -1.2}},
               {&ops::atanh, floats + complexes, {-0.9, 0.9}},
               {&logistic, floats, {-4, 4}},
               {&ops::erf, floats, {}},
               {&ops::erfc, floats, {}},
               {&erf_inv, floats, {-0.9, 0.9}},
               {&ops::lgamma, floats, {0.3, 4}},
               {&ops::lgamma, floats, {-1.8, -1.2}},
               {&digamma, floats, {0.3, 4}},
               {&digamma, floats, {-1.8, -1.2}},
               {&digamma, floats, {20, 200}},
               {&is_finite, floats, {}},
               {&real, complexes, {}},
               {&imag, complexes, {}},
               {&conj, complexes, {}}};
  for (const auto& e : table) same(out, *e.row, e.dtypes, {e.range});
  same(out, stop_gradient, floats + complexes + integers + bools + keys, {{}}, {.stopped = true});
  for (const int n : {-3, -1, 0, 1, 2, 3, 6})
    same(out, integer_pow, n < 0 ? floats + complexes : floats + complexes + integers, {{0.5, 2}},
         {.params = IntegerPow{n}});
}

void binary(Samples& out) {
  using namespace ops;
  using ops::add, ops::maximum, ops::minimum, ops::rem;
  const std::vector<std::vector<std::size_t>> both = {{0}, {1}, {0, 1}}, either = {{0}, {1}}, first = {{0}};
  same(out, add, floats + complexes + integers + bools, {{}, {}}, {.linear = both});
  same(out, sub, floats + complexes + integers, {{}, {}}, {.linear = both});
  same(out, mul, floats + complexes + integers + bools, {{}, {}}, {.linear = either});
  same(out, ops::div, floats + complexes, {{}, {0.5, 2}}, {.linear = first});
  same(out, ops::div, integers, {{-9, 9}, {-3, 3}});
  same(out, rem, floats, {{-5, 5}, {0.5, 2}});
  same(out, rem, floats, {{-5, 5}, {-2, -0.5}});
  same(out, rem, integers, {{-9, 9}, {-3, 3}});
  same(out, ops::pow, floats + complexes, {{0.3, 2}, {}});
  same(out, maximum, floats + integers + bools, {{}, {}});
  same(out, minimum, floats + integers + bools, {{}, {}});
  same(out, ops::atan2, floats, {{0.3, 2}, {}});
  same(out, ops::atan2, floats, {{-2, -0.3}, {}});
  same(out, ops::nextafter, floats, {{}, {}});
  for (const Primitive* row : {&and_, &or_, &xor_}) same(out, *row, bools + integers, {{-100, 100}, {-100, 100}});
  for (const Primitive* row : {&shift_left, &shift_right_logical, &shift_right_arithmetic})
    same(out, *row, integers, {{-100, 100}, {-3, 70}});
  same(out, complex, {Dtype::f64, Dtype::f32}, {{}, {}}, {.linear = both});
  same(out, ops::fma, floats, {{}, {}, {}}, {.linear = {{0}, {1}, {2}, {0, 2}, {1, 2}}});
}

void choice(Samples& out) {
  using namespace ops;
  for (int d = 0; d < 6; ++d) {
    const Dtypes dtypes = d < 2 ? floats + integers + bools + complexes : floats + integers + bools;
    same(out, compare, dtypes, {{-2, 2}, {-2, 2}}, {.params = Compare{Compare::Direction(d)}});
  }
  same(out, clamp, floats, {{-1, -0.5}, {}, {0.5, 1}});
  same(out, clamp, floats, {{1, 1.5}, {}, {-1, -0.5}});
  same(out, clamp, integers, {{-5, 0}, {-9, 9}, {0, 5}});
  for (const Dtype d : floats + complexes + integers + bools + keys)
    for (const Dims& shape : std::vector<Dims>{{}, {0}, {1}, {5}, {2, 2}})
      out.add(select, {.operands = {{Dtype::b8, shape}, {d, shape}, {d, shape}}, .linear = {{1}, {2}, {1, 2}}});
}

void conversion(Samples& out) {
  const Dtypes numbers = floats + complexes + integers;
  for (const Dtype from : numbers + bools)
    for (const Dtype to : numbers + bools) {
      out.add(ops::convert, {.operands = {{from, {3}, -3, 3}}, .params = ops::Convert{to, from == to}});
      if (from == Dtype::f64) out.add(ops::convert, {.operands = {{from, {2, 2}}}, .params = ops::Convert{to, false}});
    }
  for (const Dtype from : numbers)
    for (const Dtype to : numbers) {
      if (itemsize(from) != itemsize(to)) continue;
      out.add(ops::bitcast, {.operands = {{from, {3}}}, .params = ops::Bitcast{to}, .stopped = true});
      out.add(ops::bitcast, {.operands = {{from, {2, 2}}}, .params = ops::Bitcast{to}, .stopped = true});
    }
}

const SampleFamily family([] {
  Samples out;
  unary(out);
  binary(out);
  choice(out);
  conversion(out);
  return out.take();
});
}  // namespace

}  // namespace uni::contract
