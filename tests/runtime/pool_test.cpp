// The thread pool: every chunk runs once, exceptions, nesting, several callers, other numbers of threads.
#include "runtime/pool.hpp"

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

using namespace uni;
using runtime::parallel_for;

namespace {
class Threads {
 public:
  explicit Threads(int count) : before_(runtime::thread_count()) { runtime::set_thread_count(count); }
  ~Threads() { runtime::set_thread_count(before_); }

 private:
  int before_;
};

std::vector<int> runs_of_chunks(i64 chunks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(chunks));
  parallel_for(chunks, [&](i64 i) { ++runs[static_cast<std::size_t>(i)]; });
  return {runs.begin(), runs.end()};
}
}  // namespace

TEST(Pool, RunsEveryChunkOnce) {
  for (const int threads : {1, 2, 7})
    for (const i64 chunks : {0, 1, 2, 3, 64, 1000}) {
      const Threads t(threads);
      EXPECT_THAT(runs_of_chunks(chunks), testing::Each(1)) << threads << " threads, " << chunks << " chunks";
    }
}

TEST(Pool, ManyRegionsOneAfterAnother) {
  const Threads t(4);
  i64 expected = 0;
  std::atomic<i64> sum{0};
  for (i64 region = 0; region < 20000; ++region) {
    const i64 chunks = 1 + region % 9;
    parallel_for(chunks, [&](i64 i) { sum += region * i; });
    expected += region * chunks * (chunks - 1) / 2;
    ASSERT_EQ(sum.load(), expected) << "a region returned before its chunks were done";
  }
}

TEST(Pool, NestedRegionsRunInTheThreadOfTheirChunk) {
  const Threads t(3);
  std::atomic<int> wrong{0}, runs{0};
  parallel_for(8, [&](i64) {
    const auto outer = std::this_thread::get_id();
    parallel_for(5, [&](i64) {
      ++runs;
      if (std::this_thread::get_id() != outer) ++wrong;
    });
  });
  EXPECT_EQ(runs, 40);
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, AnExceptionArrivesAfterAllClaimedChunks) {
  const Threads t(3);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> running{0}, runs{0};
    EXPECT_THROW(parallel_for(32,
                              [&](i64 i) {
                                ++running;
                                ++runs;
                                if (i % 7 == 3) {
                                  --running;
                                  throw std::runtime_error("chunk");
                                }
                                --running;
                              }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
    EXPECT_EQ(runs, 32);
  }
  EXPECT_THAT(runs_of_chunks(100), testing::Each(1));
}

TEST(Pool, SeveralCallersAtOnce) {
  const Threads t(3);
  std::vector<std::thread> callers;
  std::atomic<i64> sum{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int region = 0; region < 2000; ++region) parallel_for(10, [&](i64 i) { sum += i; });
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(sum, 4 * 2000 * 45);
}

TEST(Pool, ThreadCount) {
  {
    const Threads t(5);
    EXPECT_EQ(runtime::thread_count(), 5);
    EXPECT_THAT(runs_of_chunks(50), testing::Each(1));
    const Threads fewer(2);
    EXPECT_THAT(runs_of_chunks(50), testing::Each(1));
  }
  EXPECT_GE(runtime::thread_count(), 1);
  EXPECT_THROW(runtime::set_thread_count(0), Error);
}
