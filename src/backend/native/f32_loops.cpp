// Which loops this processor runs, and which operations have one.
#include "backend/native/f32_loops_body.hpp"
#include "ops/elementwise.hpp"

namespace uni::native {

const F32Loops f32_loops_base = loops_of_this_file;

namespace {
const F32Loops& best_loops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return f32_loops_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    return f32_loops_avx2;
#endif
  return f32_loops_base;
}

struct Row {
  const ir::Op* op;
  FlatFn F32Loops::*loop;
};
constexpr Row rows[] = {
    {&ops::add, &F32Loops::add},     {&ops::sub, &F32Loops::sub},           {&ops::mul, &F32Loops::mul},
    {&ops::div, &F32Loops::div},     {&ops::maximum, &F32Loops::maximum},   {&ops::minimum, &F32Loops::minimum},
    {&ops::neg, &F32Loops::neg},     {&ops::abs, &F32Loops::abs},           {&ops::sign, &F32Loops::sign},
    {&ops::floor, &F32Loops::floor}, {&ops::ceil, &F32Loops::ceil},         {&ops::round, &F32Loops::round},
    {&ops::sqrt, &F32Loops::sqrt},   {&ops::rsqrt, &F32Loops::rsqrt},       {&ops::exp, &F32Loops::exp},
    {&ops::expm1, &F32Loops::expm1}, {&ops::log, &F32Loops::log},           {&ops::log1p, &F32Loops::log1p},
    {&ops::tanh, &F32Loops::tanh},   {&ops::logistic, &F32Loops::logistic}, {&ops::select, &F32Loops::select},
    {&ops::clamp, &F32Loops::clamp}};

FlatFn F32Loops::*comparison(ops::Compare::Direction direction) {
  switch (direction) {
    case ops::Compare::Direction::eq:
      return &F32Loops::eq;
    case ops::Compare::Direction::ne:
      return &F32Loops::ne;
    case ops::Compare::Direction::lt:
      return &F32Loops::lt;
    case ops::Compare::Direction::le:
      return &F32Loops::le;
    case ops::Compare::Direction::gt:
      return &F32Loops::gt;
    case ops::Compare::Direction::ge:
      break;
  }
  return &F32Loops::ge;
}
}  // namespace

FlatFn f32_loop(const ir::Op& op, const ir::Params& params) {
  static const F32Loops& loops = best_loops();
  if (&op == &ops::compare) return loops.*comparison(params.as<ops::Compare>().direction);
  if (&op == &ops::integer_pow) {
    const int n = params.as<ops::IntegerPow>().exponent;
    return n == 2 ? loops.square : n == 3 ? loops.cube : nullptr;
  }
  for (const Row& row : rows)
    if (row.op == &op) return loops.*row.loop;
  return nullptr;
}

}  // namespace uni::native
