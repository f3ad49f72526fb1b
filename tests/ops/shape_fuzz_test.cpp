// Drawn types and parameters: a row gives a type or an Error, and what it accepts evaluates to that type.
#include <gtest/gtest.h>

#include <random>

#include "ops/contract.hpp"
#include "ops/linalg.hpp"
#include "ops/structural.hpp"
#include "row_contract.hpp"
#include "row_values.hpp"
#include <unisono/error.hpp>

namespace uni::contract {

namespace {
using core::Type;
using core::Types;

class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed) {}
  int number(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  // Mostly sensible, now and then absurd.
  i64 size() {
    constexpr i64 absurd[] = {-1, i64{1} << 40, i64{1} << 62, -(i64{1} << 62), INT64_MAX, INT64_MIN};
    return number(0, 60) == 0 ? absurd[number(0, 5)] : number(0, 3);
  }
  i64 offset() { return number(0, 2) == 0 ? number(-3, -1) : size(); }
  Dims sizes(int rank) {
    Dims d;
    if (number(0, 20) == 0) rank = number(0, 3);
    for (int i = 0; i < rank; ++i) d.push_back(size());
    return d;
  }
  Dims offsets(int rank) {
    Dims d;
    for (int i = 0; i < rank; ++i) d.push_back(offset());
    return d;
  }
  std::vector<int> axes(int count, int rank) {
    std::vector<int> a;
    for (int i = 0; i < count; ++i) a.push_back(number(0, 15) == 0 ? number(-2, 5) : number(0, std::max(rank - 1, 0)));
    return a;
  }
  Type type(int rank, Dtype dtype) {
    Dims shape;
    for (int i = 0; i < rank; ++i) shape.push_back(number(0, 8) == 0 ? 0 : number(1, 4));
    return {dtype, shape, false, {}};
  }
  Dtype dtype() {
    constexpr Dtype usual[] = {Dtype::f32, Dtype::f32, Dtype::f32, Dtype::i32, Dtype::b8, Dtype::c64, Dtype::key};
    return usual[number(0, 6)];
  }

 private:
  std::mt19937 random_;
};

struct Call {
  Types in;
  core::Params params;
};
using Draw = Call (*)(Drawing&);

Call one(Drawing& d, int rank, core::Params p) { return {{d.type(rank, d.dtype())}, std::move(p)}; }
Call dynamic(Drawing& d, int arrays, core::Params p, int rank) {
  Call c{{}, std::move(p)};
  const Dtype dtype = d.dtype();
  for (int i = 0; i < arrays; ++i) c.in.push_back(d.type(rank, dtype));
  for (int i = 0; i < rank; ++i) c.in.push_back(d.type(0, Dtype::i32));
  return c;
}
Call indexed(Drawing& d, bool scatter) {
  const int rank = d.number(0, 3), batch = d.number(0, 2), k = d.number(0, std::max(rank, 1));
  const Dtype dtype = d.dtype();
  Call c{{d.type(rank, dtype), d.type(batch, Dtype::i32)}, {}};
  Dims updates = c.in[1].shape;
  c.in[1].shape.push_back(k);
  for (int i = k; i < rank; ++i) updates.push_back(c.in[0].shape[i]);
  const auto mode = static_cast<ops::IndexMode>(d.number(0, 1));
  if (!scatter) {
    c.params = ops::Gather{mode, ir::Scalar{dtype, 0, 0}};
    return c;
  }
  c.in.push_back({dtype, updates, false, {}});
  c.params = ops::Scatter{static_cast<ops::Combine>(d.number(0, 5)), mode};
  return c;
}
Call cumulative(Drawing& d) { return one(d, 2, ops::Cumulative{d.number(-1, 2), d.number(0, 1) == 1}); }
Call windowed(Drawing& d, int operands) {
  const int rank = d.number(0, 2);
  Call c{{}, ops::Window{d.sizes(rank), d.sizes(rank), d.sizes(rank), d.sizes(rank)}};
  const Dtype dtype = d.dtype();
  for (int i = 0; i < operands; ++i) c.in.push_back(i ? c.in[0] : d.type(rank, dtype));
  return c;
}
Call convolution(Drawing& d) {
  const int n = d.number(0, 2);
  const Dtype dtype = d.number(0, 1) ? Dtype::f32 : Dtype::c64;
  Call c{{d.type(n + 2, dtype), d.type(n + 2, dtype)}, {}};
  ops::Conv p{d.sizes(n), d.offsets(n), d.offsets(n), d.sizes(n), d.sizes(n)};
  p.groups = d.number(0, 3) ? 1 : d.size();
  p.batch_groups = d.number(0, 3) ? 1 : d.size();
  if (p.groups > 0) c.in[1].shape[n] = c.in[0].shape[n + 1] / p.groups;
  c.params = p;
  return c;
}
Call product(Drawing& d) {
  const int l = d.number(0, 3), r = d.number(0, 3), k = d.number(0, 2), b = d.number(0, 1);
  const Dtype dtype = d.dtype();
  Call c{{d.type(l, dtype), d.type(r, dtype)}, ops::DotGeneral{d.axes(k, l), d.axes(k, r), d.axes(b, l), d.axes(b, r)}};
  for (Type& t : c.in)
    for (i64& size : t.shape) size = size > 2 ? 2 : size;
  return c;
}
// Often square.
Type matrix(Drawing& d) {
  Type t = d.type(d.number(0, 10) == 0 ? d.number(0, 1) : d.number(2, 3), d.dtype());
  if (t.shape.rank() >= 2 && d.number(0, 4) != 0) t.shape[-2] = t.shape[-1];
  return t;
}
Call factorised(Drawing& d, core::Params p) { return {{matrix(d)}, std::move(p)}; }
Call system(Drawing& d, core::Params p) {
  Call c{{matrix(d), {}}, std::move(p)};
  c.in[1] = d.number(0, 3) ? c.in[0] : matrix(d);
  return c;
}

const std::pair<const core::Primitive*, Draw> draws[] = {
    {&ops::full,
     [](Drawing& d) {
       return Call{{}, ops::Full{ir::Scalar{d.dtype(), 0, 0}, d.sizes(d.number(0, 3))}};
     }},
    {&ops::iota,
     [](Drawing& d) {
       return Call{{}, ops::Iota{d.dtype(), d.sizes(d.number(0, 3)), d.number(-1, 3)}};
     }},
    {&ops::broadcast_in_dim,
     [](Drawing& d) {
       const int rank = d.number(0, 2);
       return one(d, rank, ops::BroadcastInDim{d.sizes(rank + d.number(0, 1)), d.axes(rank, rank + 1)});
     }},
    {&ops::reshape, [](Drawing& d) { return one(d, d.number(0, 3), ops::Reshape{d.sizes(d.number(0, 3))}); }},
    {&ops::transpose,
     [](Drawing& d) {
       const int rank = d.number(0, 3);
       return one(d, rank, ops::Transpose{d.axes(rank, rank)});
     }},
    {&ops::slice,
     [](Drawing& d) {
       const int rank = d.number(0, 2);
       return one(d, rank, ops::SliceParams{d.sizes(rank), d.sizes(rank), d.sizes(rank)});
     }},
    {&ops::pad,
     [](Drawing& d) {
       const int rank = d.number(0, 2);
       Call c = one(d, rank, ops::Pad{d.offsets(rank), d.offsets(rank), d.sizes(rank)});
       c.in.push_back(d.type(0, c.in[0].dtype));
       return c;
     }},
    {&ops::concatenate,
     [](Drawing& d) {
       Call c = one(d, d.number(0, 2), ops::Concatenate{d.number(-1, 2)});
       for (int n = d.number(0, 2); n > 0; --n) c.in.push_back(d.number(0, 3) ? c.in[0] : d.type(1, d.dtype()));
       return c;
     }},
    {&ops::reverse, [](Drawing& d) { return one(d, 2, ops::Reverse{d.axes(d.number(0, 2), 2)}); }},
    {&ops::dynamic_slice,
     [](Drawing& d) {
       const int rank = d.number(0, 2);
       return dynamic(d, 1, ops::DynamicSlice{d.sizes(rank)}, rank);
     }},
    {&ops::dynamic_update_slice, [](Drawing& d) { return dynamic(d, 2, {ir::NoParams{}}, d.number(0, 2)); }},
    {&ops::gather, [](Drawing& d) { return indexed(d, false); }},
    {&ops::scatter, [](Drawing& d) { return indexed(d, true); }},
    {&ops::sort,
     [](Drawing& d) {
       Call c = one(d, d.number(0, 2), ops::Sort{d.number(-1, 2), d.number(0, 3)});
       for (int n = d.number(0, 2); n > 0; --n) c.in.push_back({d.dtype(), c.in[0].shape, false, {}});
       return c;
     }},
    {&ops::top_k, [](Drawing& d) { return one(d, d.number(0, 2), ops::TopK{d.size()}); }},
    {&ops::cumsum, cumulative},
    {&ops::cumprod, cumulative},
    {&ops::cummax, cumulative},
    {&ops::cumlogsumexp, cumulative},
    {&ops::reduce_sum, [](Drawing& d) { return one(d, 2, ops::Reduce{d.axes(d.number(0, 2), 2)}); }},
    {&ops::reduce_prod, [](Drawing& d) { return one(d, 2, ops::Reduce{d.axes(d.number(0, 2), 2)}); }},
    {&ops::reduce_max, [](Drawing& d) { return one(d, 2, ops::Reduce{d.axes(d.number(0, 2), 2)}); }},
    {&ops::reduce_or, [](Drawing& d) { return one(d, 2, ops::Reduce{d.axes(d.number(0, 2), 2)}); }},
    {&ops::argmin,
     [](Drawing& d) {
       return one(d, 2, ops::ArgReduce{d.number(-1, 2), d.dtype()});
     }},
    {&ops::reduce_window_sum, [](Drawing& d) { return windowed(d, 1); }},
    {&ops::reduce_window_max, [](Drawing& d) { return windowed(d, 1); }},
    {&ops::window_gather_max, [](Drawing& d) { return windowed(d, 2); }},
    {&ops::window_scatter_max, [](Drawing& d) { return windowed(d, 2); }},
    {&ops::dot_general, product},
    {&ops::conv, convolution},
    {&ops::cholesky, [](Drawing& d) { return factorised(d, {ir::NoParams{}}); }},
    {&ops::triangular_solve,
     [](Drawing& d) {
       return system(d, ops::TriangularSolve{.left = d.number(0, 1) == 1, .lower = d.number(0, 1) == 1});
     }},
    {&ops::solve, [](Drawing& d) { return system(d, ops::Solve{d.number(0, 1) == 1}); }},
    {&ops::eigh, [](Drawing& d) { return factorised(d, ops::Eigh{d.number(0, 1) == 1}); }},
    {&ops::svd,
     [](Drawing& d) {
       return factorised(d, ops::Svd{d.number(0, 1) == 1, d.number(0, 1) == 1});
     }},
    {&ops::pinv, [](Drawing& d) { return factorised(d, ops::Pinv{0.1}); }},
    {&ops::lu, [](Drawing& d) { return factorised(d, {ir::NoParams{}}); }},
    {&ops::qr, [](Drawing& d) { return factorised(d, ops::Qr{d.number(0, 1) == 1}); }},
};

TEST(ShapeFuzz, EveryCallGivesATypeOrAnError) {
  unsigned seed = 0;
  for (const auto& [row, draw_call] : draws) {
    Drawing d(++seed);
    int accepted = 0;
    for (int n = 0; n < 3000; ++n) {
      const Call call = draw_call(d);
      Types out;
      try {
        out = ir::infer(*row, call.in, call.params);
      } catch (const InternalError& e) {
        ADD_FAILURE() << row->name << call.params.text() << ": " << e.what();
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).rfind(std::string(row->name) + ": ", 0), 0u) << e.what();
        continue;
      }
      ++accepted;
      if (n % 10 != 0 || out[0].count() > 1000) continue;
      Arrays in;
      for (const Type& t : call.in) in.push_back(draw({t.dtype, t.shape}, static_cast<std::uint64_t>(n)));
      const Arrays values = core::bind(*row, in, call.params);
      ASSERT_EQ(values.size(), out.size());
      for (std::size_t r = 0; r < out.size(); ++r)
        EXPECT_EQ(ir::to_string(core::type_of(values[r])), ir::to_string(out[r])) << row->name << call.params.text();
    }
    EXPECT_GT(accepted, 100) << row->name << ": drawn calls are hardly ever right";
  }
}
}  // namespace

}  // namespace uni::contract
