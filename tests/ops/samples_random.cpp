// Samples of the rows on random keys.
#include "ops/random.hpp"
#include "samples.hpp"

namespace uni::contract {

namespace {
const SampleFamily family([] {
  Samples out;
  const std::vector<Dims> shapes = {{}, {0}, {1}, {5}, {2, 2}};
  for (const Dims& keys : std::vector<Dims>{{}, {3}, {2, 2}}) {
    for (const Dims& shape : shapes) {
      for (const int width : {8, 16, 32, 64})
        out.add(ops::random_bits, {{Dtype::key, keys}}, ops::RandomBits{width, shape});
      out.add(ops::random_split, {{Dtype::key, keys}}, ops::RandomSplit{shape});
    }
  }
  for (const Dims& shape : shapes) {
    Dims words = shape;
    words.push_back(2);
    out.add(ops::random_fold_in, {{Dtype::key, shape}, {Dtype::u32, shape, 0, 4e9}});
    out.add(ops::key_wrap, {{Dtype::u32, words, 0, 4e9}});
    out.add(ops::key_unwrap, {{Dtype::key, shape}});
  }
  return out.take();
});
}  // namespace

}  // namespace uni::contract
