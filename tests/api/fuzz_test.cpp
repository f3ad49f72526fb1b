// Random operands and options: every call gives a value or a uni::Error, never an InternalError, and the value is that
// of the reference backend.
#include <random>

#include "runtime/client.hpp"

using namespace uni;

namespace {
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  int axis() { return below(7) - 3; }
  bool coin() { return below(2) == 0; }
  Dims shape(int max_rank = 4) {
    Dims out;
    for (int i = below(max_rank + 1); i > 0; --i) out.push_back(below(4));
    return out;
  }
  Dtype dtype() {
    constexpr Dtype all[] = {Dtype::f32, Dtype::f32, Dtype::f32, Dtype::i32, Dtype::b8,
                             Dtype::u8,  Dtype::f64, Dtype::c64, Dtype::bf16};
    return all[below(9)];
  }
  Array array() {
    const Dims dims = shape();
    if (below(40) == 0) return split_batch(Key(below(9)), 2).array();
    const Array values = randint(Key(below(1000)), dims, is_unsigned(dtype()) ? 0 : -3, 4);
    return astype(values, dtype());
  }
  Array like(const Array& x) { return coin() ? astype(broadcast_to(Array(below(3)), x.shape()), dtype()) : array(); }
  Array indices() { return randint(Key(below(1000)), shape(2), -4, 5); }
  Axes axes() {
    const int kind = below(3);
    return kind == 0 ? Axes() : kind == 1 ? Axes(axis()) : Axes({axis(), axis()});
  }
  IndexItem item() {
    const int kind = below(8);
    if (kind == 0) return newaxis;
    if (kind == 1) return ellipsis;
    if (kind == 2) return indices();
    if (kind == 3) return astype(randint(Key(below(99)), shape(2), 0, 2), Dtype::b8);
    if (kind == 4) return below(6) - 3;
    const auto bound = [&] { return coin() ? std::optional<i64>() : std::optional<i64>(below(9) - 4); };
    return Slice{bound(), bound(), bound()};
  }
  Index index() {
    const int count = below(4);
    if (count == 0) return Index({});
    if (count == 1) return Index({item()});
    return count == 2 ? Index({item(), item()}) : Index({item(), item(), item()});
  }

 private:
  std::mt19937 engine_;
};

using Call = std::function<Array(Random&, const Array&)>;

const std::vector<std::pair<std::string, Call>>& calls() {
  static const std::vector<std::pair<std::string, Call>> all = {
      {"add", [](Random& r, const Array& x) { return x + r.like(x); }},
      {"divide", [](Random& r, const Array& x) { return x / r.like(x); }},
      {"mod", [](Random& r, const Array& x) { return x % r.like(x); }},
      {"floor_divide", [](Random& r, const Array& x) { return floor_divide(x, r.like(x)); }},
      {"power", [](Random& r, const Array& x) { return power(x, r.like(x)); }},
      {"power_scalar", [](Random& r, const Array& x) { return power(x, r.below(5) - 2); }},
      {"maximum", [](Random& r, const Array& x) { return maximum(x, r.like(x)); }},
      {"less", [](Random& r, const Array& x) { return x < r.like(x); }},
      {"equal", [](Random& r, const Array& x) { return x == r.like(x); }},
      {"bits", [](Random& r, const Array& x) { return (x & r.like(x)) | x; }},
      {"shift", [](Random& r, const Array& x) { return x << r.like(x); }},
      {"hypot", [](Random& r, const Array& x) { return uni::hypot(x, r.like(x)); }},
      {"where", [](Random& r, const Array& x) { return where(r.like(x), x, r.like(x)); }},
      {"clip", [](Random& r, const Array& x) { return clip(x, r.like(x), 2); }},
      {"exp", [](Random&, const Array& x) { return uni::exp(x); }},
      {"abs", [](Random&, const Array& x) { return uni::abs(x); }},
      {"sign", [](Random&, const Array& x) { return sign(x); }},
      {"round", [](Random& r, const Array& x) { return uni::round(x, {.decimals = r.below(3) - 1}); }},
      {"signbit", [](Random&, const Array& x) { return uni::signbit(x); }},
      {"isnan", [](Random&, const Array& x) { return uni::isnan(x); }},
      {"angle", [](Random&, const Array& x) { return angle(x); }},
      {"astype", [](Random& r, const Array& x) { return astype(x, r.dtype()); }},
      {"bitcast", [](Random& r, const Array& x) { return bitcast(x, r.dtype()); }},
      {"isclose", [](Random& r, const Array& x) { return isclose(x, r.like(x)); }},
      {"sum", [](Random& r, const Array& x) { return sum(x, {.axis = r.axes(), .keepdims = r.coin()}); }},
      {"prod", [](Random& r, const Array& x) { return prod(x, {.axis = r.axes(), .where = r.like(x)}); }},
      {"mean", [](Random& r, const Array& x) { return mean(x, {.axis = r.axes(), .keepdims = r.coin()}); }},
      {"var", [](Random& r, const Array& x) { return var(x, {.axis = r.axes(), .ddof = 1}); }},
      {"std", [](Random& r, const Array& x) { return uni::std(x, {.axis = r.axes()}); }},
      {"max", [](Random& r, const Array& x) { return max(x, {.axis = r.axes(), .keepdims = r.coin()}); }},
      {"min", [](Random& r, const Array& x) { return min(x, {.axis = r.axes(), .initial = 1}); }},
      {"any", [](Random& r, const Array& x) { return any(x, {.axis = r.axes()}); }},
      {"argmax", [](Random& r, const Array& x) { return argmax(x, {.axis = r.axis(), .keepdims = r.coin()}); }},
      {"argmin", [](Random& r, const Array& x) { return argmin(x, {.keepdims = r.coin()}); }},
      {"median", [](Random& r, const Array& x) { return median(x, {.axis = r.axis(), .keepdims = r.coin()}); }},
      {"logsumexp", [](Random& r, const Array& x) { return logsumexp(x, {.axis = r.axes()}); }},
      {"softmax", [](Random& r, const Array& x) { return softmax(x, {.axis = r.axes()}); }},
      {"cumsum", [](Random& r, const Array& x) { return cumsum(x, {.axis = r.axis(), .reverse = r.coin()}); }},
      {"cummax", [](Random& r, const Array& x) { return cummax(x, {.axis = r.axis()}); }},
      {"reshape",
       [](Random& r, const Array& x) {
         return reshape(x, r.coin() ? r.shape() : Dims{-1, r.below(4)});
       }},
      {"transpose", [](Random& r, const Array& x) { return transpose(x, r.axes()); }},
      {"moveaxis", [](Random& r, const Array& x) { return moveaxis(x, r.axis(), r.axis()); }},
      {"expand_dims", [](Random& r, const Array& x) { return expand_dims(x, r.axes()); }},
      {"squeeze", [](Random& r, const Array& x) { return squeeze(x, r.axes()); }},
      {"broadcast_to", [](Random& r, const Array& x) { return broadcast_to(x, r.shape()); }},
      {"concatenate",
       [](Random& r, const Array& x) {
         return concatenate({x, r.like(x)}, {.axis = r.axis()});
       }},
      {"stack", [](Random& r, const Array& x) { return stack({x, r.like(x)}, {.axis = r.axis()}); }},
      {"split",
       [](Random& r, const Array& x) { return split(x, r.below(4), {.axis = r.axis(), .uneven = r.coin()})[0]; }},
      {"split_at", [](Random& r, const Array& x) { return split(x, {r.axis(), r.axis()}, {.axis = r.axis()})[1]; }},
      {"flip", [](Random& r, const Array& x) { return flip(x, r.axes()); }},
      {"roll", [](Random& r, const Array& x) { return roll(x, r.axis(), {.axis = r.axes()}); }},
      {"pad",
       [](Random& r,
          const Array&
              x) { return pad(x, {r.below(5), r.below(5)}, {.mode = static_cast<PadMode>(r.below(5)), .value = 1}); }},
      {"repeat", [](Random& r, const Array& x) { return repeat(x, r.below(3), {.axis = r.axis()}); }},
      {"tile", [](Random& r, const Array& x) { return tile(x, {r.below(3), r.below(3)}); }},
      {"tril", [](Random& r, const Array& x) { return tril(x, {.offset = r.axis()}); }},
      {"take",
       [](Random& r,
          const Array&
              x) { return take(x, r.indices(), {.axis = r.axis(), .mode = static_cast<OutOfBounds>(r.below(5))}); }},
      {"take_along_axis", [](Random& r, const Array& x) { return take_along_axis(x, r.indices(), r.axis()); }},
      {"one_hot", [](Random& r, const Array& x) { return one_hot(x, r.below(4), {.axis = r.axis()}); }},
      {"dynamic_slice",
       [](Random& r, const Array& x) { return dynamic_slice(x, {r.axis(), r.axis()}, {1, r.below(3)}); }},
      {"segment_sum", [](Random& r, const Array& x) { return segment_sum(x, r.indices(), r.below(4)); }},
      {"nonzero", [](Random& r, const Array& x) { return nonzero(x, {.size = r.below(4)}).at(0); }},
      {"searchsorted", [](Random& r, const Array& x) { return searchsorted(sort(x), r.like(x)); }},
      {"diagonal",
       [](Random& r,
          const Array& x) { return diagonal(x, {.offset = r.axis(), .axis1 = r.axis(), .axis2 = r.axis()}); }},
      {"diag", [](Random& r, const Array& x) { return diag(x, {.offset = r.axis()}); }},
      {"diff", [](Random& r, const Array& x) { return diff(x, {.order = r.below(3), .axis = r.axis()}); }},
      {"unravel_index", [](Random& r, const Array& x) { return stack(unravel_index(x, r.shape())); }},
      {"sort", [](Random& r, const Array& x) { return sort(x, {.axis = r.axis(), .descending = r.coin()}); }},
      {"argsort", [](Random& r, const Array& x) { return argsort(x, {.axis = r.axis()}); }},
      {"top_k", [](Random& r, const Array& x) { return top_k(x, r.below(3)).values; }},
      {"matmul", [](Random& r, const Array& x) { return matmul(x, r.coin() ? matrix_transpose(x) : r.like(x)); }},
      {"dot", [](Random& r, const Array& x) { return dot(x, r.like(x)); }},
      {"tensordot", [](Random& r, const Array& x) { return tensordot(x, r.like(x), r.below(3)); }},
      {"einsum", [](Random& r, const Array& x) { return einsum("...ij,...j->...i", x, r.like(x)); }},
      {"einsum_diagonal", [](Random&, const Array& x) { return einsum("...ii", x); }},
      {"conv",
       [](Random& r,
          const Array&
              x) { return conv(x, r.array(), {.stride = 1 + r.below(2), .padding = r.coin() ? "SAME" : "VALID"}); }},
      {"max_pool", [](Random& r, const Array& x) { return max_pool(x, 1 + r.below(2), {.stride = 1 + r.below(2)}); }},
      {"index", [](Random& r, const Array& x) { return x[r.index()]; }},
      {"get", [](Random& r, const Array& x) { return x.at(r.index()).get({.mode = OutOfBounds::fill}); }},
      {"set", [](Random& r, const Array& x) { return x.at(r.index()).set(r.below(3)); }},
      {"set_array", [](Random& r, const Array& x) { return x.at(r.index()).add(r.array()); }},
      {"at_max",
       [](Random& r, const Array& x) { return x.at(r.index()).max(r.below(3), {.mode = OutOfBounds::clip}); }},
      {"permutation", [](Random& r, const Array& x) { return permutation(Key(1), x, {.axis = r.axis()}); }},
      {"categorical", [](Random& r, const Array& x) { return categorical(Key(1), x, {.axis = r.axis()}); }},
      {"choice", [](Random& r, const Array& x) { return choice(Key(1), x, r.shape(2), {.replace = r.coin()}); }},
      {"linspace", [](Random& r, const Array& x) { return linspace(x, r.like(x), r.below(4)); }},
  };
  return all;
}

struct Outcome {
  std::string what;  // "ok", "error", or the text of what must not happen
  Array value;
};
Outcome outcome(const Call& call, unsigned seed) {
  Random r(seed);
  try {
    const Array x = r.array();
    const Array y = call(r, x);
    return {to_string(y).empty() ? "an empty text" : "ok", y};
  } catch (const InternalError& e) {
    return {e.what(), {}};
  } catch (const Error& e) {
    return {std::string(e.what()).empty() ? "an error without text" : "error", {}};
  } catch (const std::exception& e) {
    return {std::string("not a uni::Error: ") + e.what(), {}};
  }
}

bool same_values(const Array& a, const Array& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  if (a.dtype() == Dtype::key) return array_equal(a, b).item<bool>();
  const double tolerance = a.dtype() == Dtype::bf16 ? 1e-2 : 1e-5;
  return allclose(a, b, {.rtol = tolerance, .atol = tolerance, .equal_nan = true}).item<bool>();
}

TEST(Fuzz, EveryCallGivesAValueOrAnErrorOnEveryBackend) {
  constexpr unsigned tries = 60;
  runtime::Client& client = runtime::default_client();
  for (const auto& [name, call] : calls()) {
    int values = 0;
    for (unsigned seed = 0; seed < tries; ++seed) {
      const Outcome got = outcome(call, seed);
      runtime::set_default_client(runtime::reference_client());
      const Outcome expected = outcome(call, seed);
      runtime::set_default_client(client);
      values += got.what == "ok" ? 1 : 0;
      EXPECT_TRUE(got.what == "ok" || got.what == "error") << name << " with seed " << seed << ": " << got.what;
      EXPECT_EQ(got.what, expected.what) << name << " with seed " << seed;
      if (got.what != "ok" || expected.what != "ok") continue;
      EXPECT_TRUE(same_values(got.value, expected.value)) << name << " with seed " << seed << ":\n"
                                                          << got.value << "\nreference:\n"
                                                          << expected.value;
    }
    EXPECT_GT(values, 0) << name << " never gives a value";
  }
}
// f on x with the other operands that the seed gives; an empty Array for an error. InternalErrors pass through.
Array value_or_nothing(const std::function<Array()>& f) {
  try {
    return f();
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return {};
  }
}

// Calls on lanes of a batch, and their values one by one. How many comparisons there were.
int compare_lanes(const std::string& name, const Call& call, unsigned seed) {
  Random first(seed);
  const Array x = first.array();
  const Array lanes[] = {x, flip(x), roll(x, 1)};
  const auto f = [&](const Array& a) {
    Random r = first;  // the same operands for every lane
    return call(r, a);
  };
  Arrays alone;
  for (const Array& lane : lanes) alone.push_back(value_or_nothing([&] { return f(lane); }));
  if (!alone[0].defined() || !alone[1].defined() || !alone[2].defined()) return 0;
  const Array batch = stack({lanes[0], lanes[1], lanes[2]});
  const Array mapped = value_or_nothing([&] { return vmap(f)(batch); });
  if (!mapped.defined()) return 0;
  EXPECT_TRUE(same_values(mapped, stack(alone))) << name << " with seed " << seed << " under vmap:\n"
                                                 << mapped << "\nalone:\n"
                                                 << stack(alone);
  const Array jitted = value_or_nothing([&] { return jit(f)(x); });
  if (!jitted.defined()) return 1;
  EXPECT_TRUE(same_values(jitted, alone[0])) << name << " with seed " << seed << " under jit:\n"
                                             << jitted << "\nwithout:\n"
                                             << alone[0];
  return 2;
}

TEST(Fuzz, VmapAndJitGiveTheSameValues) {
  for (const auto& [name, call] : calls()) {
    int compared = 0;
    for (unsigned seed = 0; seed < 120; ++seed) {
      SCOPED_TRACE(name);
      ASSERT_NO_THROW(compared += compare_lanes(name, call, seed)) << " with seed " << seed;
    }
    EXPECT_GT(compared, 0) << name << " never gives a value under vmap";
  }
}
// Forward and reverse mode are transposes of each other: <ct, J v> is <J^T ct, v>.
int compare_modes(const std::string& name, const Call& call, unsigned seed) {
  Random first(seed);
  const Array drawn = first.array();
  if (drawn.dtype() == Dtype::key) return 0;
  const Array x = astype(real(drawn), Dtype::f64) + 0.25;
  const auto f = [&](const Array& a) {
    Random r = first;
    return call(r, a);
  };
  const Array y = value_or_nothing([&] { return f(x); });
  if (!y.defined() || y.dtype() != Dtype::f64 || x.size() == 0) return 0;
  const Array v = normal(Key(1), x.shape(), {.dtype = Dtype::f64}),
              ct = normal(Key(2), y.shape(), {.dtype = Dtype::f64});
  const double forward = sum(ct * jvp(f, x, v).second).item<double>();
  const double reverse = sum(grad([&](const Array& a) { return sum(ct * f(a)); })(x) * v).item<double>();
  if (!std::isfinite(forward) && !std::isfinite(reverse)) return 0;
  EXPECT_NEAR(forward, reverse, 1e-9 * (1 + std::abs(forward))) << name << " with seed " << seed;
  return 1;
}

TEST(Fuzz, ReverseModeIsTheTransposeOfForwardMode) {
  for (const auto& [name, call] : calls()) {
    SCOPED_TRACE(name);
    for (unsigned seed = 0; seed < 40; ++seed)
      ASSERT_NO_THROW(compare_modes(name, call, seed)) << " with seed " << seed;
  }
}
}  // namespace
