// Small blocks of memory, kept by size in the thread that gave them back: handles, buffers and small arrays come and go
// by the dozen in every call.
#pragma once
#include <cstddef>

namespace uni::base {

inline constexpr std::size_t largest_small_block = 1024;
// Aligned to 64 bytes; null when there is no more memory. Size: at most largest_small_block.
void* take_small_block(std::size_t size);
void give_small_block(void* block, std::size_t size) noexcept;

}  // namespace uni::base
