#include "backend/codegen/jit.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <unordered_map>

#include "backend/codegen/target.hpp"
#include "base/text.hpp"
#include "jit/interface.h"
#include "runtime/pool.hpp"
#include <unisono/error.hpp>

namespace uni::codegen {

namespace {
using base::cat;
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// The library stands beside the build, where it was installed, or where UNISONO_JIT_LIBRARY says.
const UnisonoJit& load() {
  std::string tried;
  const char* named = std::getenv("UNISONO_JIT_LIBRARY");
  const std::vector<std::string> places =
      named ? std::vector<std::string>{named}
            : std::vector<std::string>{UNISONO_JIT_BUILT, UNISONO_JIT_INSTALLED, "libunisono_jit.so"};
  for (const std::string& place : places) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      tried += cat("\n  ", dlerror());
      continue;
    }
    const auto entry = reinterpret_cast<const UnisonoJit* (*)()>(dlsym(library, "unisono_jit"));
    if (entry && entry()->version == UNISONO_JIT_VERSION) return *entry();
    tried += cat("\n  ", place, ": made for another version of Unisono");
  }
  throw Error(cat("kernels cannot be compiled: libunisono_jit.so is not found", tried,
                  "\nfix: set UNISONO_JIT_LIBRARY to its path"));
}
const UnisonoJit& library() {
  static const UnisonoJit& loaded = load();
  return loaded;
}

struct Job {
  std::string name;
  const KernelText* text;
};
constexpr std::size_t kernels_per_module = 8;

void compile_module(std::span<const Job> jobs, void** addresses) {
  const Target& t = target();
  std::set<std::string_view> declared;
  std::string text;
  for (const Job& job : jobs) {
    text += cat("define void @", job.name, job.text->text);
    for (std::string_view rest = job.text->declarations; !rest.empty();) {
      const std::size_t end = rest.find('\n') + 1;
      if (declared.insert(rest.substr(0, end)).second) text += rest.substr(0, end);
      rest.remove_prefix(end);
    }
  }
  text += cat("attributes #0 = { nounwind \"prefer-vector-width\"=\"", t.vector_bits,
              "\" \"min-legal-vector-width\"=\"", t.vector_bits, "\" }\n!0 = !{i32 1}\n");
  if (std::getenv("UNISONO_PRINT_KERNELS")) fputs(text.c_str(), stderr);
  std::vector<const char*> names;
  for (const Job& job : jobs) names.push_back(job.name.c_str());
  char* problem = library().compile(text.data(), text.size(), std::string(t.cpu).c_str(),
                                    std::string(t.features).c_str(), names.data(), names.size(), addresses);
  if (!problem) return;
  const std::string message = cat("kernels cannot be compiled: LLVM says: ", problem);
  library().free_text(problem);
  throw Error(message);
}

class Cache {
 public:
  std::vector<KernelFn> get(std::span<const KernelText> texts) {
    const std::lock_guard lock(mutex_);  // two programs with the same new kernel compile it once
    std::vector<Job> jobs;
    std::set<std::string_view> asked;
    for (const KernelText& t : texts)
      if (!kernels_.contains(t.text) && asked.insert(t.text).second) jobs.push_back({cat("k", next_++), &t});
    std::vector<void*> addresses(jobs.size());
    // Large programs fill modules; small ones are spread over the threads.
    const std::size_t threads = static_cast<std::size_t>(runtime::thread_count());
    const std::size_t each = std::clamp<std::size_t>((jobs.size() + threads - 1) / threads, 1, kernels_per_module);
    const std::size_t modules = (jobs.size() + each - 1) / each;
    if (!jobs.empty()) library();
    runtime::parallel_for(static_cast<i64>(modules), [&](i64 m) {
      const std::size_t begin = at(m) * each, count = std::min(each, jobs.size() - begin);
      compile_module({jobs.data() + begin, count}, addresses.data() + begin);
    });
    for (std::size_t j = 0; j < jobs.size(); ++j)
      kernels_.emplace(jobs[j].text->text, reinterpret_cast<KernelFn>(addresses[j]));
    std::vector<KernelFn> out;
    for (const KernelText& t : texts) out.push_back(kernels_.at(t.text));
    return out;
  }
  i64 count() {
    const std::lock_guard lock(mutex_);
    return static_cast<i64>(kernels_.size());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, KernelFn> kernels_;
  i64 next_ = 0;
};
Cache& cache() {
  static Cache* const c = new Cache;
  return *c;
}
}  // namespace

std::vector<KernelFn> compile(std::span<const KernelText> texts) { return cache().get(texts); }
i64 compiled_count() { return cache().count(); }

}  // namespace uni::codegen
