// Stable sorting by several keys: keys become unsigned numbers of the same order, and a permutation is sorted by the
// last key first. Long rows are sorted by digits, short ones by comparison. The k largest are selected.
#include <algorithm>
#include <array>
#include <numeric>

#include "backend/native/walk.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// NaN is the largest, and -0 equals 0.
template <class T>
auto ordered(T v) {
  if constexpr (is_float_like<T>) {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                 std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
    const auto value = static_cast<Work<T>>(v);
    if (value != value) return static_cast<U>(~U{0});
    const U bits = value == 0 ? U{0} : __builtin_bit_cast(U, v);
    return static_cast<U>(bits & sign ? ~bits : bits | sign);
  } else if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::uint8_t>(v);
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(static_cast<U>(v) ^ (std::is_signed_v<T> ? U{1} << (8 * sizeof(T) - 1) : U{0}));
  }
}

struct Wide {
  std::uint64_t key;
  i64 position;
  std::uint64_t digits() const { return key; }
  i64 place() const { return position; }
  bool operator<(const Wide& o) const { return key != o.key ? key < o.key : position < o.position; }
};
struct Narrow {  // key of up to 32 bits above a position of 32 bits
  std::uint64_t both;
  std::uint64_t digits() const { return both >> 32; }
  i64 place() const { return static_cast<i64>(both & 0xffffffffu); }
  bool operator<(const Narrow& o) const { return both < o.both; }
};

constexpr i64 by_digits_from = 2048;
constexpr int digit_bits = 11, digit_values = 1 << digit_bits;
// Least significant digit first; digits that are the same in all keys are skipped.
template <class E>
void sort_by_digits(std::vector<E>& items, std::vector<E>& other, int key_bits) {
  for (int shift = 0; shift < key_bits; shift += digit_bits) {
    std::array<i64, digit_values> first{};
    const auto digit = [&](const E& e) { return at(static_cast<i64>(e.digits() >> shift & (digit_values - 1))); };
    for (const E& e : items) ++first[digit(e)];
    if (first[digit(items[0])] == static_cast<i64>(items.size())) continue;
    i64 sum = 0;
    for (i64& f : first) sum += std::exchange(f, sum);
    for (const E& e : items) other[at(first[digit(e)]++)] = e;
    items.swap(other);
  }
}
template <class E>
void sort_items(std::vector<E>& items, std::vector<E>& other, int key_bits) {
  if (static_cast<i64>(items.size()) < by_digits_from) return std::sort(items.begin(), items.end());
  other.resize(items.size());
  sort_by_digits(items, other, key_bits);
}

// What one thread needs for one row.
struct Scratch {
  std::vector<i64> order, next;
  std::vector<Narrow> narrow, narrow_other;
  std::vector<Wide> wide, wide_other;
};

// Sorts the permutation by the keys that `key_of` gives, stably.
template <class KeyOf>
void sort_order(Scratch& s, const KeyOf& key_of) {
  using U = decltype(key_of(i64{}));
  const i64 n = static_cast<i64>(s.order.size());
  s.next.resize(s.order.size());
  if (sizeof(U) <= 4 && n < (i64{1} << 32)) {
    s.narrow.resize(s.order.size());
    for (i64 i = 0; i < n; ++i)
      s.narrow[at(i)] = {static_cast<std::uint64_t>(key_of(s.order[at(i)])) << 32 | static_cast<std::uint64_t>(i)};
    sort_items(s.narrow, s.narrow_other, 8 * static_cast<int>(sizeof(U)));
    for (i64 i = 0; i < n; ++i) s.next[at(i)] = s.order[at(s.narrow[at(i)].place())];
  } else {
    s.wide.resize(s.order.size());
    for (i64 i = 0; i < n; ++i) s.wide[at(i)] = {key_of(s.order[at(i)]), i};
    sort_items(s.wide, s.wide_other, 8 * static_cast<int>(sizeof(U)));
    for (i64 i = 0; i < n; ++i) s.next[at(i)] = s.order[at(s.wide[at(i)].position)];
  }
  s.order.swap(s.next);
}
void sort_by(Scratch& s, const View& key, i64 base, i64 step) {
  dispatch(key.type->dtype, [&]<class T>(T) {
    const T* x = key.as<T>() + base;
    if constexpr (!is_complex_like<T> && !std::is_same_v<T, KeyWords>)
      sort_order(s, [&](i64 i) { return ordered(x[i * step]); });
  });
}

template <class T>
void permute(const std::vector<i64>& order, const std::byte* in, std::byte* out, i64 step) {
  const T* x = reinterpret_cast<const T*>(in);
  T* y = reinterpret_cast<T*>(out);
  for (std::size_t i = 0; i < order.size(); ++i) y[static_cast<i64>(i) * step] = x[order[i] * step];
}
void permute(const std::vector<i64>& order, const View& in, const View& out, i64 base, i64 step) {
  const i64 item = itemsize(in.type->dtype);
  const std::byte* from = in.data + base * item;
  std::byte* to = out.data + base * item;
  switch (item) {
    case 1:
      return permute<std::uint8_t>(order, from, to, step);
    case 2:
      return permute<std::uint16_t>(order, from, to, step);
    case 4:
      return permute<std::uint32_t>(order, from, to, step);
    case 8:
      return permute<std::uint64_t>(order, from, to, step);
    default:
      return permute<C128>(order, from, to, step);
  }
}

void sort(const KernelArgs& a) {
  const auto& p = a.params.as<ops::Sort>();
  const Dims& shape = a.in[0].shape();
  const i64 n = shape[p.axis], step = row_strides(shape)[at(p.axis)];
  if (a.in[0].count() == 0) return;
  chunked(a.in[0].count() / n, n * 64, [&](i64 begin, i64 end) {
    Scratch s;
    for (i64 lane = begin; lane < end; ++lane) {
      const i64 base = lane / step * step * n + lane % step;
      s.order.resize(at(n));
      std::iota(s.order.begin(), s.order.end(), i64{0});
      for (int k = p.keys; k-- > 0;) sort_by(s, a.in[at(k)], base, step);
      for (std::size_t k = 0; k < a.in.size(); ++k) permute(s.order, a.in[k], a.out[k], base, step);
    }
  });
}

// The k first items of those that come in: twice as many are kept, and the worse half is dropped when they are full.
template <class E>
class Best {
 public:
  explicit Best(i64 k) : k_(k), most_(2 * k + 64) { items_.reserve(at(most_)); }
  void clear() {
    items_.clear();
    bounded_ = false;
  }
  void add(const E& item) {
    if (bounded_ && !(item < bound_)) return;
    items_.push_back(item);
    if (static_cast<i64>(items_.size()) == most_) drop();
  }
  // In order.
  std::span<const E> items() {
    if (static_cast<i64>(items_.size()) > k_) drop();
    std::sort(items_.begin(), items_.end());
    return items_;
  }

 private:
  void drop() {
    std::nth_element(items_.begin(), items_.begin() + k_, items_.end());
    bound_ = items_[at(k_)];
    bounded_ = true;
    items_.resize(at(k_));
  }
  i64 k_, most_;
  std::vector<E> items_;
  E bound_{};
  bool bounded_ = false;
};

// Falling order is rising order of the complements.
template <class T>
void top_k_lanes(const View& x, const View& values, const View& indices, i64 k, i64 begin, i64 end) {
  using U = decltype(ordered(T{}));
  using E = std::conditional_t<sizeof(U) <= 4, Narrow, Wide>;
  const i64 n = x.shape()[-1];
  Best<E> best(k);
  for (i64 lane = begin; lane < end; ++lane) {
    const T* from = x.as<T>() + lane * n;
    best.clear();
    for (i64 i = 0; i < n; ++i) {
      const auto key = static_cast<U>(~ordered(from[i]));
      if constexpr (sizeof(U) <= 4)
        best.add({static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint64_t>(i)});
      else
        best.add({key, i});
    }
    i64 place = lane * k;
    for (const E& e : best.items()) {
      const i64 i = e.place();
      values.as<T>()[place] = from[i];
      indices.as<std::int32_t>()[place++] = static_cast<std::int32_t>(i);
    }
  }
}
void top_k(const KernelArgs& a) {
  const View& x = a.in[0];
  const i64 n = x.shape()[-1], k = a.params.as<ops::TopK>().k;
  if (a.out[0].count() == 0) return;
  dispatch(x.type->dtype, [&]<class T>(T) {
    if constexpr (!is_complex_like<T> && !std::is_same_v<T, KeyWords>)
      chunked(x.count() / n, n * 8, [&](i64 begin, i64 end) { top_k_lanes<T>(x, a.out[0], a.out[1], k, begin, end); });
  });
}

constexpr KernelEntry entries[] = {{&ops::sort, sort}, {&ops::top_k, top_k}};
}  // namespace

std::span<const KernelEntry> sort_kernels() { return entries; }

}  // namespace uni::native
