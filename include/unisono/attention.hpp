// Attention.
#pragma once
#include <unisono/array.hpp>

namespace uni::nn {

// How many keys before and after its own position a query sees.
struct AttentionWindow {
  i64 left = 0, right = 0;
};
struct AttentionOptions {
  Array bias = {};                   // added to the scaled products; broadcasts to [batch, heads, queries, keys]
  Array mask = {};                   // bool, broadcasts likewise: false keys are not seen
  std::optional<double> scale = {};  // of the products of queries and keys; default 1 / sqrt(size)
  Flag causal = false;               // query t sees the keys 0 .. t
  std::optional<AttentionWindow> window = {};
  // Integers [batch]: how many queries and keys of each example count. The result for other queries is 0.
  Array query_lengths = {}, key_lengths = {};
};
// softmax(scale * query key^T + bias) value, for query [batch, queries, heads, size], key and value [batch, keys,
// key_heads, size]; all without batch as well. key_heads divides heads: each serves a group of neighbouring ones. A
// query that sees no key weighs all keys equally. 16-bit floats are multiplied and exponentiated in f32, and the
// weights rounded. Throws ShapeError for sizes that do not agree, DtypeError for a mask that is not bool.
Array dot_product_attention(In query, In key, In value, const AttentionOptions& options = {});

}  // namespace uni::nn
