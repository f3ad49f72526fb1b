// Threefry.
#include "ops/random.hpp"

#include "backend/reference/eval.hpp"

namespace uni::reference {

namespace {
ops::Words draw(Key key, std::uint64_t counter) {
  return ops::threefry2x32({key.a, key.b}, {static_cast<std::uint32_t>(counter >> 32), static_cast<std::uint32_t>(counter)});
}
void eval_bits(const Call& c) {
  const i64 keys = c.in[0].count(), each = keys ? c.out[0].count() / keys : 0;
  with_dtype(c.out[0].type.dtype, [&]<class T>(T) {
    if constexpr (is_int<T>) {
      for (i64 k = 0; k < keys; ++k)
        for (i64 i = 0; i < each; ++i) {
          const ops::Words w = draw(c.in[0].as<Key>()[k], static_cast<std::uint64_t>(i));
          if constexpr (sizeof(T) == 8)
            c.out[0].as<T>()[k * each + i] = static_cast<T>((std::uint64_t{w.a} << 32) | w.b);
          else
            c.out[0].as<T>()[k * each + i] = static_cast<T>(w.a ^ w.b);
        }
    }
  });
}
void eval_split(const Call& c) {
  const i64 keys = c.in[0].count(), each = keys ? c.out[0].count() / keys : 0;
  for (i64 k = 0; k < keys; ++k)
    for (i64 i = 0; i < each; ++i) {
      const ops::Words w = draw(c.in[0].as<Key>()[k], static_cast<std::uint64_t>(i));
      c.out[0].as<Key>()[k * each + i] = {w.a, w.b};
    }
}
void eval_fold_in(const Call& c) {
  for (i64 i = 0; i < c.out[0].count(); ++i) {
    const ops::Words w = draw(c.in[0].as<Key>()[i], c.in[1].as<std::uint32_t>()[i]);
    c.out[0].as<Key>()[i] = {w.a, w.b};
  }
}
void eval_copy(const Call& c) {
  std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(c.out[0].type.bytes()));
}
constexpr Evaluator table[] = {{&ops::random_bits, eval_bits},
                               {&ops::random_split, eval_split},
                               {&ops::random_fold_in, eval_fold_in},
                               {&ops::key_wrap, eval_copy},
                               {&ops::key_unwrap, eval_copy}};
}  // namespace

std::span<const Evaluator> random_evaluators() { return table; }

}  // namespace uni::reference
