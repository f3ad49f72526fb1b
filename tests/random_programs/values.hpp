// Arrays in host memory, element by element in a type that holds the elements of every dtype exactly.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/program.hpp"
#include "storage.hpp"

namespace uni::random_programs {

using Number = std::complex<long double>;

struct Block {
  Dtype dtype = Dtype::f32;
  Dims shape;
  std::vector<std::byte> bytes;

  Block() = default;
  Block(Dtype d, const Dims& s) : dtype(d), shape(s), bytes(static_cast<std::size_t>(s.count() * itemsize(d))) {}
  i64 count() const { return shape.count(); }
  Number get(i64 i) const;
  void set(i64 i, Number value);                  // rounded to the dtype
  bool operator==(const Block&) const = default;  // by bits
};
using Value = std::vector<Block>;  // by device

// Half the distance from 1 to the next number, and the smallest positive one, of the dtype's parts.
long double roundoff(Dtype dtype);
long double smallest(Dtype dtype);
long double largest(Dtype dtype);

// A source of decisions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t bits() { return state_ = mix(state_); }
  i64 number(i64 low, i64 high) {  // both included
    return low + static_cast<i64>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return number(1, 100) <= percent; }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <class C>
  const auto& of(const C& all) {
    return all[static_cast<std::size_t>(number(0, static_cast<i64>(std::size(all)) - 1))];
  }

 private:
  std::uint64_t state_;
};

// Elements of one of several ranges, most of them moderate.
Block drawn(Random& random, Dtype dtype, const Dims& shape);

}  // namespace uni::random_programs
