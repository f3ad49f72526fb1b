#include "base/small_blocks.hpp"

#include <cstdlib>
#include <new>
#include <utility>

#include "base/thread_instance.hpp"
#include <unisono/detail/handle.hpp>

namespace uni::base {

namespace {
constexpr std::size_t unit = 64, classes = largest_small_block / unit;
constexpr int most_kept = 256;  // of one size

// Checkers of memory must see every block end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keep = false;
#else
constexpr bool keep = true;
#endif

struct Free {
  Free* next;
};
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  ~Kept() {
    for (Free* list : first_)
      while (list) std::free(std::exchange(list, list->next));
  }
  void* take(std::size_t size_class) {
    Free* const block = first_[size_class];
    if (!block) return nullptr;
    first_[size_class] = block->next;
    --count_[size_class];
    return block;
  }
  bool give(void* block, std::size_t size_class) {
    if (count_[size_class] == most_kept) return false;
    first_[size_class] = new (block) Free{first_[size_class]};
    ++count_[size_class];
    return true;
  }

 private:
  Free* first_[classes] = {};
  int count_[classes] = {};
};
std::size_t class_of(std::size_t size) { return size == 0 ? 0 : (size - 1) / unit; }
}  // namespace

void* take_small_block(std::size_t size) {
  const std::size_t c = class_of(size);
  if (keep)
    if (void* block = thread_instance<Kept>().take(c)) return block;
  return std::aligned_alloc(unit, (c + 1) * unit);
}

void give_small_block(void* block, std::size_t size) noexcept {
  if (!keep || !thread_instance<Kept>().give(block, class_of(size))) std::free(block);
}

}  // namespace uni::base

namespace uni::detail {

void* Shared::operator new(std::size_t size) {
  if (size > base::largest_small_block) return ::operator new(size);
  if (void* block = base::take_small_block(size)) return block;
  throw std::bad_alloc();
}
void Shared::operator delete(void* object, std::size_t size) noexcept {
  if (size > base::largest_small_block)
    ::operator delete(object);
  else
    base::give_small_block(object, size);
}

}  // namespace uni::detail
