#include <numeric>
#include <utility>

#include "base/text.hpp"
#include <unisono/data.hpp>
#include <unisono/error.hpp>

namespace uni::data {

namespace {
// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform below `bound`: draws in the incomplete last block are thrown away.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % bound;
  }

 private:
  std::uint64_t state_;
};
}  // namespace

std::vector<i64> shuffled_indices(i64 n, std::uint64_t seed, std::uint64_t epoch) {
  if (n < 0) throw ShapeError(base::cat("shuffled_indices: ", n, " elements"));
  std::vector<i64> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), i64{0});
  SplitMix random(SplitMix(seed).next() ^ SplitMix(epoch + 0x5851f42d4c957f2du).next());
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace uni::data
