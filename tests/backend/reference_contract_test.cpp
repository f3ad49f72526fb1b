// Reductions, windows, dot products and convolution, against sums written out over positions.
#include <complex>
#include <functional>
#include <limits>

#include "golden.hpp"
#include "ops/contract.hpp"

namespace uni {
namespace {

using namespace backend_test;
constexpr double infinity = std::numeric_limits<double>::infinity();

HostArray eval(const ir::Op& op, const HostArrays& in, const ir::Params& params = {}) {
  return run_op(runtime::reference_client(), op, in, params);
}
using Position = std::vector<i64>;
void for_each(const Dims& shape, const std::function<void(const Position&)>& f) {
  for (i64 i = 0; i < shape.count(); ++i) {
    Position p(static_cast<std::size_t>(shape.rank()));
    i64 rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      p[static_cast<std::size_t>(d)] = rest % shape[d];
      rest /= shape[d];
    }
    f(p);
  }
}
// The element at a position; 0 outside.
double element(const HostArray& a, const Position& p) {
  i64 flat = 0;
  for (int d = 0; d < a.shape.rank(); ++d) {
    const i64 i = p[static_cast<std::size_t>(d)];
    if (i < 0 || i >= a.shape[d]) return 0;
    flat = flat * a.shape[d] + i;
  }
  return a.element(flat).to_double();
}
HostArray waves(Dtype dtype, const Dims& shape) {
  std::vector<double> v;
  for (i64 i = 0; i < shape.count(); ++i) v.push_back(std::round(8 * std::sin(static_cast<double>(i * i + 1))));
  return host(dtype, shape, v);
}

TEST(ReferenceReduce, SumsAlongAxes) {
  const HostArray x = ramp(Dtype::i32, {2, 3, 2});
  EXPECT_EQ(eval(ops::reduce_sum, {x}, ops::Reduce{{1}}), host(Dtype::i32, {2, 2}, {6, 9, 24, 27}));
  EXPECT_EQ(eval(ops::reduce_sum, {x}, ops::Reduce{{0, 2}}), host(Dtype::i32, {3}, {14, 22, 30}));
  EXPECT_EQ(eval(ops::reduce_sum, {x}, ops::Reduce{{0, 1, 2}}), host(Dtype::i32, {}, {66}));
  EXPECT_EQ(eval(ops::reduce_prod, {host(Dtype::u8, {3}, {100, 2, 3})}, ops::Reduce{{0}}), host(Dtype::u8, {}, {88}));
  EXPECT_EQ(eval(ops::reduce_sum, {host(Dtype::i8, {2}, {100, 101})}, ops::Reduce{{0}}), host(Dtype::i8, {}, {-55}));
  const std::vector<std::complex<float>> z = {{1, 2}, {3, -1}};
  EXPECT_EQ(eval(ops::reduce_prod, {raw(Dtype::c64, {2}, z)}, ops::Reduce{{0}}).at<std::complex<float>>(0),
            (std::complex<float>{5, 5}));
}
TEST(ReferenceReduce, EmptyOnesGiveTheNeutralElement) {
  const std::map<const ir::Op*, std::vector<double>> want = {{&ops::reduce_sum, {0, 0, 0}},
                                                             {&ops::reduce_prod, {1, 1, 1}},
                                                             {&ops::reduce_max, {-infinity, -128, 0}},
                                                             {&ops::reduce_min, {infinity, 127, 255}}};
  for (const auto& [op, values] : want) {
    EXPECT_EQ(eval(*op, {host(Dtype::f16, {0}, {})}, ops::Reduce{{0}}), host(Dtype::f16, {}, {values[0]})) << op->name;
    EXPECT_EQ(eval(*op, {host(Dtype::i8, {0}, {})}, ops::Reduce{{0}}), host(Dtype::i8, {}, {values[1]})) << op->name;
    EXPECT_EQ(eval(*op, {host(Dtype::u8, {0}, {})}, ops::Reduce{{0}}), host(Dtype::u8, {}, {values[2]})) << op->name;
  }
  EXPECT_EQ(eval(ops::reduce_and, {host(Dtype::b8, {0, 2}, {})}, ops::Reduce{{0}}), host(Dtype::b8, {2}, {1, 1}));
  EXPECT_EQ(eval(ops::reduce_or, {host(Dtype::b8, {0, 2}, {})}, ops::Reduce{{0}}), host(Dtype::b8, {2}, {0, 0}));
}
TEST(ReferenceReduce, NanWinsAndZerosHaveSigns) {
  const double nan = std::nan("");
  for (const Dtype d : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
    const HostArray x = host(d, {2, 3}, {1, nan, 3, -0.0, 0, -0.0});
    EXPECT_EQ(difference(eval(ops::reduce_max, {x}, ops::Reduce{{1}}), host(d, {2}, {nan, 0})), "");
    EXPECT_EQ(difference(eval(ops::reduce_min, {x}, ops::Reduce{{1}}), host(d, {2}, {nan, -0.0})), "");
    EXPECT_EQ(eval(ops::argmax, {x}, ops::ArgReduce{1, Dtype::i32}), host(Dtype::i32, {2}, {1, 0}));
    EXPECT_EQ(eval(ops::argmin, {x}, ops::ArgReduce{0, Dtype::u8}), host(Dtype::u8, {3}, {1, 0, 1}));
  }
  EXPECT_FALSE(std::signbit(eval(ops::reduce_sum, {vec(Dtype::f32, {-0.0, -0.0})}, ops::Reduce{{0}}).at<float>(0)));
  EXPECT_EQ(eval(ops::argmax, {vec(Dtype::i32, {3, 7, 7})}, ops::ArgReduce{0, Dtype::i64}), host(Dtype::i64, {}, {1}));
  EXPECT_EQ(eval(ops::argmin, {vec(Dtype::b8, {1, 0, 0})}, ops::ArgReduce{0, Dtype::i32}), host(Dtype::i32, {}, {1}));
}
TEST(ReferenceReduce, RoundsOnce) {
  EXPECT_EQ(values(eval(ops::reduce_sum, {host(Dtype::bf16, {4096}, std::vector<double>(4096, 1))}, ops::Reduce{{0}})),
            (std::vector<double>{4096}));
  EXPECT_EQ(
      values(eval(ops::reduce_sum, {host(Dtype::bf16, {1000}, std::vector<double>(1000, 0.1))}, ops::Reduce{{0}})),
      (std::vector<double>{100}));
  EXPECT_EQ(values(eval(ops::reduce_sum, {host(Dtype::f16, {70000}, std::vector<double>(70000, 1))}, ops::Reduce{{0}})),
            (std::vector<double>{infinity}));
  // A million numbers: the error does not grow with the count.
  const HostArray x = host(Dtype::f32, {1000000}, std::vector<double>(1000000, 0.1));
  EXPECT_EQ(eval(ops::reduce_sum, {x}, ops::Reduce{{0}}).at<float>(0),
            static_cast<float>(1e6 * static_cast<double>(0.1f)));
}

TEST(ReferenceWindow, SumAndMaxWithPadding) {
  const HostArray x = host(Dtype::f32, {2, 3}, {1, 5, 2, 4, 3, 6});
  const ops::Window pool{{2, 2}, {1, 1}, {0, 1}, {0, 0}};
  EXPECT_EQ(eval(ops::reduce_window_sum, {x}, pool), host(Dtype::f32, {1, 3}, {5, 13, 16}));
  EXPECT_EQ(eval(ops::reduce_window_max, {x}, pool), host(Dtype::f32, {1, 3}, {4, 5, 6}));
  const ops::Window strided{{1, 2}, {1, 2}, {0, 0}, {0, 3}};
  EXPECT_EQ(eval(ops::reduce_window_sum, {x}, strided), host(Dtype::f32, {2, 3}, {6, 2, 0, 7, 6, 0}));
  EXPECT_EQ(eval(ops::reduce_window_max, {x}, strided), host(Dtype::f32, {2, 3}, {5, 2, -infinity, 4, 6, -infinity}));
  EXPECT_EQ(eval(ops::reduce_window_max, {host(Dtype::i8, {1}, {-5})}, ops::Window{{1}, {1}, {1}, {0}}),
            host(Dtype::i8, {2}, {-128, -5}));
}
TEST(ReferenceWindow, FirstMaximumIsChosen) {
  const HostArray x = host(Dtype::f32, {6}, {1, 2, 2, 0, std::nan(""), 3});
  const ops::Window w{{2}, {1}, {1}, {1}};  // windows: [1] 12 22 20 0nan nan3 3
  EXPECT_EQ(eval(ops::window_gather_max, {ramp(Dtype::f32, {6}), x}, w), host(Dtype::f32, {7}, {0, 1, 1, 2, 4, 4, 5}));
  EXPECT_EQ(eval(ops::window_scatter_max, {host(Dtype::f32, {7}, {1, 2, 4, 8, 16, 32, 64}), x}, w),
            host(Dtype::f32, {6}, {1, 6, 8, 0, 48, 64}));
}

TEST(ReferenceDot, BatchFreeAndContracted) {
  for (const Dtype d : {Dtype::i32, Dtype::f16, Dtype::f64, Dtype::c64}) {
    const HostArray lhs = waves(d, {3, 2, 4, 5}), rhs = waves(d, {4, 6, 3, 2});
    const HostArray got = eval(ops::dot_general, {lhs, rhs}, ops::DotGeneral{{2, 1}, {0, 3}, {0}, {2}});
    ASSERT_EQ(got.shape, (Dims{3, 5, 6}));
    const std::vector<double> flat = values(got);
    i64 at = 0;
    for_each(got.shape, [&](const Position& p) {
      double sum = 0;
      for (i64 k = 0; k < 4; ++k)
        for (i64 j = 0; j < 2; ++j) {
          const Position a{p[0], j, k, p[1]}, b{k, p[2], p[0], j};
          const auto read = [&](const HostArray& h, const Position& q) {
            return is_inexact(d) ? element(h, q)
                                 : values(h)[static_cast<std::size_t>(
                                       ((q[0] * h.shape[1] + q[1]) * h.shape[2] + q[2]) * h.shape[3] + q[3])];
          };
          sum += read(lhs, a) * read(rhs, b);
        }
      EXPECT_EQ(flat[static_cast<std::size_t>(at++)], sum) << name(d);
    });
  }
}
TEST(ReferenceDot, EdgesAndAccumulation) {
  const ops::DotGeneral matmul{{1}, {0}, {}, {}};
  EXPECT_EQ(eval(ops::dot_general, {host(Dtype::f32, {2, 0}, {}), host(Dtype::f32, {0, 3}, {})}, matmul),
            host(Dtype::f32, {2, 3}, std::vector<double>(6, 0)));
  EXPECT_EQ(
      values(eval(ops::dot_general,
                  {vec(Dtype::bf16, std::vector<double>(4096, 1)), vec(Dtype::bf16, std::vector<double>(4096, 1))},
                  ops::DotGeneral{{0}, {0}, {}, {}})),
      (std::vector<double>{4096}));
  EXPECT_EQ(values(eval(ops::dot_general, {vec(Dtype::i8, {100, 1}), vec(Dtype::i8, {2, 1})},
                        ops::DotGeneral{{0}, {0}, {}, {}})),
            (std::vector<double>{-55}));
  const std::vector<std::complex<double>> z = {{0, 1}, {2, 0}};
  EXPECT_EQ(
      eval(ops::dot_general, {raw(Dtype::c128, {2}, z), raw(Dtype::c128, {2}, z)}, ops::DotGeneral{{0}, {0}, {}, {}})
          .at<std::complex<double>>(0),
      (std::complex<double>{3, 0}));  // no conjugation
}

// The definition: x spread by its dilation and padded, kernel spread by its dilation, no flip.
double conv_at(const HostArray& x, const HostArray& kernel, const ops::Conv& p, const Dims& out, const Position& o) {
  const int n = p.stride.rank();
  const i64 per_group = kernel.shape[n], features = kernel.shape[n + 1], feature = o.back();
  double sum = 0;
  for_each(kernel.shape, [&](const Position& k) {
    if (k.back() != feature) return;
    Position at(static_cast<std::size_t>(n) + 2);
    at[0] = feature / (features / p.batch_groups) * out[0] + o[0];
    at.back() = feature / (features / p.groups) * per_group + k[static_cast<std::size_t>(n)];
    for (int d = 0; d < n; ++d) {
      const auto i = static_cast<std::size_t>(d);
      const i64 spread = o[i + 1] * p.stride[d] + k[i] * p.kernel_dilation[d] - p.low[d];
      if (spread < 0 || spread % p.input_dilation[d] != 0) return;
      at[i + 1] = spread / p.input_dilation[d];
    }
    sum += element(x, at) * element(kernel, k);
  });
  return sum;
}
TEST(ReferenceConv, StridesPaddingDilationGroups) {
  struct Case {
    Dims x, kernel;
    ops::Conv params;
  };
  const std::vector<Case> cases = {{{2, 5, 3}, {3, 3, 4}, {{1}, {0}, {0}, {1}, {1}, 1, 1}},
                                   {{2, 7, 2}, {2, 2, 3}, {{2}, {1}, {2}, {1}, {2}, 1, 1}},
                                   {{1, 4, 2}, {3, 2, 2}, {{1}, {2}, {1}, {2}, {1}, 1, 1}},
                                   {{1, 6, 2}, {2, 2, 2}, {{1}, {-1}, {-2}, {1}, {1}, 1, 1}},
                                   {{2, 4, 5, 4}, {2, 3, 2, 6}, {{1, 2}, {1, 0}, {0, 1}, {1, 1}, {1, 1}, 2, 1}},
                                   {{4, 3, 3, 2}, {2, 2, 2, 4}, {{1, 1}, {0, 1}, {0, 0}, {1, 1}, {1, 1}, 1, 2}},
                                   {{3, 2}, {2, 5}, {{}, {}, {}, {}, {}, 1, 1}}};
  for (const Dtype d : {Dtype::f16, Dtype::f64, Dtype::c128})
    for (const Case& c : cases) {
      const HostArray x = waves(d, c.x), kernel = waves(d, c.kernel);
      const HostArray got = eval(ops::conv, {x, kernel}, c.params);
      const std::vector<double> flat = values(got);
      std::size_t at = 0;
      for_each(got.shape,
               [&](const Position& o) { EXPECT_EQ(flat[at++], conv_at(x, kernel, c.params, got.shape, o)); });
      EXPECT_GT(at, 0u);
    }
}

}  // namespace
}  // namespace uni
