// Threefry.
#include "ops/random.hpp"

#include "backend/reference/eval.hpp"

namespace uni::reference {

namespace {
ops::Words block(Key key, std::uint64_t counter) {
  return ops::threefry2x32({key.a, key.b},
                           {static_cast<std::uint32_t>(counter >> 32), static_cast<std::uint32_t>(counter)});
}
// Calls fn(position in the result, the words there): every key has its own counters from 0.
template <class Fn>
void for_each_block(const Call& c, const Fn& fn) {
  const i64 keys = c.in[0].count(), each = keys == 0 ? 0 : c.out[0].count() / keys;
  for (i64 k = 0; k < keys; ++k)
    for (i64 i = 0; i < each; ++i) fn(k * each + i, block(c.in[0].as<Key>()[k], static_cast<std::uint64_t>(i)));
}
void eval_bits(const Call& c) {
  with_dtype(
      c.eqn, c.out[0].type.dtype, [&]<std::unsigned_integral T>(T) requires(Integer<T>) {
        for_each_block(c, [&](i64 i, ops::Words w) {
          c.out[0].as<T>()[i] = static_cast<T>(sizeof(T) == 8 ? std::uint64_t{w.a} << 32 | w.b : w.a ^ w.b);
        });
      });
}
void eval_split(const Call& c) {
  for_each_block(c, [&](i64 i, ops::Words w) { c.out[0].as<Key>()[i] = {w.a, w.b}; });
}
void eval_fold_in(const Call& c) {
  for (i64 i = 0; i < c.out[0].count(); ++i) {
    const ops::Words w = block(c.in[0].as<Key>()[i], c.in[1].as<std::uint32_t>()[i]);
    c.out[0].as<Key>()[i] = {w.a, w.b};
  }
}
constexpr Evaluator table[] = {{&ops::random_bits, eval_bits},
                               {&ops::random_split, eval_split},
                               {&ops::random_fold_in, eval_fold_in},
                               {&ops::key_wrap, [](const Call& c) { copy_all(c.in[0], c.out[0]); }},
                               {&ops::key_unwrap, [](const Call& c) { copy_all(c.in[0], c.out[0]); }}};
}  // namespace

std::span<const Evaluator> random_evaluators() { return table; }

}  // namespace uni::reference
