// Moving elements. `full`, `iota` and broadcasts are made inside pointwise groups (group.cpp) and by the same code
// alone.
#include "backend/native/walk.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
i64 item_of(const View& v) { return itemsize(v.type->dtype); }

void transpose(const KernelArgs& k) {
  const auto& p = k.params.as<ops::Transpose>();
  const std::vector<i64> from = row_strides(k.in[0].shape());
  std::vector<i64> stride;
  for (int d : p.permutation) stride.push_back(from[static_cast<std::size_t>(d)]);
  copy_strided(k.out[0].data, k.out[0].shape(), k.in[0].data, 0, stride, item_of(k.in[0]));
}
void slice(const KernelArgs& k) {
  const auto& p = k.params.as<ops::SliceParams>();
  std::vector<i64> stride = row_strides(k.in[0].shape());
  i64 base = 0;
  for (std::size_t d = 0; d < stride.size(); ++d) {
    base += p.start[static_cast<int>(d)] * stride[d];
    stride[d] *= p.stride[static_cast<int>(d)];
  }
  copy_strided(k.out[0].data, k.out[0].shape(), k.in[0].data, base, stride, item_of(k.in[0]));
}
void reverse(const KernelArgs& k) {
  std::vector<i64> stride = row_strides(k.in[0].shape());
  i64 base = 0;
  for (int d : k.params.as<ops::Reverse>().axes) {
    base += (k.in[0].shape()[d] - 1) * stride[static_cast<std::size_t>(d)];
    stride[static_cast<std::size_t>(d)] = -stride[static_cast<std::size_t>(d)];
  }
  copy_strided(k.out[0].data, k.out[0].shape(), k.in[0].data, base, stride, item_of(k.in[0]));
}
void concatenate(const KernelArgs& k) {
  const int axis = k.params.as<ops::Concatenate>().axis;
  const std::vector<i64> stride = row_strides(k.out[0].shape());
  i64 base = 0;
  for (const View& part : k.in) {
    scatter_strided(part.data, part.shape(), k.out[0].data, base, stride, item_of(part));
    base += part.shape()[axis] * stride[static_cast<std::size_t>(axis)];
  }
}
void pad(const KernelArgs& k) {
  const auto& p = k.params.as<ops::Pad>();
  const Dims &in = k.in[0].shape(), &out = k.out[0].shape();
  const i64 item = item_of(k.in[0]);
  fill_elements(k.out[0].data, k.out[0].count(), k.in[1].data, item);
  // The part of x that lands inside, by dimension.
  Dims size = in;
  std::vector<i64> to = row_strides(out), from = row_strides(in);
  i64 in_base = 0, out_base = 0;
  for (int d = 0; d < in.rank(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const i64 gap = p.interior[d] + 1;
    const i64 first = p.low[d] >= 0 ? 0 : (-p.low[d] + gap - 1) / gap;
    const i64 room = out[d] - 1 - p.low[d];
    const i64 last = room < 0 ? -1 : std::min(in[d] - 1, room / gap);
    if (last < first) return;
    size[d] = last - first + 1;
    in_base += first * from[i];
    out_base += (p.low[d] + first * gap) * to[i];
    to[i] *= gap;
  }
  std::vector<std::byte> block(static_cast<std::size_t>(size.count() * item));
  copy_strided(block.data(), size, k.in[0].data, in_base, from, item);
  scatter_strided(block.data(), size, k.out[0].data, out_base, to, item);
}
i64 start_value(const View& v) {
  return dispatch(v.type->dtype, [&]<class T>(T) -> i64 {
    if constexpr (is_int_like<T>) {
      const T s = *v.as<T>();
      if (s > T(0) && static_cast<std::uint64_t>(s) > (std::uint64_t{1} << 62)) return i64{1} << 62;
      return static_cast<i64>(s);
    } else {
      return 0;
    }
  });
}
i64 clamped_base(std::span<const View> starts, const Dims& whole, const Dims& window, const std::vector<i64>& stride) {
  i64 base = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    const i64 s = start_value(starts[static_cast<std::size_t>(d)]);
    base += std::max<i64>(0, std::min(s, whole[d] - window[d])) * stride[static_cast<std::size_t>(d)];
  }
  return base;
}
void dynamic_slice(const KernelArgs& k) {
  const std::vector<i64> stride = row_strides(k.in[0].shape());
  const i64 base = clamped_base(k.in.subspan(1), k.in[0].shape(), k.out[0].shape(), stride);
  copy_strided(k.out[0].data, k.out[0].shape(), k.in[0].data, base, stride, item_of(k.in[0]));
}
void dynamic_update_slice(const KernelArgs& k) {
  std::memcpy(k.out[0].data, k.in[0].data, static_cast<std::size_t>(k.out[0].type->bytes()));
  const std::vector<i64> stride = row_strides(k.in[0].shape());
  const i64 base = clamped_base(k.in.subspan(2), k.in[0].shape(), k.in[1].shape(), stride);
  scatter_strided(k.in[1].data, k.in[1].shape(), k.out[0].data, base, stride, item_of(k.in[0]));
}

constexpr KernelEntry entries[] = {{&ops::transpose, transpose},
                                   {&ops::slice, slice},
                                   {&ops::reverse, reverse},
                                   {&ops::concatenate, concatenate},
                                   {&ops::pad, pad},
                                   {&ops::dynamic_slice, dynamic_slice},
                                   {&ops::dynamic_update_slice, dynamic_update_slice}};
}  // namespace

std::span<const KernelEntry> structural_kernels() { return entries; }

}  // namespace uni::native
