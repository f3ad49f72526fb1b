// Loops over floats, compiled once for each instruction set; every set gives the same bits.
#pragma once
#include "backend/native/kernel.hpp"

namespace uni::native {

struct F32Loops {
  FlatFn add, sub, mul, div, maximum, minimum;
  FlatFn neg, abs, sign, square, cube, floor, ceil, round, sqrt, rsqrt;
  FlatFn exp, expm1, log, log1p, tanh, logistic;
  FlatFn eq, ne, lt, le, gt, ge;
  FlatFn select, clamp;
};
extern const F32Loops f32_loops_base, f32_loops_avx2, f32_loops_avx512;

// The loop of an operation on floats for this processor; null when there is only the general one.
FlatFn f32_loop(const ir::Op& op, const ir::Params& params);

}  // namespace uni::native
