// Small value types that describe shapes, axes, slices and options.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <unisono/dtype.hpp>

namespace uni {

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

struct None {};  // "not split" in P, "not mapped" in in_axes
inline constexpr None none{};
struct NewAxis {};
inline constexpr NewAxis newaxis{};
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};
struct Slice {
  std::optional<i64> start, stop, step;
};
constexpr Slice slice() { return {}; }  // the whole axis
constexpr Slice slice(i64 start, i64 stop, i64 step = 1) { return {start, stop, step}; }
constexpr Slice slice(i64 start, None, i64 step = 1) { return {start, std::nullopt, step}; }
constexpr Slice slice(None, i64 stop, i64 step = 1) { return {std::nullopt, stop, step}; }
constexpr Slice slice(None, None, i64 step) { return {std::nullopt, std::nullopt, step}; }

// A boolean option that an integer cannot reach: sum(x, {0, 1}) does not compile.
class Flag {
 public:
  template <std::same_as<bool> B>
  constexpr Flag(B value) : value_(value) {}
  constexpr operator bool() const { return value_; }

 private:
  bool value_;
};

// A shape: sizes by axis. Negative axes count from the end; ShapeError for an axis that is not there. Few sizes are
// held in place.
class Dims {
 public:
  using value_type = i64;
  Dims() = default;
  Dims(std::initializer_list<i64> sizes) : Dims(sizes.begin(), sizes.end()) {}
  explicit Dims(const std::vector<i64>& sizes) : Dims(sizes.begin(), sizes.end()) {}
  template <class It>
  Dims(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  Dims(const Dims& other) : rank_(other.rank_) {
    if (other.more_)
      copy_many(other);
    else
      for (int i = 0; i < in_place; ++i) few_[i] = other.few_[i];
  }
  Dims(Dims&& other) noexcept { swap(other); }
  Dims& operator=(const Dims& other) {
    if (this == &other) return *this;
    Dims copy(other);
    swap(copy);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Dims() { delete[] more_; }

  int rank() const { return rank_; }
  i64 operator[](int axis) const { return begin()[at(axis)]; }
  i64& operator[](int axis) { return begin()[at(axis)]; }
  // The number of elements.
  i64 count() const {
    i64 n = 1;
    for (i64 s : *this) n *= s;
    return n;
  }
  const i64* begin() const { return more_ ? more_ : few_; }
  const i64* end() const { return begin() + rank_; }
  i64* begin() { return more_ ? more_ : few_; }
  i64* end() { return begin() + rank_; }
  bool empty() const { return rank_ == 0; }
  void push_back(i64 size) {
    if (rank_ >= (more_ ? room_ : in_place)) make_room();
    begin()[rank_++] = size;
  }
  void insert(int axis, i64 size) {
    push_back(size);
    for (int i = rank_ - 1; i > axis; --i) begin()[i] = begin()[i - 1];
    begin()[axis] = size;
  }
  void erase(int axis) {
    for (int i = at(axis); i + 1 < rank_; ++i) begin()[i] = begin()[i + 1];
    --rank_;
  }
  bool operator==(const Dims& other) const {
    if (rank_ != other.rank_) return false;
    for (int i = 0; i < rank_; ++i)
      if (begin()[i] != other.begin()[i]) return false;
    return true;
  }

 private:
  static constexpr int in_place = 6;
  int at(int axis) const {
    const int from_front = axis < 0 ? axis + rank_ : axis;
    if (from_front < 0 || from_front >= rank_) no_axis(axis);
    return from_front;
  }
  [[noreturn]] void no_axis(int axis) const;
  void make_room();
  void copy_many(const Dims& other);
  void swap(Dims& other) noexcept {
    std::swap(rank_, other.rank_);
    std::swap(room_, other.room_);
    std::swap(more_, other.more_);
    for (int i = 0; i < in_place; ++i) std::swap(few_[i], other.few_[i]);
  }

  int rank_ = 0, room_ = 0;  // room_: of more_
  i64* more_ = nullptr;      // all sizes, where they are many
  i64 few_[in_place] = {};
};

// Axes of an operation; none named means every axis.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, all_(false) {}
  Axes(std::initializer_list<int> axes) : axes_(axes), all_(axes.size() == 0) {}
  explicit Axes(std::vector<int> axes) : axes_(std::move(axes)), all_(false) {}
  bool all() const { return all_; }
  const std::vector<int>& vector() const { return axes_; }

 private:
  std::vector<int> axes_;
  bool all_ = true;
};

}  // namespace uni
