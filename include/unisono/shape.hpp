// Small value types that describe shapes, axes, slices and options.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
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

// A shape: sizes by axis. Negative axes count from the end; ShapeError for an axis that is not there.
class Dims {
 public:
  using value_type = i64;
  Dims() = default;
  Dims(std::initializer_list<i64> sizes) : sizes_(sizes) {}
  explicit Dims(std::vector<i64> sizes) : sizes_(std::move(sizes)) {}
  template <class It>
  Dims(It first, It last) : sizes_(first, last) {}

  int rank() const { return static_cast<int>(sizes_.size()); }
  i64 operator[](int axis) const { return sizes_[at(axis)]; }
  i64& operator[](int axis) { return sizes_[at(axis)]; }
  // The number of elements.
  i64 count() const {
    i64 n = 1;
    for (i64 s : sizes_) n *= s;
    return n;
  }
  auto begin() const { return sizes_.begin(); }
  auto end() const { return sizes_.end(); }
  auto begin() { return sizes_.begin(); }
  auto end() { return sizes_.end(); }
  bool empty() const { return sizes_.empty(); }
  void push_back(i64 size) { sizes_.push_back(size); }
  void insert(int axis, i64 size) { sizes_.insert(sizes_.begin() + axis, size); }
  void erase(int axis) { sizes_.erase(sizes_.begin() + static_cast<std::ptrdiff_t>(at(axis))); }
  const std::vector<i64>& vector() const { return sizes_; }
  bool operator==(const Dims&) const = default;

 private:
  std::size_t at(int axis) const {
    const int from_front = axis < 0 ? axis + rank() : axis;
    if (from_front < 0 || from_front >= rank()) no_axis(axis);
    return static_cast<std::size_t>(from_front);
  }
  [[noreturn]] void no_axis(int axis) const;
  std::vector<i64> sizes_;
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
