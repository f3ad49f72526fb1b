#include "backend/native/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>

// What builds of OpenBLAS for many processors export; others lack it.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_quit(void);
[[gnu::weak]] void gotoblas_dynamic_init(void);
}

namespace uni::native {

namespace {
// OpenBLAS falls back to its oldest kernels on processors that are newer than itself: four times slower or more.
bool chose_old_kernels() {
  constexpr std::string_view before_avx2[] = {
      "Katmai",  "Coppermine", "Northwood", "Prescott",     "Banias",    "Atom",   "Core2", "Penryn",      "Dunnington",
      "Nehalem", "Athlon",     "Opteron",   "Opteron_SSE3", "Barcelona", "Bobcat", "Nano",  "Sandybridge", "Unknown"};
  const std::string_view chosen = openblas_get_corename();
  return std::find(std::begin(before_avx2), std::end(before_avx2), chosen) != std::end(before_avx2);
}

void choose_kernels() {
#if defined(__x86_64__)
  if (!gotoblas_dynamic_quit || !gotoblas_dynamic_init) return;
  if (std::getenv("OPENBLAS_CORETYPE") || !chose_old_kernels()) return;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return;
  setenv("OPENBLAS_CORETYPE", wide ? "SkylakeX" : "Haswell", 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
#endif
}

// When programs start, before there are threads that read the environment.
const bool set_up_at_start = (set_up_blas(), true);
}  // namespace

void set_up_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    choose_kernels();
    openblas_set_num_threads(1);
  });
}

}  // namespace uni::native
