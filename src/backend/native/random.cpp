// Threefry.
#include "ops/random.hpp"

#include "backend/native/walk.hpp"

namespace uni::native {

namespace {
ops::Words words(KeyWords key, std::uint64_t i) {
  return ops::threefry2x32({key.a, key.b}, {static_cast<std::uint32_t>(i >> 32), static_cast<std::uint32_t>(i)});
}
template <class Fn>
void each_draw(const KernelArgs& k, const Fn& fn) {
  const i64 keys = k.in[0].count();
  if (keys == 0) return;
  const i64 each = k.out[0].count() / keys;
  chunked(k.out[0].count(), 64, [&](i64 begin, i64 end) {
    while (begin < end) {
      const KeyWords key = k.in[0].as<KeyWords>()[begin / each];
      const i64 first = begin / each * each, stop = std::min(end, first + each);
#pragma GCC ivdep
      for (i64 i = begin; i < stop; ++i) fn(i, words(key, static_cast<std::uint64_t>(i - first)));
      begin = stop;
    }
  });
}
void bits(const KernelArgs& k) {
  switch (itemsize(k.out[0].type->dtype)) {
    case 1:
      return each_draw(
          k, [&](i64 i, ops::Words w) { k.out[0].as<std::uint8_t>()[i] = static_cast<std::uint8_t>(w.a ^ w.b); });
    case 2:
      return each_draw(
          k, [&](i64 i, ops::Words w) { k.out[0].as<std::uint16_t>()[i] = static_cast<std::uint16_t>(w.a ^ w.b); });
    case 4:
      return each_draw(k, [&](i64 i, ops::Words w) { k.out[0].as<std::uint32_t>()[i] = w.a ^ w.b; });
    default:
      return each_draw(
          k, [&](i64 i, ops::Words w) { k.out[0].as<std::uint64_t>()[i] = (std::uint64_t{w.a} << 32) | w.b; });
  }
}
void split(const KernelArgs& k) {
  each_draw(k, [&](i64 i, ops::Words w) { k.out[0].as<KeyWords>()[i] = {w.a, w.b}; });
}
void fold_in(const KernelArgs& k) {
  for (i64 i = 0; i < k.out[0].count(); ++i) {
    const ops::Words w = words(k.in[0].as<KeyWords>()[i], k.in[1].as<std::uint32_t>()[i]);
    k.out[0].as<KeyWords>()[i] = {w.a, w.b};
  }
}
void copy(const KernelArgs& k) {
  std::memcpy(k.out[0].data, k.in[0].data, static_cast<std::size_t>(k.out[0].type->bytes()));
}

constexpr KernelEntry entries[] = {{&ops::random_bits, bits},
                                   {&ops::random_split, split},
                                   {&ops::random_fold_in, fold_in},
                                   {&ops::key_wrap, copy},
                                   {&ops::key_unwrap, copy}};
}  // namespace

std::span<const KernelEntry> random_kernels() { return entries; }

}  // namespace uni::native
