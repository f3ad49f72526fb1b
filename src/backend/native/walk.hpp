// Copying strided blocks: runs of the innermost dimension at a time.
#pragma once
#include <algorithm>

#include "backend/native/kernel.hpp"
#include "runtime/pool.hpp"

namespace uni::native {

// Work below this many bytes stays in the calling thread.
inline constexpr i64 parallel_bytes = 1 << 16;

// Splits [0, n) into chunks of a size that depends on the work only, never on the number of threads.
template <class Fn>
void chunked(i64 n, i64 bytes_each, const Fn& fn) {
  if (n <= 0) return;
  const i64 per = std::max<i64>(1, parallel_bytes / std::max<i64>(1, bytes_each));
  const i64 chunks = (n + per - 1) / per;
  runtime::parallel_for(chunks, [&](i64 c) { fn(c * per, std::min(n, (c + 1) * per)); });
}

// out (dense, row-major) takes elements of `in` at base + sum(position * stride), strides in elements.
void copy_strided(std::byte* out, const Dims& shape, const std::byte* in, i64 base, const std::vector<i64>& stride,
                  i64 item);
// A dense block goes to out at base + sum(position * stride).
void scatter_strided(const std::byte* in, const Dims& shape, std::byte* out, i64 base, const std::vector<i64>& stride,
                     i64 item);
// `count` elements of `item` bytes become the value.
void fill_elements(std::byte* out, i64 count, const std::byte* value, i64 item);

}  // namespace uni::native
