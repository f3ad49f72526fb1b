// Samples of reductions, windows, dot products and convolutions, drawn configurations among them.
#include <limits>
#include <random>

#include "ops/contract.hpp"
#include "samples.hpp"

namespace uni::contract {

namespace {
// Public functions of the same names exist.
using core::Primitive;
using ops::argmax, ops::argmin, ops::ArgReduce, ops::Conv, ops::dot_general, ops::DotGeneral, ops::Reduce,
    ops::reduce_and, ops::reduce_max, ops::reduce_min, ops::reduce_or, ops::reduce_prod, ops::reduce_sum,
    ops::reduce_window_max, ops::reduce_window_sum, ops::Window, ops::window_gather_max, ops::window_scatter_max;

const std::vector<Dtype> floats = {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16};
const std::vector<Dtype> complexes = {Dtype::c128, Dtype::c64};
const std::vector<Dtype> integers = {Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64,
                                     Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64};
std::vector<Dtype> operator+(std::vector<Dtype> a, const std::vector<Dtype>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void reductions(Samples& out) {
  const std::pair<Dims, std::vector<int>> cases[] = {{{}, {}},
                                                     {{0}, {0}},
                                                     {{5}, {0}},
                                                     {{1}, {0}},
                                                     {{2, 3}, {}},
                                                     {{2, 3}, {0}},
                                                     {{2, 3}, {1}},
                                                     {{2, 3}, {0, 1}},
                                                     {{3, 0}, {1}},
                                                     {{3, 0}, {0}},
                                                     {{2, 3, 2}, {1}},
                                                     {{2, 3, 2}, {0, 2}},
                                                     {{2, 2, 3, 2}, {1, 3}}};
  for (const auto& [shape, axes] : cases) {
    for (const Primitive* row : {&reduce_sum, &reduce_prod}) out.add(*row, {{Dtype::f64, shape}}, Reduce{axes});
    for (const Primitive* row : {&reduce_max, &reduce_min})
      out.add(*row, {.operands = {{Dtype::f64, shape}}, .params = Reduce{axes}, .stopped = shape.count() == 0});
    for (const Primitive* row : {&reduce_and, &reduce_or}) out.add(*row, {{Dtype::b8, shape}}, Reduce{axes});
  }
  for (const Dtype d : floats + complexes + integers) {
    for (const Primitive* row : {&reduce_sum, &reduce_prod}) out.add(*row, {{d, {3, 4}}}, Reduce{{1}});
    if (is_complex(d)) continue;
    for (const Primitive* row : {&reduce_max, &reduce_min}) out.add(*row, {{d, {3, 4}}}, Reduce{{1}});
    for (const Primitive* row : {&argmax, &argmin}) out.add(*row, {{d, {3, 4}}}, ArgReduce{1, Dtype::i64});
  }
  for (const Primitive* row : {&reduce_max, &reduce_min}) out.add(*row, {{Dtype::b8, {3, 4}}}, Reduce{{0}});
  out.add(reduce_or, {{Dtype::b8, {2, 3}, 0, 0, {0}}}, Reduce{{1}});
  out.add(reduce_and, {{Dtype::b8, {2, 3}, 0, 0, {1}}}, Reduce{{1}});
  // Products of zeros: the derivative is the product of the others.
  for (const std::vector<double>& x : {std::vector<double>{2, 0, 3, 4, 5}, {0, 2, 0, 3, 4}, {0, 0, 0, 1, 2}})
    out.add(reduce_prod, {{Dtype::f64, {5}, 0, 0, x}}, Reduce{{0}});
  for (const Primitive* row : {&argmax, &argmin}) {
    out.add(*row, {{Dtype::b8, {2, 3}}}, ArgReduce{0, Dtype::i32});
    for (const Dims& shape : {Dims{1}, Dims{5}, Dims{2, 3}, Dims{2, 2, 3}, Dims{0, 2}})
      out.add(*row, {{Dtype::f64, shape}}, ArgReduce{shape.rank() - 1, Dtype::i32});
    out.add(*row, {{Dtype::i32, {6}, 0, 0, {1, 3, 3, 0, 0, 2}}}, ArgReduce{0, Dtype::u8});
  }
}

void cumulatives(Samples& out) {
  using ops::cumlogsumexp, ops::cummax, ops::cummin, ops::cumprod, ops::cumsum, ops::Cumulative;
  const auto rows = {&cumsum, &cumprod, &cummax, &cummin, &cumlogsumexp};
  for (const bool reverse : {false, true})
    for (const auto& [shape, axis] : std::vector<std::pair<Dims, int>>{
             {{5}, 0}, {{0}, 0}, {{1}, 0}, {{2, 3}, 0}, {{2, 3}, 1}, {{3, 0}, 0}, {{2, 3, 2}, 1}, {{8, 2}, 0}})
      for (const Primitive* row : rows) out.add(*row, {{Dtype::f64, shape}}, Cumulative{axis, reverse});
  // Extrema far enough apart for finite differences, factors near 1.
  for (const Primitive* row : rows) {
    const double spread = row == &cummax || row == &cummin ? 2000 : 0.001;
    out.add(*row, {{Dtype::f64, {4100}, -1 - spread, -1 + spread}}, Cumulative{0, true});
  }
  for (const Dtype d : floats + complexes + integers) {
    for (const Primitive* row : {&cumsum, &cumprod}) out.add(*row, {{d, {3, 4}}}, Cumulative{1});
    if (is_complex(d)) continue;
    for (const Primitive* row : {&cummax, &cummin}) out.add(*row, {{d, {3, 4}}}, Cumulative{1});
    if (is_inexact(d)) out.add(cumlogsumexp, {{d, {3, 4}}}, Cumulative{1});
  }
  for (const Primitive* row : {&cummax, &cummin}) out.add(*row, {{Dtype::b8, {3, 4}}}, Cumulative{0});
  for (const std::vector<double>& x : {std::vector<double>{2, 0, 3, 4, 5}, {0, 2, 0, 3, 4}, {0, 0, 0, 1, 2}})
    out.add(cumprod, {{Dtype::f64, {5}, 0, 0, x}}, Cumulative{0});
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Primitive* row : rows)
    out.add(*row, {{Dtype::f32, {9}, 0, 0, {-inf, -inf, 0.0, -0.0, 90, inf, inf, nan, 1}}}, Cumulative{0});
}

int drawn(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

void windows(Samples& out) {
  const auto add_all = [&](Dtype d, const Dims& shape, const Window& w) {
    Dims result = shape;
    for (int i = 0; i < shape.rank(); ++i) {
      const i64 room = shape[i] + w.low[i] + w.high[i] - w.size[i];
      result[i] = room < 0 ? 0 : room / w.stride[i] + 1;
    }
    out.add(reduce_window_sum, {{d, shape}}, w);
    if (is_complex(d)) return;
    bool padding_alone = false;  // a window of padding gives -inf, which finite differences cannot take
    for (int i = 0; i < shape.rank(); ++i)
      padding_alone = padding_alone || w.low[i] >= w.size[i] || w.high[i] >= w.size[i];
    const Dtype e = padding_alone ? Dtype::f32 : d;
    out.add(reduce_window_max, {{e, shape}}, w);
    out.add(window_gather_max, {{e, shape}, {e, shape}}, w, {{0}});
    out.add(window_scatter_max, {{e, result}, {e, shape}}, w, {{0}});
  };
  for (const Dtype d : floats + complexes + integers) add_all(d, {5, 4}, Window{{2, 3}, {1, 2}, {1, 0}, {0, 1}});
  add_all(Dtype::f64, {}, Window{});
  add_all(Dtype::f64, {0}, Window{{2}, {1}, {0}, {0}});
  add_all(Dtype::f64, {0}, Window{{2}, {1}, {2}, {1}});
  add_all(Dtype::f64, {3}, Window{{4}, {2}, {0}, {0}});
  add_all(Dtype::f64, {3, 4}, Window{{1, 4}, {1, 4}, {0, 0}, {0, 0}});
  std::mt19937 random(3);
  for (int n = 0; n < 12; ++n) {
    Dims shape;
    Window w;
    for (int i = 0; i < drawn(random, 1, 3); ++i) {
      shape.push_back(drawn(random, 1, 5));
      w.size.push_back(drawn(random, 1, 3));
      w.stride.push_back(drawn(random, 1, 3));
      w.low.push_back(drawn(random, 0, 2));
      w.high.push_back(drawn(random, 0, 2));
    }
    while (w.size.rank() > shape.rank()) shape.push_back(1);
    add_all(Dtype::f64, shape, w);
  }
}

void dots(Samples& out) {
  const LinearSets each = {{0}, {1}};
  for (const Dtype d : floats + complexes + integers) {
    out.add(dot_general, {{d, {3, 4}}, {d, {4, 2}}}, DotGeneral{{1}, {0}, {}, {}}, each);
    out.add(dot_general, {{d, {2, 3, 4}}, {d, {4, 2, 2}}}, DotGeneral{{2}, {0}, {0}, {1}}, each);
  }
  const struct {
    Dims lhs, rhs;
    DotGeneral dims;
  } cases[] = {{{}, {}, {}},
               {{3}, {3}, {{0}, {0}, {}, {}}},
               {{3}, {2}, {}},
               {{0}, {0}, {{0}, {0}, {}, {}}},
               {{2, 0}, {0, 3}, {{1}, {0}, {}, {}}},
               {{0, 2}, {2, 3}, {{1}, {0}, {}, {}}},
               {{2, 3}, {3}, {{1}, {0}, {}, {}}},
               {{2, 3}, {2, 3}, {{0, 1}, {0, 1}, {}, {}}},
               {{2, 3}, {3, 2}, {{0, 1}, {1, 0}, {}, {}}},
               {{2, 3}, {2, 3}, {{}, {}, {0, 1}, {0, 1}}},
               {{2, 3, 4}, {4, 3, 2}, {{2}, {0}, {1, 0}, {1, 2}}},
               {{4, 2, 3}, {2, 5, 4, 3}, {{0}, {2}, {1}, {0}}},
               {{3, 4, 2, 5}, {5, 2, 4, 6}, {{3, 1}, {0, 2}, {2}, {1}}},
               {{2, 3, 4, 5}, {6, 5, 3, 4}, {{3, 1, 2}, {1, 2, 3}, {}, {}}}};
  for (const auto& c : cases) out.add(dot_general, {{Dtype::f64, c.lhs}, {Dtype::f64, c.rhs}}, c.dims, each);
}

Conv plain(int spatial) {
  const Dims ones(std::vector<i64>(static_cast<std::size_t>(spatial), 1));
  const Dims zeros(std::vector<i64>(static_cast<std::size_t>(spatial), 0));
  return {ones, zeros, zeros, ones, ones};
}
// A configuration whose result is not larger than a few hundred elements.
void drawn_conv(Samples& out, std::mt19937& random, Dtype dtype) {
  const int spatial = drawn(random, 0, 2), grouping = drawn(random, 0, 2);
  Conv p = plain(spatial);
  p.groups = grouping == 1 ? drawn(random, 2, 3) : 1;
  p.batch_groups = grouping == 2 ? drawn(random, 2, 3) : 1;
  const i64 per_group = drawn(random, 1, 2);
  Dims x{p.batch_groups * drawn(random, 1, 2)}, kernel;
  for (int i = 0; i < spatial; ++i) {
    x.push_back(drawn(random, 1, 6));
    kernel.push_back(drawn(random, 1, 3));
    p.stride[i] = drawn(random, 1, 3);
    p.input_dilation[i] = drawn(random, 1, 2);
    p.kernel_dilation[i] = drawn(random, 1, 2);
    p.low[i] = drawn(random, -2, 3);
    p.high[i] = drawn(random, -2, 3);
  }
  x.push_back(p.groups * per_group);
  kernel.push_back(per_group);
  kernel.push_back(p.groups * p.batch_groups * drawn(random, 1, 2));
  out.add(ops::conv, {{dtype, x}, {dtype, kernel}}, p, {{0}, {1}});
}
void convolutions(Samples& out) {
  const LinearSets each = {{0}, {1}};
  for (const Dtype d : floats + complexes) {
    Conv p = plain(2);
    p.stride = {2, 1};
    p.low = p.high = {1, 1};
    out.add(ops::conv, {{d, {2, 5, 4, 3}}, {d, {3, 3, 3, 4}}}, p, each);
  }
  const struct {
    Dims x, kernel;
  } empty[] = {{{0, 3, 2}, {2, 2, 3}}, {{2, 0, 2}, {2, 2, 3}}, {{2, 3, 0}, {2, 0, 3}}, {{2, 3, 2}, {2, 2, 0}},
               {{2, 1, 2}, {3, 2, 3}}, {{2, 3, 2}, {1, 2, 3}}, {{2, 2}, {2, 3}}};
  for (const auto& e : empty)
    out.add(ops::conv, {{Dtype::f64, e.x}, {Dtype::f64, e.kernel}}, plain(e.x.rank() - 2), each);
  std::mt19937 random(7);
  for (int n = 0; n < 40; ++n) drawn_conv(out, random, n % 8 == 7 ? Dtype::c128 : Dtype::f64);
}

const SampleFamily family([] {
  Samples out;
  reductions(out);
  cumulatives(out);
  windows(out);
  dots(out);
  convolutions(out);
  return out.take();
});
}  // namespace

}  // namespace uni::contract
