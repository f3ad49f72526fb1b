// Samplers that choose among entries.
#include <unisono/random.hpp>

#include <cmath>
#include <limits>

#include "api/fail.hpp"
#include "api/named_axes.hpp"
#include "api/promote.hpp"
#include "api/random_helpers.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/random.hpp"
#include "ops/structural.hpp"
#include <unisono/creation.hpp>
#include <unisono/indexing.hpp>
#include <unisono/reduction.hpp>
#include <unisono/sorting.hpp>

namespace uni {

using namespace api;

namespace {
// Sorts by random bits, often enough that equal bits are of no account.
Array shuffled(Array key, Array x, int axis) {
  const double rounds = std::ceil(3 * std::log(static_cast<double>(std::max<i64>(1, x.size()))) /
                                  std::log(static_cast<double>(std::numeric_limits<std::uint32_t>::max())));
  for (int round = 0; round < static_cast<int>(rounds); ++round) {
    const Array sub = lax::random_fold_in(key, lax::full_int(1, Dtype::u32, {}));
    key = lax::random_fold_in(key, lax::full_int(0, Dtype::u32, {}));
    const Array operands[] = {lax::random_bits(sub, 32, x.shape()), x};
    x = lax::sort(operands, axis, 1)[1];
  }
  return x;
}

bool is_count(const In& x) { return x.is_scalar() || shape_of(x).rank() == 0; }

i64 count_of(std::string_view who, const In& x) {
  if (!x.is_scalar())
    fail<ShapeError>(base::cat(who, ": an array of rank 0 has no entries"), "pass a number for 0 .. n-1");
  const detail::HostScalar s = x.scalar();
  if (s.kind != detail::HostScalar::Kind::integer && s.kind != detail::HostScalar::Kind::natural)
    fail<DtypeError>(base::cat(who, ": the number of entries is an integer"));
  if (s.i < 0) fail<ShapeError>(base::cat(who, ": ", s.i, " entries"));
  return s.i;
}

Array numbered(i64 n) { return lax::iota(Dtype::i32, {n}, 0); }
}  // namespace

Array permutation(const Key& key, In n_or_array, const PermutationOptions& options) {
  const core::At at(n_or_array.where());
  const Array& one = single_key("permutation", key);
  if (is_count(n_or_array)) return shuffled(one, numbered(count_of("permutation", n_or_array)), 0);
  const Array a = as_array("permutation", n_or_array);
  const int axis = resolve_axis("permutation", options.axis, core::type_of(a));
  if (options.independent) return shuffled(one, a, axis);
  return take(a, shuffled(one, numbered(a.shape()[axis]), 0), {.axis = axis, .mode = OutOfBounds::clip});
}

namespace {
// The first `draws` of all entries, best score first.
Array best_scores(const Array& scores, i64 draws) { return lax::slice_axis(argsort(lax::neg(scores)), 0, 0, draws); }

Array chosen_indices(const Key& key, i64 n, const Dims& shape, const ChoiceOptions& options) {
  const Array& one = single_key("choice", key);
  check_shape("choice", shape);
  const i64 draws = shape.count();
  if (n == 0 && draws != 0) fail<ShapeError>("choice: there are no entries to draw from");
  if (!options.replace && draws > n)
    fail<ShapeError>(base::cat("choice: ", draws, " draws without replacement from ", n, " entries"));
  if (!options.p.defined()) {
    if (options.replace) return randint(key, shape, 0, n, {}, core::current_location());
    return lax::reshape(lax::slice_axis(shuffled(one, numbered(n), 0), 0, 0, draws), shape);
  }
  const Array p = as_inexact("choice", In(options.p, core::current_location()));
  if (!(p.shape() == Dims{n}))
    fail<ShapeError>(base::cat("choice: probabilities of shape ", p.shape(), " for ", n, " entries"));
  require_float("choice", p.dtype());
  if (!options.replace) {
    const Array scores = lax::add(gumbel_values(one, p.dtype(), {n}), lax::log(p));
    return lax::reshape(best_scores(scores, draws), shape);
  }
  const Array running = cumsum(p, {.axis = 0});
  const Array total = lax::broadcast_to(lax::reshape(lax::slice_axis(running, 0, n - 1, n), {}), shape);
  const Array rest = lax::sub(lax::full(1, p.dtype(), shape), unit_uniform(one, p.dtype(), shape));
  return searchsorted(running, lax::mul(total, rest));
}
}  // namespace

Array choice(const Key& key, In n_or_array, const Dims& shape, const ChoiceOptions& options) {
  const core::At at(n_or_array.where());
  if (is_count(n_or_array)) return chosen_indices(key, count_of("choice", n_or_array), shape, options);
  const Array a = as_array("choice", n_or_array);
  const int axis = resolve_axis("choice", options.axis, core::type_of(a));
  const Array indices = chosen_indices(key, a.shape()[axis], shape, options);
  return take(a, indices, {.axis = axis, .mode = OutOfBounds::clip});
}

Array categorical(const Key& key, In logits, const CategoricalOptions& options) {
  const core::At at(logits.where());
  const Array& one = single_key("categorical", key);
  const Array a = as_inexact("categorical", logits);
  require_float("categorical", a.dtype());
  const ir::Type& type = core::type_of(a);
  const int axis = resolve_axis("categorical", options.axis, type);
  Dims rest = type.shape;
  rest.erase(axis);
  const Dims shape = options.shape.value_or(rest);
  check_shape("categorical", shape);
  const int extra = shape.rank() - rest.rank();
  bool fits = extra >= 0;
  for (int i = 0; fits && i < rest.rank(); ++i) fits = shape[extra + i] == rest[i];
  if (!fits) fail<ShapeError>(base::cat("categorical: the shape ", shape, " does not end with ", rest));
  if (type.shape[axis] == 0 && shape.count() != 0) fail<ShapeError>("categorical: there are no classes to draw from");
  if (options.replace) {
    Dims full(shape.begin(), shape.begin() + extra);
    for (i64 size : type.shape) full.push_back(size);
    const Array scores = lax::add(gumbel_values(one, a.dtype(), full), lax::broadcast_to(a, full));
    return lax::argmax(scores, extra + axis);
  }
  i64 draws = 1;
  for (int i = 0; i < extra; ++i) draws *= shape[i];
  if (draws > type.shape[axis])
    fail<ShapeError>(
        base::cat("categorical: ", draws, " draws without replacement from ", type.shape[axis], " classes"));
  const Array scores = lax::add(gumbel_values(one, a.dtype(), type.shape), a);
  const Array order = argsort(lax::neg(scores), {.axis = axis});
  return lax::reshape(lax::move_axis(lax::slice_axis(order, axis, 0, draws), axis, 0), shape);
}

}  // namespace uni
