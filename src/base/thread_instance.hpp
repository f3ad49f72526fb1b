// One object per thread that may be used at any time, also while statics are destroyed: after the thread's own ones
// died, a new one is made and left alone.
#pragma once

namespace uni::base {

template <class T>
T& thread_instance() {
  static thread_local T* instance = nullptr;  // needs no destruction
  struct Owner {
    ~Owner() {
      delete instance;
      instance = nullptr;
    }
  };
  static thread_local Owner owner;
  if (!instance) instance = new T;
  return *instance;
}

}  // namespace uni::base
