// Elementary functions of f32 values, without calls or branches. Bounds on their errors: docs/numerics.md.
#pragma once
#include "backend/codegen/writer.hpp"

namespace uni::codegen {

Val exp_f32(const Val& x);
Val expm1_f32(const Val& x);
Val log_f32(const Val& x);
Val log1p_f32(const Val& x);
Val tanh_f32(const Val& x);
Val logistic_f32(const Val& x);
Val erf_f32(const Val& x);
Val erf_inv_f32(const Val& x);
// Right for |x| up to this; larger ones need more digits of pi.
inline constexpr double max_angle_f32 = 65536;
Val sin_f32(const Val& x);
Val cos_f32(const Val& x);

}  // namespace uni::codegen
