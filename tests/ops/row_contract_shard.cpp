// The shard rule against evaluation on parts and on padded operands.
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"

namespace uni::contract {

using base::cat;
using core::ShardRule;
using core::Type;
using core::Types;
using Kind = ShardRule::Kind;
using Fill = ShardRule::Fill;

namespace {
struct Whole {
  const Sample& sample;
  const ShardRule& rule;
  Arrays operands, results;
  Types in, out;
};

std::optional<std::string> factors_fit(const std::vector<std::vector<int>>& factors, const Types& types,
                                       std::vector<i64>& sizes, const char* what) {
  if (factors.size() != types.size()) return cat(factors.size(), " ", what, "s instead of ", types.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (static_cast<int>(factors[i].size()) != types[i].shape.rank())
      return cat(what, " ", i, " has ", factors[i].size(), " factors, its type is ", ir::to_string(types[i]));
    for (std::size_t d = 0; d < factors[i].size(); ++d) {
      const int f = factors[i][d];
      if (f < 0 || f >= static_cast<int>(sizes.size())) return cat(what, " ", i, " names factor ", f);
      i64& size = sizes[static_cast<std::size_t>(f)];
      const i64 mine = types[i].shape[static_cast<int>(d)];
      if (size >= 0 && size != mine) return cat("factor ", f, " has sizes ", size, " and ", mine);
      size = mine;
    }
  }
  return {};
}

bool names(const std::vector<std::vector<int>>& factors, int f) {
  for (const auto& dims : factors)
    for (const int g : dims)
      if (g == f) return true;
  return false;
}

Types with_size(Types types, const std::vector<std::vector<int>>& factors, int f, i64 size) {
  for (std::size_t i = 0; i < types.size(); ++i)
    for (std::size_t d = 0; d < factors[i].size(); ++d)
      if (factors[i][d] == f) types[i].shape[static_cast<int>(d)] = size;
  return types;
}

Array part(const Array& a, const std::vector<int>& factors, int f, i64 start, i64 size, Value fill = 0) {
  std::vector<i64> begin(factors.size(), 0);
  Dims sizes = core::type_of(a).shape;
  for (std::size_t d = 0; d < factors.size(); ++d) {
    if (factors[d] != f) continue;
    begin[d] = start;
    sizes[static_cast<int>(d)] = size;
  }
  return block(a, begin, sizes, fill);
}

Arrays evaluate_local(const Whole& w, const Arrays& operands, int f, i64 size) {
  core::Params params = w.sample.params;
  if (w.rule.localize)
    params =
        w.rule.localize(params, with_size(w.in, w.rule.operands, f, size), with_size(w.out, w.rule.results, f, size));
  return core::bind(*w.sample.row, operands, params);
}

Arrays evaluate_part(const Whole& w, int f, i64 start, i64 size) {
  Arrays operands;
  for (std::size_t i = 0; i < w.operands.size(); ++i)
    operands.push_back(part(w.operands[i], w.rule.operands[i], f, start, size));
  return evaluate_local(w, operands, f, size);
}

std::optional<std::string> passes(const Whole& w, int f, i64 size) {
  const i64 half = (size + 1) / 2;
  for (const i64 start : {i64{0}, half}) {
    const i64 count = start == 0 ? half : size - half;
    const Arrays local = evaluate_part(w, f, start, count);
    for (std::size_t r = 0; r < local.size(); ++r) {
      const Array want = part(w.results[r], w.rule.results[r], f, start, count);
      if (const auto d = difference(local[r], want, tolerance(w.out[r].dtype)))
        return cat("part [", start, ", ", start + count, ") of factor ", f, ", result ", r, ": ", *d);
    }
  }
  return {};
}

Value smaller(Value a, Value b) { return a.real() < b.real() || std::isnan(a.real()) ? a : b; }
Value larger(Value a, Value b) { return a.real() > b.real() || std::isnan(a.real()) ? a : b; }

// Halves of a reduced dimension combine to the whole by one of the reductions there are.
std::optional<std::string> reduces(const Whole& w, int f, i64 size) {
  const i64 half = (size + 1) / 2;
  const Arrays low = evaluate_part(w, f, 0, half), high = evaluate_part(w, f, half, size - half);
  constexpr Value (*combines[])(Value, Value) = {[](Value a, Value b) { return a + b; },
                                                 [](Value a, Value b) { return a * b; }, smaller, larger};
  for (std::size_t r = 0; r < w.results.size(); ++r) {
    bool fits = false;
    for (const auto combine : combines) {
      Values sum = read(low[r]);
      const Values more = read(high[r]);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = combine(sum[i], more[i]);
      const Array joined = make(w.out[r].dtype, w.out[r].shape, sum);
      fits = fits || !difference(joined, w.results[r], tolerance(w.out[r].dtype));
    }
    if (!fits) return cat("halves of factor ", f, " do not combine to result ", r);
  }
  return {};
}

// `any` is tried as garbage of two kinds.
Value fill_value(Fill fill, Dtype d, bool other_garbage) {
  const bool integer = !is_inexact(d);
  switch (fill) {
    case Fill::any:
      if (is_bool(d)) return other_garbage ? 0 : 1;
      if (other_garbage) return is_unsigned(d) || d == Dtype::key ? 100 : -100;
      return integer ? Value(7) : Value(std::numeric_limits<long double>::quiet_NaN());
    case Fill::one:
      return 1;
    case Fill::lowest:
      if (!integer) return -std::numeric_limits<long double>::infinity();
      return is_signed(d) ? Value(-std::ldexp(1.0L, 8 * itemsize(d) - 1)) : Value(0);
    case Fill::highest:
      if (!integer) return std::numeric_limits<long double>::infinity();
      if (is_bool(d)) return 1;
      return std::ldexp(1.0L, 8 * itemsize(d) - (is_signed(d) ? 1 : 0)) - 1;
    default:
      return 0;
  }
}

std::optional<std::string> padding_is_harmless(const Whole& w, int f, i64 size, bool other_garbage) {
  const i64 padded = size + 2;
  Arrays operands;
  for (std::size_t i = 0; i < w.operands.size(); ++i) {
    const Fill fill = w.rule.fill.empty() ? Fill::any : w.rule.fill[i];
    const bool split = names({w.rule.operands[i]}, f);
    if (fill == Fill::forbid && split) return {};
    operands.push_back(
        part(w.operands[i], w.rule.operands[i], f, 0, padded, fill_value(fill, w.in[i].dtype, other_garbage)));
  }
  const Arrays local = evaluate_local(w, operands, f, padded);
  for (std::size_t r = 0; r < local.size(); ++r) {
    const Array valid = part(local[r], w.rule.results[r], f, 0, size);
    if (const auto d = difference(valid, w.results[r], tolerance(w.out[r].dtype)))
      return cat("padding of factor ", f, " reaches result ", r, ": ", *d);
  }
  return {};
}
}  // namespace

Finding check_shard(const core::Primitive& row, const Sample& s) {
  if (!row.shard.fn) return {};
  Arrays operands;
  for (std::size_t i = 0; i < s.operands.size(); ++i) operands.push_back(draw(s.operands[i], s.seed * 31 + i));
  const Types in = core::types_of(operands);
  const ShardRule rule = row.shard.fn(in, s.params);
  const Arrays results = core::bind(*s.row, operands, s.params);
  const Whole w{s, rule, operands, results, in, core::types_of(results)};
  std::vector<i64> sizes(rule.kinds.size(), -1);
  if (const auto f = factors_fit(rule.operands, w.in, sizes, "operand")) return cat("shard: ", *f);
  if (const auto f = factors_fit(rule.results, w.out, sizes, "result")) return cat("shard: ", *f);
  if (!rule.fill.empty() && rule.fill.size() != in.size()) return cat("shard: ", rule.fill.size(), " fills");
  for (int f = 0; f < static_cast<int>(sizes.size()); ++f) {
    const Kind kind = rule.kinds[static_cast<std::size_t>(f)];
    const i64 size = sizes[static_cast<std::size_t>(f)];
    const bool in_result = names(rule.results, f), in_operand = names(rule.operands, f);
    if (!in_result && !in_operand) return cat("shard: factor ", f, " stands nowhere");
    if (kind == Kind::reduce && (in_result || !in_operand)) return cat("shard: reduced factor ", f, " in a result");
    if (kind == Kind::pass && !in_result) return cat("shard: passed factor ", f, " is in no result");
    if (size < 2 || (kind != Kind::pass && kind != Kind::reduce)) continue;
    if (const auto d = kind == Kind::pass ? passes(w, f, size) : reduces(w, f, size)) return cat("shard: ", *d);
    if (!in_operand) continue;
    for (const bool other_garbage : {false, true})
      if (const auto d = padding_is_harmless(w, f, size, other_garbage)) return cat("shard: ", *d);
  }
  return {};
}

}  // namespace uni::contract
