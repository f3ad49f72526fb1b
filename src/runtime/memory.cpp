#include "runtime/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "base/small_blocks.hpp"

namespace uni::runtime {

namespace {
constexpr std::size_t large = std::size_t{1} << 20, huge_page = std::size_t{1} << 21;

// Large sizes are rounded up by at most an eighth, so that blocks fit each other more often.
std::size_t rounded(i64 bytes) {
  const std::size_t size = std::max<std::size_t>(static_cast<std::size_t>(bytes), 1);
  const std::size_t unit = size < large ? 64 : std::max(std::bit_floor(size) / 8, large / 8);
  return (size + unit - 1) / unit * unit;
}

std::byte* fresh(std::size_t size) {
  void* memory = nullptr;
  if (posix_memalign(&memory, size < 2 * huge_page ? 64 : huge_page, size) != 0) return nullptr;
  auto* data = static_cast<std::byte*>(memory);
  // Without huge pages, where the system has none, everything works more slowly.
  if (size >= 2 * huge_page) madvise(data, size, MADV_HUGEPAGE);
  return data;
}

class Kept {
 public:
  std::byte* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto it = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& b) { return b.size == size; });
    if (it == blocks_.rend()) return nullptr;
    std::byte* data = it->data;
    bytes_ -= size;
    blocks_.erase(std::next(it).base());
    return data;
  }
  void give(std::byte* data, std::size_t size) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({data, size});
    bytes_ += size;
    while (bytes_ > most()) drop_oldest();
  }
  void drop_all() {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
  };
  void drop_oldest() {
    std::free(blocks_.front().data);
    bytes_ -= blocks_.front().size;
    blocks_.pop_front();
  }
  // An eighth of the machine's memory, 1 GiB at most.
  static std::size_t most() {
    static const std::size_t bytes = [] {
      const std::size_t all = static_cast<std::size_t>(std::max(0L, sysconf(_SC_PHYS_PAGES))) *
                              static_cast<std::size_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
      return std::min(all / 8, std::size_t{1} << 30);
    }();
    return bytes;
  }
  std::mutex mutex_;
  std::deque<Block> blocks_;  // oldest first
  std::size_t bytes_ = 0;
};
Kept& kept() {
  static Kept* const k = new Kept;  // static arrays give memory back at the end of the process
  return *k;
}

// Checkers of memory must see every array end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keep = false;
#else
constexpr bool keep = true;
#endif
}  // namespace

std::byte* take_memory(i64 bytes) {
  const std::size_t size = rounded(bytes);
  if (size < static_cast<std::size_t>(bytes)) return nullptr;
  if (size <= base::largest_small_block) return static_cast<std::byte*>(base::take_small_block(size));
  if (size < large || !keep) return fresh(size);
  if (std::byte* data = kept().take(size)) return data;
  if (std::byte* data = fresh(size)) return data;
  kept().drop_all();
  return fresh(size);
}

void give_memory(std::byte* data, i64 bytes) {
  const std::size_t size = rounded(bytes);
  if (size <= base::largest_small_block) return base::give_small_block(data, size);
  if (size < large || !keep) return std::free(data);
  kept().give(data, size);
}

}  // namespace uni::runtime
