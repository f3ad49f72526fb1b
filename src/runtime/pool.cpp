#include "runtime/pool.hpp"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::runtime {

namespace {
// One parallel region. It lives on the caller's stack until no worker looks at it any more.
struct Region {
  detail::FunctionRef<void(i64)> body;
  i64 chunks;
  std::atomic<i64> next{0}, done{0};
  std::mutex mutex;
  std::exception_ptr error;

  void work() {
    for (i64 i = next.fetch_add(1); i < chunks; i = next.fetch_add(1)) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
      done.fetch_add(1, std::memory_order_release);
    }
  }
};

thread_local bool inside_region = false;

class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;  // lives until process exit: workers may still wait
    return *pool;
  }

  int threads() {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  void resize(int count) {
    const std::lock_guard lock(mutex_);
    count_ = count;
  }

  void run(i64 chunks, detail::FunctionRef<void(i64)> body) {
    Region region{body, chunks, {}, {}, {}, {}};
    if (!publish(region)) {
      serial(chunks, body);
      return;
    }
    inside_region = true;
    region.work();
    inside_region = false;
    withdraw(region);
    if (region.error) std::rethrow_exception(region.error);
  }

  static void serial(i64 chunks, detail::FunctionRef<void(i64)> body) {
    for (i64 i = 0; i < chunks; ++i) body(i);
  }

 private:
  Pool() : count_(initial_count()) {}

  static int initial_count() {
    if (const char* text = std::getenv("UNISONO_THREADS"); text && std::atoi(text) > 0) return std::atoi(text);
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
  }

  // False when another caller's region is running: then this one works alone.
  bool publish(Region& region) {
    const std::lock_guard lock(mutex_);
    if (current_) return false;
    while (workers_ + 1 < count_)
      std::thread([this, id = workers_] { worker(id); }).detach(), ++workers_;
    current_ = &region;
    ++epoch_;
    wake_.notify_all();
    return true;
  }

  // Waits for the chunks that workers claimed, and until no worker holds the region.
  void withdraw(Region& region) {
    for (int spin = 0; region.done.load(std::memory_order_acquire) < region.chunks; ++spin)
      if (spin > spins_before_yield) std::this_thread::yield();
    std::unique_lock lock(mutex_);
    current_ = nullptr;
    idle_.wait(lock, [&] { return holders_ == 0; });
  }

  void worker(int id) {
    inside_region = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return current_ && epoch_ != seen && id + 1 < count_; });
      seen = epoch_;
      Region* region = current_;
      ++holders_;
      lock.unlock();
      region->work();
      lock.lock();
      if (--holders_ == 0) idle_.notify_all();
    }
  }

  static constexpr int spins_before_yield = 2000;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  Region* current_ = nullptr;
  std::uint64_t epoch_ = 0;
  int workers_ = 0, holders_ = 0, count_;
};
}  // namespace

void parallel_for(i64 chunks, detail::FunctionRef<void(i64)> body) {
  if (chunks <= 0) return;
  if (chunks == 1 || inside_region || Pool::instance().threads() == 1) return Pool::serial(chunks, body);
  Pool::instance().run(chunks, body);
}

int thread_count() { return Pool::instance().threads(); }
void set_thread_count(int count) {
  if (count < 1) throw Error(base::cat("set_thread_count: ", count, " threads; at least 1 is needed"));
  Pool::instance().resize(count);
}

}  // namespace uni::runtime
