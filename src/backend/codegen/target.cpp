#include "backend/codegen/target.hpp"

#include <cstdlib>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::codegen {

namespace {
// Processors are named by level, not by model: the model's name is wrong on some virtual machines.
constexpr Target avx512{"avx512", "x86-64-v4", "+fma,+f16c", 512};
constexpr Target avx2{"avx2", "x86-64-v3", "+fma,+f16c", 256};

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const Target& choose() {
  if (!has_avx2()) throw Error("kernels cannot be compiled: this processor lacks AVX2, FMA or F16C");
  const char* wanted = std::getenv("UNISONO_ISA");
  const std::string_view name = wanted ? wanted : "";
  if (name == "avx2") return avx2;
  if (name.empty()) return has_avx512() ? avx512 : avx2;
  if (name != "avx512")
    throw Error(base::cat("UNISONO_ISA is \"", name, "\"\nfix: set it to avx2 or avx512, or leave it out"));
  if (!has_avx512())
    throw Error("UNISONO_ISA is \"avx512\", which this processor lacks\nfix: set it to avx2, or leave it out");
  return avx512;
}
}  // namespace

const Target& target() {
  static const Target& chosen = choose();
  return chosen;
}

}  // namespace uni::codegen
