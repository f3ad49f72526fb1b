#include "runtime/pool.hpp"

#include <sched.h>

#include <algorithm>
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
using Body = detail::FunctionRef<void(i64)>;

thread_local bool inside_chunk = false;

// A hint to the processor that this thread only waits.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int initial_count() {
  if (const char* text = std::getenv("UNISONO_THREADS")) {
    char* end = nullptr;
    const long count = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 4096)
      throw Error(base::cat("UNISONO_THREADS: \"", text, "\" is no number of threads from 1 to 4096"));
    return static_cast<int>(count);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void serial(i64 chunks, const Body& body) {
  for (i64 i = 0; i < chunks; ++i) body(i);
}

class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;  // lives until process exit: workers may still wait
    return *pool;
  }

  int threads() const { return count_.load(std::memory_order_relaxed); }
  void resize(int count) {
    const std::lock_guard owner(owner_);
    count_ = count;
  }

  void run(i64 chunks, const Body& body) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return serial(chunks, body);  // another caller's region uses the workers
    for (const int count = threads(); workers_ + 1 < count; ++workers_)
      std::thread([this, id = workers_] { worker(id); }).detach();
    publish(static_cast<std::uint32_t>(chunks), body);
    inside_chunk = true;
    work();
    inside_chunk = false;
    wait_for_claimed(chunks);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  Pool() : count_(initial_count()) {}

  // The word holds the number of the region above and the chunks that nobody has claimed below. A thread that reads
  // body_ and chunks_ of a later region than its word is of fails to exchange the word, because the number differs.
  void publish(std::uint32_t chunks, const Body& body) {
    body_.store(&body, std::memory_order_relaxed);
    chunks_.store(chunks, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t region = (word_.load(std::memory_order_relaxed) >> 32) + 1;
    word_.store(region << 32 | chunks);
    if (parked_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }

  // Claims and runs chunks until none is left; true when there was one.
  bool work() {
    bool any = false;
    std::uint64_t word = word_.load(std::memory_order_acquire);
    while (unclaimed(word) != 0) {
      const Body* body = body_.load(std::memory_order_relaxed);
      const i64 chunk = chunks_.load(std::memory_order_relaxed) - unclaimed(word);
      if (!word_.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      any = true;
      try {
        (*body)(chunk);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
      done_.fetch_add(1, std::memory_order_release);
      word = word_.load(std::memory_order_acquire);
    }
    return any;
  }
  static i64 unclaimed(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

  void wait_for_claimed(i64 chunks) const {
    for (int spin = 0; done_.load(std::memory_order_acquire) < chunks; ++spin)
      if (spin < spins)
        pause();
      else
        std::this_thread::yield();
  }

  void worker(int id) {
    inside_chunk = true;
    const auto active = [&] { return id + 1 < threads(); };
    for (int idle = 0;;) {
      if (active() && work())
        idle = 0;
      else if (++idle < spins)
        pause();
      else
        park(active), idle = 0;
    }
  }
  template <class Active>
  void park(const Active& active) {
    std::unique_lock lock(mutex_);
    ++parked_;
    wake_.wait(lock, [&] { return active() && unclaimed(word_.load()) != 0; });
    --parked_;
  }

  static constexpr int spins = 2000;  // about 0.1 ms
  alignas(64) std::atomic<std::uint64_t> word_{0};
  alignas(64) std::atomic<i64> done_{0};
  alignas(64) std::atomic<const Body*> body_{nullptr};
  std::atomic<i64> chunks_{0};
  std::atomic<int> count_, parked_{0};
  std::mutex owner_;  // of the one region at a time
  std::mutex mutex_;  // of the threads that sleep, and of error_
  std::condition_variable wake_;
  std::exception_ptr error_;
  int workers_ = 0;
};
}  // namespace

void parallel_for(i64 chunks, Body body) {
  if (chunks <= 0) return;
  if (chunks == 1 || inside_chunk || Pool::instance().threads() == 1) return serial(chunks, body);
  constexpr i64 at_once = i64{1} << 31;  // fits the lower half of the word
  if (chunks <= at_once) return Pool::instance().run(chunks, body);
  for (i64 first = 0; first < chunks; first += at_once) {
    const auto part = [&](i64 i) { body(first + i); };
    Pool::instance().run(std::min(at_once, chunks - first), part);
  }
}

int thread_count() { return Pool::instance().threads(); }
void set_thread_count(int count) {
  if (count < 1) throw Error(base::cat("set_thread_count: ", count, " threads; at least 1 is needed"));
  Pool::instance().resize(count);
}

}  // namespace uni::runtime
