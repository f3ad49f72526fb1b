// The native backend gives what the reference backend gives, for every row: the samples of the contract tests, and the
// same with special values.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "core/node.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/linalg.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"
#include "runtime/client.hpp"

namespace uni::contract {
namespace {

using core::Primitive;

ir::Program program_of(const Sample& s) {
  ir::Program p;
  ir::Types in;
  ir::Eqn e{s.row, {}, {}, s.params, {}};
  for (const OperandSpec& o : s.operands) {
    in.push_back({o.dtype, o.shape, false, {}});
    e.in.push_back(p.add(in.back()));
  }
  p.inputs = static_cast<int>(in.size());
  for (const ir::Type& t : ir::infer(*s.row, in, s.params)) e.out.push_back(p.add(t));
  p.outputs = e.out;
  p.eqns.push_back(std::move(e));
  return p;
}
std::vector<runtime::BufferPtr> run(runtime::Client& client, const ir::Program& program, const Arrays& operands) {
  runtime::LocalProgram local{std::make_shared<const ir::Program>(program), Mesh({}, {0}),
                              std::vector<P>(operands.size()), std::vector<P>(program.outputs.size())};
  std::vector<runtime::Shards> args;
  for (const Array& a : operands) args.push_back({core::whole_buffer(a)});
  std::vector<runtime::BufferPtr> out;
  for (const runtime::Shards& s : client.compile(local)->execute(std::move(args), {})) out.push_back(s[0]);
  return out;
}

// Rows whose results are rounded once, or not at all: all backends give the same bits.
bool exact(const Sample& s) {
  const Primitive* r = s.row;
  for (const OperandSpec& o : s.operands)
    if (is_complex(o.dtype)) return false;
  const auto factorisations = ops::linalg_rows();
  if (std::find(factorisations.begin(), factorisations.end(), r) != factorisations.end()) return false;
  for (const Primitive* sum :
       {&ops::reduce_sum, &ops::reduce_prod, &ops::cumsum, &ops::cumprod, &ops::cumlogsumexp, &ops::reduce_window_sum,
        &ops::window_scatter_max, &ops::dot_general, &ops::conv, &ops::psum, &ops::psum_scatter})
    if (r == sum) return false;
  for (const Primitive* function :
       {&ops::exp,   &ops::expm1,    &ops::log,     &ops::log1p,  &ops::rsqrt,   &ops::cbrt,       &ops::sin,
        &ops::cos,   &ops::tan,      &ops::asin,    &ops::acos,   &ops::atan,    &ops::sinh,       &ops::cosh,
        &ops::tanh,  &ops::asinh,    &ops::acosh,   &ops::atanh,  &ops::erf,     &ops::erfc,       &ops::pow,
        &ops::atan2, &ops::logistic, &ops::erf_inv, &ops::lgamma, &ops::digamma, &ops::integer_pow})
    if (r == function) return false;
  return true;
}

bool same_part(long double a, long double b, bool exactly, long double tol) {
  if (a != a || b != b) return a != a && b != b;
  if (a == b) return !exactly || std::signbit(a) == std::signbit(b);
  return !exactly && std::fabs(a - b) <= tol * (1 + std::fabs(a));
}
Finding compare(const Sample& s) {
  Arrays operands;
  for (std::size_t i = 0; i < s.operands.size(); ++i) operands.push_back(draw(s.operands[i], s.seed * 31 + i));
  const ir::Program program = program_of(s);
  const auto got = run(runtime::native_client(), program, operands);
  const auto want = run(runtime::reference_client(), program, operands);
  for (std::size_t k = 0; k < got.size(); ++k) {
    const ir::Type type = program.types[static_cast<std::size_t>(program.outputs[k])];
    const Values a = read(core::make_single(type, got[k])), b = read(core::make_single(type, want[k]));
    for (std::size_t i = 0; i < a.size(); ++i)
      if (const long double tol = tolerance(type.dtype);
          !same_part(a[i].real(), b[i].real(), exact(s), tol) || !same_part(a[i].imag(), b[i].imag(), exact(s), tol))
        return base::cat("result ", k, " element ", i, ": native ", static_cast<double>(a[i].real()), "+",
                         static_cast<double>(a[i].imag()), "i, reference ", static_cast<double>(b[i].real()), "+",
                         static_cast<double>(b[i].imag()), "i");
  }
  return {};
}

std::vector<double> special_values(Dtype d) {
  if (is_bool(d) || d == Dtype::key) return {};
  if (is_inexact(d)) {
    const double inf = std::numeric_limits<double>::infinity();
    const bool narrow = d == Dtype::f16;
    return {0.0,
            1,
            -0.0,
            std::nan(""),
            0.5,
            inf,
            -inf,
            -1,
            narrow ? 6e-8 : 1e-45,
            narrow ? -6e4 : 3e38,
            2.5,
            -2.5,
            narrow ? 6e-5 : 1.2e-38,
            88,
            -104,
            1e-4,
            -1e-4,
            0.3};
  }
  const int bits = 8 * itemsize(d);
  const double most = std::ldexp(1.0, is_unsigned(d) ? bits : bits - 1);
  std::vector<double> out{
      0, 1, 2, 7, 100, static_cast<double>(bits), bits - 1.0, bits < 64 ? most - 1 : std::ldexp(1.0, 62)};
  if (!is_unsigned(d))
    for (const double v : {-1.0, -2.0, -most}) out.push_back(v);
  return out;
}

// A longer vector of special values in all pairings; only for rows that work element by element.
Sample with_special_values(Sample s) {
  const i64 n = 19 * 18 * 3;
  for (std::size_t k = 0; k < s.operands.size(); ++k) {
    OperandSpec& o = s.operands[k];
    o.shape = Dims{n};
    const std::vector<double> base = special_values(o.dtype);
    if (base.empty()) continue;
    o.values.clear();
    for (i64 i = 0; i < n; ++i) {
      const i64 m = static_cast<i64>(base.size());
      o.values.push_back(base[static_cast<std::size_t>((k == 0 ? i : k == 1 ? i / m : i / (m * m) + i) % m)]);
    }
  }
  return s;
}
bool pointwise(const Sample& s) {
  const auto rows = ops::elementwise_rows();
  return std::find(rows.begin(), rows.end(), s.row) != rows.end();
}

TEST(NativeReference, SamplesOfEveryRow) {
  for (const Sample& s : all_samples())
    if (const Finding f = compare(s)) ADD_FAILURE() << describe(s) << ": " << *f;
}

TEST(NativeReference, SpecialValues) {
  for (const Sample& s : all_samples()) {
    if (!pointwise(s) || s.operands.empty() || s.operands[0].shape != Dims{5}) continue;
    bool real = true;
    for (const OperandSpec& o : s.operands) real = real && !is_complex(o.dtype);
    if (!real) continue;
    const Sample special = with_special_values(s);
    if (const Finding f = compare(special)) ADD_FAILURE() << describe(special) << ": " << *f;
  }
}

}  // namespace
}  // namespace uni::contract
