#include <unisono/attention.hpp>

#include <cmath>
#include <limits>

#include "api/elementwise_helpers.hpp"
#include "api/fail.hpp"
#include <unisono/elementwise.hpp>
#include <unisono/products.hpp>
#include <unisono/reduction.hpp>
#include <unisono/shaping.hpp>

namespace uni::nn {

using namespace api;
using base::cat;

namespace {
constexpr std::string_view who = "dot_product_attention";

struct Sizes {
  i64 batch, queries, keys, heads, key_heads, size;
};

Array with_batch(const Array& x) { return x.rank() == 3 ? lax::expand_dims(x, 0) : x; }

Sizes sizes_of(const Array& q, const Array& k, const Array& v) {
  const auto types = [&] {
    return cat(ir::to_string(core::type_of(q)), ", ", ir::to_string(core::type_of(k)), " and ",
               ir::to_string(core::type_of(v)));
  };
  if (q.rank() != k.rank() || k.rank() != v.rank() || (q.rank() != 3 && q.rank() != 4))
    fail<ShapeError>(cat(who, ": query, key and value ", types(), " do not all have the 3 or 4 axes of ",
                         "[batch, length, heads, size]"));
  if (k.shape() != v.shape() || q.shape(-1) != k.shape(-1) || (q.rank() == 4 && q.shape(0) != k.shape(0)))
    fail<ShapeError>(cat(who, ": query, key and value ", types(),
                         " disagree; key and value have one shape, and batch and size of the query"));
  const Sizes s{q.rank() == 4 ? q.shape(0) : 1, q.shape(-3), k.shape(-3), q.shape(-2), k.shape(-2), q.shape(-1)};
  if (s.key_heads == 0 || s.heads % s.key_heads)
    fail<ShapeError>(
        cat(who, ": ", s.heads, " heads of the query are not a multiple of ", s.key_heads, " heads of the key"));
  return s;
}

// What broadcasts to [batch, heads, queries, keys], as [batch, key_heads, group, queries, keys].
Array grouped(const char* name, const Array& x, const Sizes& s) {
  const Dims full{s.batch, s.heads, s.queries, s.keys};
  Dims shape = x.shape();
  while (shape.rank() < 4) shape.insert(0, 1);
  bool fits = shape.rank() == 4;
  for (int axis = 0; fits && axis < 4; ++axis) fits = shape[axis] == 1 || shape[axis] == full[axis];
  if (!fits) fail<ShapeError>(cat(who, ": .", name, " of shape ", x.shape(), " does not broadcast to ", full));
  const bool all_heads = shape[1] == 1;
  shape.insert(2, all_heads ? 1 : s.heads / s.key_heads);
  if (!all_heads) shape[1] = s.key_heads;
  return lax::reshape(x, shape);
}

// Positions along one axis of [batch, key_heads, group, queries, keys].
Array positions(i64 count, int axis) {
  Dims shape{1, 1, 1, 1, 1};
  shape[axis] = count;
  return lax::iota(Dtype::i32, shape, axis);
}
Array within(const char* name, const Array& lengths, i64 count, int axis, const Sizes& s) {
  if (lengths.shape() != Dims{s.batch} || !is_integer(lengths.dtype()))
    fail<ShapeError>(cat(who, ": .", name, " ", ir::to_string(core::type_of(lengths)), " are not ", s.batch,
                         " integers, one for each example"));
  return positions(count, axis) < lax::reshape(lengths, {s.batch, 1, 1, 1, 1});
}

// Which keys each query sees; nothing when it sees all.
Array seen(const AttentionOptions& o, const Sizes& s) {
  Array all;
  const auto also = [&](const Array& mask) { all = all.defined() ? logical_and(all, mask) : mask; };
  if (o.mask.defined()) {
    if (!is_bool(o.mask.dtype())) fail<DtypeError>(cat(who, ": .mask is bool, not ", name(o.mask.dtype())));
    also(grouped("mask", o.mask, s));
  }
  const Array query = positions(s.queries, 3), key = positions(s.keys, 4);
  if (o.causal) also(key <= query);
  if (o.window) also(logical_and(query <= key + o.window->left, query >= key - o.window->right));
  if (o.query_lengths.defined()) also(within("query_lengths", o.query_lengths, s.queries, 3, s));
  if (o.key_lengths.defined()) also(within("key_lengths", o.key_lengths, s.keys, 4, s));
  return all;
}
}  // namespace

Array dot_product_attention(In query, In key, In value, const AttentionOptions& options) {
  const core::At at(query.where());
  const ValueType type = to_inexact(who, promote(who, {query, key, value}));
  const Array q = as_type(who, query, type), k = as_type(who, key, type), v = as_type(who, value, type);
  const Sizes s = sizes_of(q, k, v);
  const Dtype wide = itemsize(type.dtype) == 2 ? Dtype::f32 : type.dtype;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(s.size)));
  const Array heads = lax::reshape(q, {s.batch, s.queries, s.key_heads, s.heads / s.key_heads, s.size});
  Array logits = scale * einsum("btkgh,bskh->bkgts", astype(heads, wide), astype(with_batch(k), wide));
  if (options.bias.defined()) logits = logits + astype(grouped("bias", options.bias, s), wide);
  // Not infinite: rows that see nothing have equal weights then, and no NaN.
  const double hidden = -0.7 * std::numeric_limits<float>::max();
  const Array mask = seen(options, s);
  if (mask.defined()) logits = where(mask, logits, hidden);
  const Array weights = astype(softmax(logits), type.dtype);
  Array out = lax::reshape(einsum("bkgts,bskh->btkgh", weights, with_batch(v)), {s.batch, s.queries, s.heads, s.size});
  if (options.query_lengths.defined()) {
    const Array counts = within("query_lengths", options.query_lengths, s.queries, 3, s);
    out = out * astype(lax::reshape(counts, {s.batch, s.queries, 1, 1}), type.dtype);
  }
  return lax::reshape(out, q.shape());
}

}  // namespace uni::nn
