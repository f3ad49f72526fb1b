#include "noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "execute.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni::random_programs {

namespace {
using Operands = std::vector<const Value*>;
constexpr long double infinity = std::numeric_limits<long double>::infinity();
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

bool is_any(const ir::Op* op, std::initializer_list<const ir::Op*> all) {
  return std::find(all.begin(), all.end(), op) != all.end();
}
bool adds(const ir::Op* op) {
  return is_any(op, {&ops::reduce_sum, &ops::cumsum, &ops::reduce_window_sum, &ops::window_scatter_max,
                     &ops::dot_general, &ops::conv, &ops::psum, &ops::psum_scatter});
}
bool multiplies(const ir::Op* op) { return is_any(op, {&ops::reduce_prod, &ops::cumprod}); }
// Functions whose last bits are each backend's own. Real arithmetic, square roots and conversions are rounded once.
bool approximates(const ir::Eqn& e, Dtype in) {
  if (is_any(e.op, {&ops::exp,      &ops::expm1, &ops::log,         &ops::log1p,       &ops::rsqrt,  &ops::cbrt,
                    &ops::sin,      &ops::cos,   &ops::tan,         &ops::asin,        &ops::acos,   &ops::atan,
                    &ops::sinh,     &ops::cosh,  &ops::tanh,        &ops::asinh,       &ops::acosh,  &ops::atanh,
                    &ops::erf,      &ops::erfc,  &ops::erf_inv,     &ops::pow,         &ops::lgamma, &ops::digamma,
                    &ops::logistic, &ops::atan2, &ops::integer_pow, &ops::cumlogsumexp}))
    return is_inexact(in);
  if (!is_complex(in)) return false;
  if (e.op == &ops::scatter) return e.params.as<ops::Scatter>().combine == ops::Combine::mul;
  return is_any(e.op, {&ops::mul, &ops::div, &ops::abs, &ops::sign, &ops::sqrt});
}

i64 sizes(const Dims& shape, const std::vector<int>& axes) {
  i64 n = 1;
  for (int d : axes) n *= shape[d];
  return n;
}
// How many numbers are added or multiplied for one result.
i64 terms(const ir::Eqn& e, const Mesh& mesh, const Operands& in) {
  const Dims& shape = in[0]->front().shape;
  if (is_any(e.op, {&ops::reduce_sum, &ops::reduce_prod})) return sizes(shape, e.params.as<ops::Reduce>().axes);
  if (is_any(e.op, {&ops::cumsum, &ops::cumprod, &ops::cumlogsumexp}))
    return shape[e.params.as<ops::Cumulative>().axis];
  if (is_any(e.op, {&ops::reduce_window_sum, &ops::window_scatter_max})) return e.params.as<ops::Window>().size.count();
  if (e.op == &ops::dot_general) return sizes(shape, e.params.as<ops::DotGeneral>().lhs_contract);
  if (e.op == &ops::conv) return (*in[1])[0].count() / std::max<i64>(1, (*in[1])[0].shape[-1]);
  return mesh.device_count();
}

template <class F>
Value mapped(const Value& x, const F& f) {
  Value out = x;
  for (Block& b : out)
    for (i64 i = 0; i < b.count(); ++i) b.set(i, f(b.get(i)));
  return out;
}
long double size_of(Number x) { return std::fabs(x.real()) + std::fabs(x.imag()); }

class Disturber {
 public:
  Disturber(const ir::Eqn& e, const ir::Program& p, const Mesh& mesh, const Operands& in)
      : e_(e), p_(p), mesh_(mesh), in_(in) {}

  // By how much each element may be off, infinity where it may be anything; empty for what is exact.
  std::optional<Value> bounds(const Value& result) const {
    const Dtype dtype = result[0].dtype;
    if (in_.empty() || (!is_inexact(dtype))) return {};
    const Dtype in = (*in_[0])[0].dtype;
    if (!adds(e_.op) && !multiplies(e_.op) && !approximates(e_, in)) return {};
    // 16-bit floats are computed in 32 bits and rounded once.
    const bool half = itemsize(real_part(dtype)) == 2;
    const long double u = half ? roundoff(Dtype::f32) : roundoff(dtype), last = half ? 3 * roundoff(dtype) : 0;
    const auto n = static_cast<long double>(
        adds(e_.op) || multiplies(e_.op) || e_.op == &ops::cumlogsumexp ? terms(e_, mesh_, in_) : 1);
    std::vector<Value> magnitude;
    if (adds(e_.op)) magnitude = sums_of_sizes();
    if (multiplies(e_.op)) magnitude = extreme_products();
    if (e_.op == &ops::cumlogsumexp) magnitude = largest_so_far();
    const bool undefined = e_.op == &ops::conv && !all_finite();
    Value out;
    for (std::size_t d = 0; d < result.size(); ++d) {
      Block b(Dtype::f64, result[d].shape);
      for (i64 i = 0; i < b.count(); ++i) {
        const long double y = size_of(result[d].get(i));
        long double bound = last * y + 2 * smallest(dtype);
        if (adds(e_.op)) {
          const long double sum = size_of(magnitude[0][d].get(i));
          // Complex infinities and NaN are products' own affair.
          const bool open = undefined || sum > largest(dtype) || (is_complex(dtype) && std::isnan(sum));
          bound = open ? infinity : bound + (2 + std::sqrt(n)) * u * sum;
        } else if (multiplies(e_.op)) {
          const long double high = size_of(magnitude[0][d].get(i)), low = size_of(magnitude[1][d].get(i));
          const bool safe = high < largest(dtype) && low > smallest(dtype) / roundoff(dtype);
          bound = safe ? bound + (4 + n) * u * y : infinity;
        } else if (e_.op == &ops::cumlogsumexp) {
          bound += (2 + std::sqrt(n)) * u * (y + size_of(magnitude[0][d].get(i)));
        } else if (is_any(e_.op, {&ops::lgamma, &ops::digamma})) {
          bound += 8 * u * (1 + y);  // near their zeros known to so many digits of 1
        } else {
          bound += 3 * u * y;
        }
        b.set(i, bound);
      }
      out.push_back(std::move(b));
    }
    return out;
  }

 private:
  // Whether zeros of the padding are multiplied or left out is a backend's choice, which infinite factors show.
  bool all_finite() const {
    for (const Value* v : in_)
      for (const Block& b : *v)
        for (i64 i = 0; i < b.count(); ++i)
          if (!std::isfinite(size_of(b.get(i)))) return false;
    return true;
  }
  // The same sum of absolute values.
  std::vector<Value> sums_of_sizes() const {
    std::vector<Value> sizes;
    const std::size_t linear = e_.op == &ops::window_scatter_max ? 1 : in_.size();
    for (std::size_t k = 0; k < in_.size(); ++k)
      sizes.push_back(k < linear ? mapped(*in_[k], [](Number x) { return Number(size_of(x)); }) : *in_[k]);
    return step(mesh_, e_, p_, pointers(sizes));
  }
  // What the sums of exponentials are taken out of.
  std::vector<Value> largest_so_far() const {
    ir::Eqn e = e_;
    e.op = &ops::cummax;
    return step(mesh_, e, p_, in_);
  }
  // The products of the factors above and of those below 1: no order of the factors leads beyond. A factor 0 gives 0
  // in any order.
  std::vector<Value> extreme_products() const {
    std::vector<Value> out;
    for (const bool above : {true, false}) {
      const std::vector<Value> factors = {mapped(*in_[0], [above](Number x) {
        const long double s = size_of(x);
        return Number(s == 0 || (s > 1) != above ? 1 : s);
      })};
      out.push_back(step(mesh_, e_, p_, pointers(factors))[0]);
    }
    return out;
  }
  static Operands pointers(const std::vector<Value>& values) {
    Operands out;
    for (const Value& v : values) out.push_back(&v);
    return out;
  }

  const ir::Eqn& e_;
  const ir::Program& p_;
  const Mesh& mesh_;
  const Operands& in_;
};

void disturb(Value& result, const std::optional<Value>& bounds, Random& random) {
  if (!is_inexact(result[0].dtype)) return;
  const bool complex = is_complex(result[0].dtype);
  const auto moved = [&](long double y, long double bound) {
    if (bound == infinity) return random.chance(50) ? infinity : std::numeric_limits<long double>::quiet_NaN();
    // The sign of a NaN is nobody's promise.
    if (std::isnan(y)) return std::copysign(y, random.chance(50) ? 1.0L : -1.0L);
    if (!(bound > 0) || std::isinf(y)) return y;
    return y + (0.5L + 0.5L * static_cast<long double>(random.unit())) * (random.chance(50) ? bound : -bound);
  };
  for (std::size_t d = 0; d < result.size(); ++d)
    for (i64 i = 0; i < result[d].count(); ++i) {
      const Number y = result[d].get(i);
      const long double bound = bounds ? (*bounds)[d].get(i).real() : 0;
      if (!(bound > 0) && !std::isnan(y.real()) && !std::isnan(y.imag())) continue;
      const long double re = moved(y.real(), bound);
      result[d].set(i, complex ? Number(re, moved(y.imag(), bound)) : Number(re));
    }
}

// Calls each(eqn, operands, results) with every equation; it may change the results.
template <class Each>
std::vector<Value> interpreted(const ir::Program& p, const Mesh& mesh, std::vector<Value> values, const Each& each) {
  values.resize(p.types.size());
  for (const ir::Eqn& e : p.eqns) {
    Operands in;
    for (ir::Var v : e.in) in.push_back(&values[at(v)]);
    std::vector<Value> results = step(mesh, e, p, in);
    each(e, in, results);
    for (std::size_t k = 0; k < results.size(); ++k) values[at(e.out[k])] = std::move(results[k]);
  }
  return values;
}
}  // namespace

std::vector<Value> disturbed_run(const runtime::LocalProgram& program, const Case& c, Random random) {
  const ir::Program& p = *program.program;
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < c.args.size(); ++i) inputs.push_back(placed(c, i, p.types[i]));
  const std::vector<Value> values = interpreted(p, program.mesh, std::move(inputs),
                                                [&](const ir::Eqn& e, const Operands& in, std::vector<Value>& results) {
                                                  const Disturber disturber(e, p, program.mesh, in);
                                                  for (Value& r : results) disturb(r, disturber.bounds(r), random);
                                                });
  std::vector<Value> out;
  for (ir::Var v : p.outputs) out.push_back(values[at(v)]);
  return out;
}
std::vector<Value> all_values(const ir::Program& program, const Mesh& mesh, std::vector<Value> inputs) {
  return interpreted(program, mesh, std::move(inputs), [](const ir::Eqn&, const Operands&, std::vector<Value>&) {});
}

}  // namespace uni::random_programs
