// An intrusive reference-counted handle (cheaper to compile and to copy than shared_ptr) and a function reference.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace uni::detail {

// Base of shared objects. The count starts at zero; Handle owns.
class Shared {
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  virtual ~Shared() = default;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  int use_count() const { return count_.load(std::memory_order_acquire); }
  // From blocks that each thread keeps.
  static void* operator new(std::size_t size);
  static void operator delete(void* object, std::size_t size) noexcept;

 private:
  mutable std::atomic<int> count_{0};
};

// T may be incomplete wherever only moves, copies of null handles and declarations are seen; `retain_shared` and
// `release_shared` are out of line in array.cpp for the public classes.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(std::nullptr_t) {}
  explicit Handle(T* p) : p_(p) { retain(); }
  Handle(const Handle& o) : p_(o.p_) { retain(); }
  Handle(Handle&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> Handle(const Handle<U>& o) : p_(o.get()) { retain(); }
  ~Handle() { drop(); }
  Handle& operator=(const Handle& o) {
    Handle(o).swap(*this);
    return *this;
  }
  Handle& operator=(Handle&& o) noexcept {
    Handle(std::move(o)).swap(*this);
    return *this;
  }
  void swap(Handle& o) noexcept { std::swap(p_, o.p_); }
  T* get() const { return p_; }
  T& operator*() const { return *p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Handle& a, const Handle& b) { return a.p_ == b.p_; }

 private:
  void retain() const {
    if (p_) p_->retain();
  }
  void drop() {
    if (p_) p_->release();
  }
  T* p_ = nullptr;
};
template <class T, class... A>
Handle<T> make_handle(A&&... a) {
  return Handle<T>(new T(std::forward<A>(a)...));
}

// A non-owning reference to a callable, for passing closures through out-of-line code.
template <class Signature>
class FunctionRef;
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, A...>)
      FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* o, A... a) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(o))(std::forward<A>(a)...);
        }) {}
  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

}  // namespace uni::detail
