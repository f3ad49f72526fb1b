// Random numbers as pure functions of a key. The same key gives the same numbers on every backend, device count and
// mesh, under jit, vmap and grad; use each key once and make new ones with split or fold_in. Bits, integers and uniform
// numbers are those of JAX (threefry, partitionable layout, 64-bit seeds).
#pragma once
#include <array>
#include <concepts>
#include <tuple>
#include <vector>

#include <unisono/array.hpp>

namespace uni {

// A random key: an array of dtype key, usually a scalar. Several keys in one Key are for vmap.
class Key {
 public:
  Key() = default;  // holds nothing
  // The key of a seed, all 64 bits of it.
  template <Integer T>
  explicit Key(T seed, Location where = Location::current()) : Key(FromSeed{}, static_cast<i64>(seed), where) {}
  // Wraps an array of dtype key. Throws DtypeError for any other.
  template <std::same_as<Array> A>
  explicit Key(const A& keys, Location where = Location::current()) : Key(Wrap{}, keys, where) {}

  const Array& array() const { return keys_; }
  // The words of the key as u32[2], for saving.
  Array words(Location where = Location::current()) const;

  static auto tree_fields(auto& self) { return std::tie(self.keys_); }
  static constexpr std::string_view tree_names[] = {"keys"};

 private:
  struct FromSeed {};
  struct Wrap {};
  Key(FromSeed, i64 seed, Location where);
  Key(Wrap, const Array& keys, Location where);
  Array keys_;
};

// The key that was saved as words.
Key key_from_words(In words);
// n new keys.
std::vector<Key> split(const Key& key, int n, Location where = Location::current());
namespace detail {
Key child(const Key& key, int index, Location where);
}
// const auto [k1, k2] = split<2>(key);
template <int N>
std::array<Key, N> split(const Key& key, Location where = Location::current()) {
  std::array<Key, N> keys;
  for (int i = 0; i < N; ++i) keys[static_cast<std::size_t>(i)] = detail::child(key, i, where);
  return keys;
}
// n new keys in one Key, to map over with vmap.
Key split_batch(const Key& key, i64 n, Location where = Location::current());
// The key for a step, an epoch, a layer: another one for each number. The number is an integer from 0 to 2^32 - 1, and
// may be traced. Child i of split is fold_in(key, i): use only one of both on a key.
Key fold_in(const Key& key, In data);

// All samplers throw ShapeError for a Key of several keys (vmap over it instead), DtypeError for a dtype they do not
// give.

struct BitsOptions {
  Dtype dtype = Dtype::u32;  // unsigned
};
// Uniform random bits.
Array bits(const Key& key, const Dims& shape, const BitsOptions& options = {}, Location where = Location::current());
struct UniformOptions {
  double low = 0, high = 1;
  Dtype dtype = Dtype::f32;  // a float
};
// Uniform in [low, high).
Array uniform(const Key& key, const Dims& shape, const UniformOptions& options = {},
              Location where = Location::current());
struct NormalOptions {
  double mean = 0, stddev = 1;
  Dtype dtype = Dtype::f32;  // a float or complex
};
// Normal. Complex numbers have independent parts, each with half the variance.
Array normal(const Key& key, const Dims& shape, const NormalOptions& options = {},
             Location where = Location::current());
struct SampleOptions {
  Dtype dtype = Dtype::f32;  // a float
};
// Normal, cut to the open interval (low, high).
Array truncated_normal(const Key& key, double low, double high, const Dims& shape, const SampleOptions& options = {},
                       Location where = Location::current());
// True with probability p, which broadcasts to `shape`.
Array bernoulli(const Key& key, In p, const Dims& shape);
struct RandintOptions {
  Dtype dtype = Dtype::i32;
};
// Integers from low to high - 1; low when the range is empty. `high` beyond the dtype means its largest value is
// included.
Array randint(const Key& key, const Dims& shape, i64 low, i64 high, const RandintOptions& options = {},
              Location where = Location::current());

struct PermutationOptions {
  int axis = 0;
  Flag independent = false;  // each lane of the array in its own order
};
// The numbers 0 .. n-1 in random order, or the entries of an array along an axis.
Array permutation(const Key& key, In n_or_array, const PermutationOptions& options = {});
struct ChoiceOptions {
  Flag replace = true;
  Array p = {};  // probabilities, not necessarily normalised; empty: all equal
  int axis = 0;
};
// Draws from 0 .. n-1, or from the entries of an array along an axis. Throws ShapeError for more draws than entries
// without replacement.
Array choice(const Key& key, In n_or_array, const Dims& shape, const ChoiceOptions& options = {});
struct CategoricalOptions {
  int axis = -1;
  std::optional<Dims> shape = {};  // of the result: leading axes for more draws, then the axes of logits but one
  Flag replace = true;
};
// Classes drawn with probability softmax(logits) along the axis: i32.
Array categorical(const Key& key, In logits, const CategoricalOptions& options = {});

// Standard distributions: Gumbel, exponential (rate 1), Laplace, logistic, Cauchy; -1 or 1 with equal probability
// (i32).
Array gumbel(const Key& key, const Dims& shape, const SampleOptions& options = {},
             Location where = Location::current());
Array exponential(const Key& key, const Dims& shape, const SampleOptions& options = {},
                  Location where = Location::current());
Array laplace(const Key& key, const Dims& shape, const SampleOptions& options = {},
              Location where = Location::current());
Array logistic(const Key& key, const Dims& shape, const SampleOptions& options = {},
               Location where = Location::current());
Array cauchy(const Key& key, const Dims& shape, const SampleOptions& options = {},
             Location where = Location::current());
Array rademacher(const Key& key, const Dims& shape, const RandintOptions& options = {},
                 Location where = Location::current());

}  // namespace uni
