#include "backend/native/f32_loops_body.hpp"

namespace uni::native {
const F32Loops f32_loops_avx512 = loops_of_this_file;
}
