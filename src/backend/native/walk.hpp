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
inline void copy_strided(std::byte* out, const Dims& shape, const std::byte* in, i64 base, const std::vector<i64>& stride,
                         i64 item) {
  const int rank = shape.rank();
  if (shape.count() == 0) return;
  if (rank == 0) {
    std::memcpy(out, in + base * item, static_cast<std::size_t>(item));
    return;
  }
  const i64 row = shape[rank - 1], rows = shape.count() / row, step = stride[static_cast<std::size_t>(rank) - 1];
  chunked(rows, row * item, [&](i64 begin, i64 end) {
    std::vector<i64> at(static_cast<std::size_t>(rank), 0);
    i64 left = begin;
    for (int d = rank - 2; d >= 0; --d) {
      at[static_cast<std::size_t>(d)] = left % shape[d];
      left /= shape[d];
    }
    for (i64 r = begin; r < end; ++r) {
      i64 from = base;
      for (int d = 0; d + 1 < rank; ++d) from += at[static_cast<std::size_t>(d)] * stride[static_cast<std::size_t>(d)];
      std::byte* to = out + r * row * item;
      const std::byte* source = in + from * item;
      if (step == 1) {
        std::memcpy(to, source, static_cast<std::size_t>(row * item));
      } else if (item == 4) {
        for (i64 i = 0; i < row; ++i)
          reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(source)[i * step];
      } else {
        for (i64 i = 0; i < row; ++i) std::memcpy(to + i * item, source + i * step * item, static_cast<std::size_t>(item));
      }
      for (int d = rank - 2; d >= 0; --d) {
        if (++at[static_cast<std::size_t>(d)] < shape[d]) break;
        at[static_cast<std::size_t>(d)] = 0;
      }
    }
  });
}

// A dense block goes to out at base + sum(position * stride).
inline void scatter_strided(const std::byte* in, const Dims& shape, std::byte* out, i64 base,
                            const std::vector<i64>& stride, i64 item) {
  const int rank = shape.rank();
  const i64 count = shape.count();
  if (count == 0) return;
  const i64 row = rank ? shape[rank - 1] : 1, step = rank ? stride[static_cast<std::size_t>(rank) - 1] : 1;
  std::vector<i64> at(static_cast<std::size_t>(rank), 0);
  for (i64 r = 0; r < count / row; ++r) {
    i64 to = base;
    for (int d = 0; d + 1 < rank; ++d) to += at[static_cast<std::size_t>(d)] * stride[static_cast<std::size_t>(d)];
    if (step == 1)
      std::memcpy(out + to * item, in + r * row * item, static_cast<std::size_t>(row * item));
    else
      for (i64 i = 0; i < row; ++i)
        std::memcpy(out + (to + i * step) * item, in + (r * row + i) * item, static_cast<std::size_t>(item));
    for (int d = rank - 2; d >= 0; --d) {
      if (++at[static_cast<std::size_t>(d)] < shape[d]) break;
      at[static_cast<std::size_t>(d)] = 0;
    }
  }
}

inline void fill_elements(std::byte* out, i64 count, const std::byte* value, i64 item) {
  if (item == 4) {
    std::uint32_t v;
    std::memcpy(&v, value, 4);
    std::fill_n(reinterpret_cast<std::uint32_t*>(out), count, v);
  } else if (item == 8) {
    std::uint64_t v;
    std::memcpy(&v, value, 8);
    std::fill_n(reinterpret_cast<std::uint64_t*>(out), count, v);
  } else if (item == 1) {
    std::memset(out, static_cast<int>(value[0]), static_cast<std::size_t>(count));
  } else {
    for (i64 i = 0; i < count; ++i) std::memcpy(out + i * item, value, static_cast<std::size_t>(item));
  }
}

}  // namespace uni::native
