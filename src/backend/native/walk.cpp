#include "backend/native/walk.hpp"

namespace uni::native {

namespace {
struct Item16 {
  std::uint64_t low, high;
};
// Calls f with a value of a type of that size.
template <class Fn>
void with_item(i64 item, const Fn& f) {
  switch (item) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      return f(Item16{});
  }
}

// Element offsets of the positions of some dimensions, one after another.
class Offsets {
 public:
  Offsets(std::vector<i64> sizes, std::vector<i64> steps)
      : sizes_(std::move(sizes)), steps_(std::move(steps)), at_(sizes_) {}
  void start(i64 position) {
    offset = 0;
    for (std::size_t d = sizes_.size(); d-- > 0;) {
      at_[d] = position % sizes_[d];
      position /= sizes_[d];
      offset += at_[d] * steps_[d];
    }
  }
  void next() {
    for (std::size_t d = sizes_.size(); d-- > 0;) {
      offset += steps_[d];
      if (++at_[d] < sizes_[d]) return;
      offset -= steps_[d] * sizes_[d];
      at_[d] = 0;
    }
  }
  i64 offset = 0;

 private:
  std::vector<i64> sizes_, steps_, at_;
};

template <class T>
void copy_rows(T* out, const Dims& shape, const T* in, const std::vector<i64>& stride) {
  const int rank = shape.rank();
  const i64 row = shape[rank - 1], step = stride.back();
  chunked(shape.count() / row, row * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
    Offsets from({shape.begin(), shape.end() - 1}, {stride.begin(), stride.end() - 1});
    from.start(begin);
    for (i64 r = begin; r < end; ++r, from.next()) {
      T* to = out + r * row;
      const T* source = in + from.offset;
      if (step == 1)
        std::memcpy(static_cast<void*>(to), source, static_cast<std::size_t>(row) * sizeof(T));
      else
        for (i64 i = 0; i < row; ++i) to[i] = source[i * step];
    }
  });
}

// Dimension t lies densely in `in`, the last one in `out`: square blocks of the two stay in the cache.
template <class T>
void copy_blocks(T* out, const Dims& shape, const T* in, const std::vector<i64>& stride, int t) {
  constexpr i64 block = 16;
  const int last = shape.rank() - 1;
  const std::vector<i64> out_stride = row_strides(shape);
  std::vector<i64> sizes, in_steps, out_steps;
  for (int d = 0; d < last; ++d) {
    if (d == t) continue;
    sizes.push_back(shape[d]);
    in_steps.push_back(stride[static_cast<std::size_t>(d)]);
    out_steps.push_back(out_stride[static_cast<std::size_t>(d)]);
  }
  const i64 m = shape[t], n = shape[last], step = stride.back(), jump = out_stride[static_cast<std::size_t>(t)];
  const i64 blocks = (m + block - 1) / block;
  chunked(shape.count() / (m * n) * blocks, block * n * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
    Offsets from(sizes, in_steps), to(sizes, out_steps);
    for (i64 job = begin; job < end; ++job) {
      from.start(job / blocks);
      to.start(job / blocks);
      const i64 i0 = job % blocks * block, i1 = std::min(m, i0 + block);
      for (i64 j0 = 0; j0 < n; j0 += block)
        for (i64 i = i0; i < i1; ++i) {
          const T* source = in + from.offset + i;
          T* target = out + to.offset + i * jump;
          for (i64 j = j0; j < std::min(n, j0 + block); ++j) target[j] = source[j * step];
        }
    }
  });
}
}  // namespace

void copy_strided(std::byte* out, const Dims& shape, const std::byte* in, i64 base, const std::vector<i64>& stride,
                  i64 item) {
  if (shape.count() == 0) return;
  in += base * item;
  if (shape.empty()) {
    std::memcpy(out, in, static_cast<std::size_t>(item));
    return;
  }
  int dense = -1;
  for (int d = 0; d + 1 < shape.rank(); ++d)
    if (stride[static_cast<std::size_t>(d)] == 1 && shape[d] >= 4) dense = d;
  with_item(item, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(out);
    const T* from = reinterpret_cast<const T*>(in);
    if (stride.back() != 1 && shape[-1] >= 4 && dense >= 0)
      copy_blocks(to, shape, from, stride, dense);
    else
      copy_rows(to, shape, from, stride);
  });
}

void scatter_strided(const std::byte* in, const Dims& shape, std::byte* out, i64 base, const std::vector<i64>& stride,
                     i64 item) {
  const i64 count = shape.count();
  if (count == 0) return;
  out += base * item;
  if (shape.empty()) {
    std::memcpy(out, in, static_cast<std::size_t>(item));
    return;
  }
  const i64 row = shape[-1], step = stride.back();
  with_item(item, [&]<class T>(T) {
    chunked(count / row, row * item, [&](i64 begin, i64 end) {
      Offsets to({shape.begin(), shape.end() - 1}, {stride.begin(), stride.end() - 1});
      to.start(begin);
      for (i64 r = begin; r < end; ++r, to.next()) {
        const T* source = reinterpret_cast<const T*>(in) + r * row;
        T* target = reinterpret_cast<T*>(out) + to.offset;
        if (step == 1)
          std::memcpy(static_cast<void*>(target), source, static_cast<std::size_t>(row) * sizeof(T));
        else
          for (i64 i = 0; i < row; ++i) target[i * step] = source[i];
      }
    });
  });
}

void fill_elements(std::byte* out, i64 count, const std::byte* value, i64 item) {
  with_item(item, [&]<class T>(T v) {
    std::memcpy(&v, value, sizeof v);
    std::fill_n(reinterpret_cast<T*>(out), count, v);
  });
}

}  // namespace uni::native
