// Gather, scatter.

#include "backend/native/pointwise_math.hpp"
#include "backend/native/walk.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
// Row r of the indices as a block number of x; -1 when out of range and not clipped.
template <class I>
i64 block_number(const I* index, const Dims& x, int k, bool clip) {
  i64 block = 0;
  for (int d = 0; d < k; ++d) {
    const bool inside = index[d] >= I(0) && static_cast<std::uint64_t>(index[d]) < static_cast<std::uint64_t>(x[d]);
    if (!inside && !clip) return -1;
    const i64 i = inside ? static_cast<i64>(index[d]) : index[d] < I(0) ? 0 : std::max<i64>(0, x[d] - 1);
    block = block * x[d] + i;
  }
  return block;
}
struct IndexedBlocks {
  i64 rows, block;          // index rows; elements of a block
  std::vector<i64> number;  // by row
  IndexedBlocks(const View& x, const View& indices, bool clip) {
    const int k = static_cast<int>(indices.shape()[-1]);
    rows = Dims(indices.shape().begin(), indices.shape().end() - 1).count();
    block = Dims(x.shape().begin() + k, x.shape().end()).count();
    number.resize(static_cast<std::size_t>(rows));
    dispatch(indices.type->dtype, [&]<class I>(I) {
      if constexpr (is_int_like<I>)
        for (i64 r = 0; r < rows; ++r)
          number[static_cast<std::size_t>(r)] = block_number(indices.as<I>() + r * k, x.shape(), k, clip);
    });
  }
};

void gather(const KernelArgs& a) {
  const auto& p = a.params.as<ops::Gather>();
  const IndexedBlocks ix(a.in[0], a.in[1], p.mode == ops::IndexMode::clip);
  const i64 item = itemsize(a.out[0].type->dtype);
  std::byte fill[16];
  std::memcpy(fill, &p.fill.low, 8);
  std::memcpy(fill + 8, &p.fill.high, 8);
  chunked(ix.rows, ix.block * item, [&](i64 begin, i64 end) {
    for (i64 r = begin; r < end; ++r) {
      std::byte* out = a.out[0].data + r * ix.block * item;
      const i64 n = ix.number[static_cast<std::size_t>(r)];
      if (n < 0)
        fill_elements(out, ix.block, fill, item);
      else
        std::memcpy(out, a.in[0].data + n * ix.block * item, static_cast<std::size_t>(ix.block * item));
    }
  });
}

template <ops::Combine How, class T>
T combine(T old, T update) {
  using W = Work<T>;
  using C = ops::Combine;
  if constexpr (How == C::set || std::is_same_v<T, KeyWords>) {
    return update;
  } else if constexpr (std::is_same_v<T, bool>) {
    return How == C::add || How == C::max ? old || update : old && update;
  } else if constexpr (How == C::add) {
    return T(plus(static_cast<W>(old), static_cast<W>(update)));
  } else if constexpr (How == C::mul) {
    return T(times(static_cast<W>(old), static_cast<W>(update)));
  } else if constexpr (is_complex_like<T>) {
    return update;
  } else {
    return T(How == C::min ? min_of(static_cast<W>(old), static_cast<W>(update))
                           : max_of(static_cast<W>(old), static_cast<W>(update)));
  }
}
// Rows are applied in order; the columns of blocks are independent of each other, so that threads take strips of them.
template <ops::Combine How, class T>
void scatter_rows(const IndexedBlocks& ix, T* x, const T* updates) {
  constexpr i64 strip = 64;
  const bool small = ix.rows * ix.block * static_cast<i64>(sizeof(T)) < parallel_bytes;
  const i64 width = small ? std::max<i64>(1, ix.block) : strip;
  runtime::parallel_for((ix.block + width - 1) / width, [&](i64 s) {
    const i64 begin = s * width, n = std::min(width, ix.block - begin);
    for (i64 r = 0; r < ix.rows; ++r) {
      const i64 block = ix.number[static_cast<std::size_t>(r)];
      if (block < 0) continue;
      T* to = x + block * ix.block + begin;
      const T* from = updates + r * ix.block + begin;
#pragma GCC ivdep
      for (i64 i = 0; i < n; ++i) to[i] = combine<How>(to[i], from[i]);
    }
  });
}
void scatter(const KernelArgs& a) {
  using C = ops::Combine;
  const auto& p = a.params.as<ops::Scatter>();
  std::memcpy(a.out[0].data, a.in[0].data, static_cast<std::size_t>(a.out[0].type->bytes()));
  if (a.out[0].count() == 0) return;
  const IndexedBlocks ix(a.in[0], a.in[1], p.mode == ops::IndexMode::clip);
  dispatch(a.out[0].type->dtype, [&]<class T>(T) {
    T* x = a.out[0].as<T>();
    const T* updates = a.in[2].as<T>();
    switch (p.combine) {
      case C::set:
        return scatter_rows<C::set>(ix, x, updates);
      case C::add:
        return scatter_rows<C::add>(ix, x, updates);
      case C::mul:
        return scatter_rows<C::mul>(ix, x, updates);
      case C::min:
        return scatter_rows<C::min>(ix, x, updates);
      case C::max:
        return scatter_rows<C::max>(ix, x, updates);
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::gather, gather}, {&ops::scatter, scatter}};
}  // namespace

std::span<const KernelEntry> index_kernels() { return entries; }

}  // namespace uni::native
