#include <unisono/random.hpp>

#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/promote.hpp"
#include "api/random_helpers.hpp"
#include "ops/elementwise.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"

namespace uni {

using namespace api;

Key::Key(FromSeed, i64 seed, Location where) {
  const core::At at(where);
  const auto bits = static_cast<std::uint64_t>(seed);
  const std::uint32_t words[2] = {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)};
  if (!staging()) {
    keys_ = from_host(words, Dtype::key, {});
    return;
  }
  const Array parts[] = {lax::full_int(words[0], Dtype::u32, {1}), lax::full_int(words[1], Dtype::u32, {1})};
  keys_ = lax::key_wrap(lax::concatenate(parts, 0));
}

Key::Key(Wrap, const Array& keys, Location where) : keys_(keys) {
  const core::At at(where);
  if (keys_.dtype() != Dtype::key)
    fail<DtypeError>(base::cat("Key: ", ir::to_string(core::type_of(keys_)), " is not a random key"),
                     "Key(seed) makes one from an integer, key_from_words from saved words");
}

Array Key::words(Location where) const {
  const core::At at(where);
  return lax::key_unwrap(keys_);
}

Key key_from_words(In words) {
  const core::At at(words.where());
  const Array w = as_array("key_from_words", words);
  if (w.dtype() != Dtype::u32 || w.rank() == 0 || w.shape()[w.rank() - 1] != 2)
    fail<DtypeError>(base::cat("key_from_words: needs u32[...,2], not ", ir::to_string(core::type_of(w))));
  return Key(lax::key_wrap(w), words.where());
}

namespace {
Array fold(const Array& key, std::uint32_t data) {
  return lax::random_fold_in(key, lax::full_int(data, Dtype::u32, key.shape()));
}
}  // namespace

// Child i is the key folded with i.
Key detail::child(const Key& key, int index, Location where) {
  const core::At at(where);
  return Key(fold(single_key("split", key), static_cast<std::uint32_t>(index)), where);
}

std::vector<Key> split(const Key& key, int n, Location where) {
  const core::At at(where);
  if (n < 0) fail<ShapeError>(base::cat("split: ", n, " keys"));
  std::vector<Key> out;
  for (int i = 0; i < n; ++i) out.push_back(detail::child(key, i, where));
  return out;
}

Key split_batch(const Key& key, i64 n, Location where) {
  const core::At at(where);
  if (n < 0) fail<ShapeError>(base::cat("split_batch: ", n, " keys"));
  return Key(lax::random_split(single_key("split_batch", key), {n}), where);
}

Key fold_in(const Key& key, In data) {
  const core::At at(data.where());
  const Array& one = single_key("fold_in", key);
  if (!is_integer(value_type(data).dtype))
    fail<DtypeError>(base::cat("fold_in: folds an integer into the key, not ", name(value_type(data).dtype)));
  if (data.is_scalar()) {
    const ir::Scalar word = constant("fold_in", data.scalar(), Dtype::u32);
    return Key(fold(one, static_cast<std::uint32_t>(word.low)), data.where());
  }
  if (shape_of(data).rank() != 0)
    fail<ShapeError>(base::cat("fold_in: ", ir::to_string(core::type_of(data.array())), " is not a scalar"),
                     "use vmap for several");
  return Key(lax::random_fold_in(one, lax::convert(data.array(), Dtype::u32)), data.where());
}

}  // namespace uni
