// A vector whose first element lies in place: lists that nearly always have one element.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <new>
#include <utility>

namespace uni::base {

template <class T>
class ShortVector {
 public:
  using value_type = T;
  ShortVector() = default;
  ShortVector(std::size_t n, const T& value) {
    reserve(n);
    for (std::size_t i = 0; i < n; ++i) push_back(value);
  }
  ShortVector(std::initializer_list<T> values) {
    reserve(values.size());
    for (const T& value : values) push_back(value);
  }
  ShortVector(const ShortVector& other) {
    reserve(other.size_);
    for (const T& value : other) push_back(value);
  }
  ShortVector(ShortVector&& other) noexcept { take(other); }
  ShortVector& operator=(ShortVector other) noexcept {
    release();
    take(other);
    return *this;
  }
  ~ShortVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  void push_back(T value) {
    if (size_ == room_) reserve(2 * room_);
    new (data_ + size_) T(std::move(value));
    ++size_;
  }
  void pop_back() { data_[--size_].~T(); }
  void reserve(std::size_t room) {
    if (room <= room_) return;
    T* const more = static_cast<T*>(::operator new(room * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) {
      new (more + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (data_ != first()) ::operator delete(data_);
    data_ = more;
    room_ = room;
  }
  void clear() {
    for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
    size_ = 0;
  }

 private:
  T* first() { return reinterpret_cast<T*>(in_place_); }
  void release() {
    clear();
    if (data_ != first()) ::operator delete(data_);
    data_ = first();
    room_ = 1;
  }
  // Of an empty one.
  void take(ShortVector& other) {
    if (other.data_ == other.first()) {
      if (other.size_ == 1) push_back(std::move(other.data_[0]));
      other.clear();
      return;
    }
    data_ = std::exchange(other.data_, other.first());
    size_ = std::exchange(other.size_, 0);
    room_ = std::exchange(other.room_, 1);
  }

  alignas(T) std::byte in_place_[sizeof(T)];
  T* data_ = first();
  std::size_t size_ = 0, room_ = 1;
};

}  // namespace uni::base
