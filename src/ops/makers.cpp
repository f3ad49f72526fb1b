#include "ops/makers.hpp"

#include "base/text.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
Takes kind_of(Dtype d) {
  if (d == Dtype::key) return Takes::key;
  if (is_bool(d)) return Takes::boolean;
  if (is_integer(d)) return Takes::integer;
  return is_complex(d) ? Takes::complex : Takes::floating;
}

std::string text_of(Takes takes) {
  std::vector<std::string> kinds;
  constexpr std::pair<Takes, const char*> names[] = {{Takes::boolean, "bool"},
                                                     {Takes::integer, "integers"},
                                                     {Takes::floating, "floats"},
                                                     {Takes::complex, "complex numbers"},
                                                     {Takes::key, "keys"}};
  for (const auto& [kind, name] : names)
    if (overlap(kind, takes)) kinds.emplace_back(name);
  return base::listing(kinds);
}

std::string types_text(std::span<const Type> in) {
  std::vector<std::string> texts;
  for (const Type& t : in) texts.push_back(ir::to_string(t));
  return base::listing(texts);
}
}  // namespace

bool accepts(Takes takes, Dtype dtype) { return overlap(kind_of(dtype), takes); }

void check_operand_count(const ir::Op& op, std::span<const Type> in, std::size_t count) {
  if (in.size() == count) return;
  throw ShapeError(cat(op.name, ": takes ", count, count == 1 ? " operand" : " operands", ", got ", in.size()));
}

void check_dtype(const ir::Op& op, const Type& type, Takes takes) {
  if (accepts(takes, type.dtype)) return;
  throw DtypeError(cat(op.name, ": takes ", text_of(takes), ", not ", ir::to_string(type)));
}

void check_same_dtype(const ir::Op& op, std::span<const Type> in) {
  for (const Type& t : in)
    if (t.dtype != in[0].dtype) throw DtypeError(cat(op.name, ": operands ", types_text(in), " have different dtypes"));
}

void check_same_shape(const ir::Op& op, std::span<const Type> in) {
  for (const Type& t : in)
    if (!(t.shape == in[0].shape))
      throw ShapeError(cat(op.name, ": operands ", types_text(in), " have different shapes"));
}

Type common_type(const ir::Op& op, std::span<const Type> in, std::size_t count, Takes takes) {
  check_operand_count(op, in, count);
  for (const Type& t : in) check_dtype(op, t, takes);
  check_same_dtype(op, in);
  check_same_shape(op, in);
  return {in[0].dtype, in[0].shape, false, {}};
}

void not_linear(const ir::Op& op, std::string_view in_what) {
  throw TraceError(
      cat(op.name, ": not linear in ", in_what, ", cannot be transposed", base::at(core::current_location())));
}

Array one_for_zero(const Array& x) { return lax::select(lax::eq(x, lax::full_like(x, 0)), lax::full_like(x, 1), x); }

Batch batch_pointwise(const Primitive& op, const BatchArgs& args, const Params& params) {
  Arrays in;
  for (std::size_t i = 0; i < args.in.size(); ++i) in.push_back(with_batch(args, i));
  return all_batched(core::bind(op, in, params));
}

ShardRule shard_pointwise(std::span<const Type> in) {
  std::vector<int> factors;
  for (int d = 0; d < in[0].shape.rank(); ++d) factors.push_back(d);
  ShardRule rule;
  rule.operands.assign(in.size(), factors);
  rule.results = {factors};
  rule.kinds.assign(factors.size(), ShardRule::Kind::pass);
  return rule;
}

}  // namespace uni::ops
