// Timing as the peers' programs do it: three calls to warm up, then calls until the time or 200 calls are over, each
// timed to the end of its result; one JSON line a figure.
#pragma once
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Options {
  std::vector<std::string> only;  // prefixes; empty: everything
  int threads = 2;
  double seconds = 2;
};

class Report {
 public:
  explicit Report(Options options) : options_(std::move(options)) {}

  bool wanted(const std::string& name) const {
    return options_.only.empty() ||
           std::any_of(options_.only.begin(), options_.only.end(), [&](const auto& p) { return name.starts_with(p); });
  }
  // `make` prepares the work and gives the call. `scale`: 1e3 for ms, 1e6 for us; the figure is per `per` units.
  void time(const std::string& name, const std::function<std::function<void()>()>& make, const char* unit = "ms",
            double per = 1) {
    if (!wanted(name)) return;
    const std::function<void()> call = make();
    for (int i = 0; i < 3; ++i) call();
    std::vector<double> values;
    const double end = now() + options_.seconds;
    while (values.size() < 200 && (now() < end || values.size() < 3)) {
      const double begin = now();
      call();
      values.push_back((now() - begin) * (unit[0] == 'u' ? 1e6 : 1e3) / per);
    }
    emit(name, unit, values);
  }
  // For calls of microseconds: `inner` calls are timed at once.
  void time_many(const std::string& name, const std::function<std::function<void()>()>& make, int inner) {
    if (!wanted(name)) return;
    const std::function<void()> call = make();
    call();
    std::vector<double> values;
    const double end = now() + options_.seconds;
    while (now() < end || values.size() < 3) {
      const double begin = now();
      for (int i = 0; i < inner; ++i) call();
      values.push_back((now() - begin) * 1e6 / inner);
    }
    emit(name, "us", values);
  }
  // One call in a fresh state: the figure of a process.
  void once(const std::string& name, const std::function<std::function<void()>()>& make) {
    if (!wanted(name)) return;
    const std::function<void()> call = make();
    const double begin = now();
    call();
    emit(name, "ms", {(now() - begin) * 1e3});
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void emit(const std::string& name, const char* unit, std::vector<double> values) const {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    const double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    std::printf(
        "{\"bench\": \"%s\", \"impl\": \"unisono\", \"config\": {\"threads\": %d}, \"metric\": \"%s\", "
        "\"median\": %.6g, \"min\": %.6g, \"n\": %zu}\n",
        name.c_str(), options_.threads, unit, median, values[0], n);
    std::fflush(stdout);
  }
  Options options_;
};

// Before anything asks how many processors there are.
inline void use_processors(int count) {
  cpu_set_t all, few;
  CPU_ZERO(&few);
  sched_getaffinity(0, sizeof all, &all);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&few) < count; ++c)
    if (CPU_ISSET(c, &all)) CPU_SET(c, &few);
  sched_setaffinity(0, sizeof few, &few);
}

}  // namespace bench
