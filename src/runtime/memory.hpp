// Memory of arrays. Large blocks that are given back are kept for the next array of their size: fresh pages cost more
// to touch than most kernels take.
#pragma once
#include <cstddef>

#include <unisono/dtype.hpp>

namespace uni::runtime {

// At least `bytes` bytes, aligned to 64; null when there is no more memory.
std::byte* take_memory(i64 bytes);
// `bytes` as they were asked for.
void give_memory(std::byte* data, i64 bytes);

}  // namespace uni::runtime
