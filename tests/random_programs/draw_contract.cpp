// Reductions, windows, products, convolutions; collectives.
#include <algorithm>

#include "builder.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"

namespace uni::random_programs {

namespace {
// A value that the operation takes with these parameters for its shape.
template <class ParamsOf>
bool unary(Builder& b, const ir::Op& op, int least_rank, const ParamsOf& params_of) {
  const bool fresh = b.random.chance(15);
  const ir::Var found = fresh ? -1 : b.find([&](const ir::Type& t) { return t.shape.rank() >= least_rank; });
  const Dims shape =
      found >= 0 ? b.type(found).shape : b.shape(static_cast<int>(b.random.number(std::max(1, least_rank), 4)));
  if (shape.rank() < least_rank) return false;
  const ir::Params params = params_of(shape);
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Dtype dtype = attempt == 0 && found >= 0 ? b.type(found).dtype : b.dtype();
    if (!b.accepts(op, {{dtype, shape, false, {}}}, params)) continue;
    return b.add(op, {attempt == 0 && found >= 0 ? found : b.of(dtype, shape)}, params) >= 0;
  }
  return false;
}
int some_axis(Builder& b, const Dims& shape) { return static_cast<int>(b.random.number(0, shape.rank() - 1)); }

bool reduce(Builder& b, const ir::Op& op) {
  return unary(b, op, 0, [&](const Dims& shape) { return ops::Reduce{b.some_axes(shape.rank())}; });
}
bool arg_reduce(Builder& b, const ir::Op& op) {
  constexpr Dtype to[] = {Dtype::i32, Dtype::i32, Dtype::i64, Dtype::u8};
  return unary(b, op, 1, [&](const Dims& shape) { return ops::ArgReduce{some_axis(b, shape), b.random.of(to)}; });
}
bool cumulative(Builder& b, const ir::Op& op) {
  return unary(b, op, 1, [&](const Dims& shape) { return ops::Cumulative{some_axis(b, shape), b.random.chance(50)}; });
}

ops::Window window(Builder& b, int rank) {
  ops::Window w;
  for (int d = 0; d < rank; ++d) {
    w.size.push_back(b.random.number(1, 3));
    w.stride.push_back(b.random.chance(50) ? 1 : b.random.number(1, 3));
    w.low.push_back(b.random.chance(60) ? 0 : b.random.number(0, 2));
    w.high.push_back(b.random.chance(60) ? 0 : b.random.number(0, 2));
  }
  return w;
}
bool reduce_window(Builder& b, const ir::Op& op) {
  return unary(b, op, 0, [&](const Dims& shape) { return window(b, shape.rank()); });
}
bool chosen_in_window(Builder& b, const ir::Op& op) {
  const ir::Var x = b.any();
  const ir::Type type{b.type(x).dtype, b.type(x).shape, false, {}};
  const ops::Window w = window(b, type.shape.rank());
  if (!b.accepts(ops::window_gather_max, {type, type}, w)) return false;
  Dims other = type.shape;
  if (&op == &ops::window_scatter_max) other = ir::infer(ops::window_gather_max, ir::Types{type, type}, w)[0].shape;
  return b.add(op, {b.of(type.dtype, other), x}, w) >= 0;
}

// Where the work stays small enough for the reference.
constexpr i64 most_products = 1 << 20;

bool dot_general(Builder& b, const ir::Op& op) {
  const ir::Var lhs = b.any();
  const Dims left = b.type(lhs).shape;
  if (left.rank() > 4) return false;
  ops::DotGeneral p;
  std::vector<std::pair<int, i64>> right;  // the left dimension that each right one meets, or -1, and its size
  i64 work = left.count();
  for (int d : b.permutation(left.rank())) {
    const i64 kind = b.random.number(0, 3);
    if (kind <= 1) right.emplace_back(d, left[d]);
    if (kind == 0 && left[d] > 0) p.lhs_batch.push_back(d);
    if (kind == 1 || (kind == 0 && left[d] == 0)) p.lhs_contract.push_back(d);
  }
  for (i64 n = b.random.number(0, 2); n > 0 && right.size() < 4; --n) {
    right.emplace_back(-1, b.size());
    work *= right.back().second;
  }
  if (work > most_products) return false;
  std::vector<std::pair<int, i64>> placed;
  for (int d : b.permutation(static_cast<int>(right.size()))) placed.push_back(right[static_cast<std::size_t>(d)]);
  Dims shape;
  for (const auto& r : placed) shape.push_back(r.second);
  const auto meets = [&](int d) {
    return static_cast<int>(std::find_if(placed.begin(), placed.end(), [&](const auto& r) { return r.first == d; }) -
                            placed.begin());
  };
  for (int d : p.lhs_batch) p.rhs_batch.push_back(meets(d));
  for (int d : p.lhs_contract) p.rhs_contract.push_back(meets(d));
  const Dtype dtype = b.type(lhs).dtype;
  if (!b.accepts(op, {b.type(lhs), {dtype, shape, false, {}}}, p)) return false;
  return b.random.chance(50) ? b.add(op, {lhs, b.of(dtype, shape)}, p) >= 0
                             : b.add(op, {lhs, b.input(dtype, shape)}, p) >= 0;
}

bool conv(Builder& b, const ir::Op& op) {
  constexpr Dtype types[] = {Dtype::f32, Dtype::f32,  Dtype::f32, Dtype::f64,
                             Dtype::f16, Dtype::bf16, Dtype::c64, Dtype::c128};
  const int spatial = static_cast<int>(b.random.number(0, 2));
  ops::Conv p;
  p.groups = b.random.chance(75) ? 1 : b.random.number(2, 3);
  p.batch_groups = p.groups > 1 || b.random.chance(75) ? 1 : b.random.number(2, 3);
  const i64 per_group = b.random.number(1, 4);
  Dims x{p.batch_groups * b.random.number(1, 2)}, kernel;
  for (int d = 0; d < spatial; ++d) {
    x.push_back(std::min<i64>(b.size(), b.large ? 64 : 17));
    kernel.push_back(b.random.number(1, 3));
    p.stride.push_back(b.random.number(1, 2));
    p.input_dilation.push_back(b.random.chance(70) ? 1 : 2);
    p.kernel_dilation.push_back(b.random.chance(70) ? 1 : 2);
    p.low.push_back(b.random.chance(40) ? 0 : b.random.number(-1, 3));
    p.high.push_back(b.random.chance(40) ? 0 : b.random.number(-1, 3));
  }
  x.push_back(p.groups * per_group);
  kernel.push_back(per_group);
  kernel.push_back(p.groups * p.batch_groups * b.random.number(1, 5));
  if (x.count() * kernel[-1] * 9 > most_products) return false;
  const Dtype dtype = b.random.of(types);
  if (!b.accepts(op, {{dtype, x, false, {}}, {dtype, kernel, false, {}}}, p)) return false;
  const ir::Var lhs = b.of(dtype, x);
  return b.add(op, {lhs, b.of(dtype, kernel)}, p) >= 0;
}

// Some axes of the mesh, in any order, and how many devices lie over them.
struct Group {
  ir::AxisNames axes;
  i64 size = 1;
};
Group group(Builder& b) {
  Group g;
  for (int k : b.permutation(static_cast<int>(b.mesh().axes().size()))) {
    const MeshAxis& a = b.mesh().axes()[static_cast<std::size_t>(k)];
    if (!g.axes.empty() && b.random.chance(50)) continue;
    g.axes.push_back(a.name);
    g.size *= a.size;
  }
  return g;
}
bool reduce_devices(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  return unary(b, op, 0, [&](const Dims&) { return ops::AxesOnly{g.axes, {}}; });
}
bool all_gather(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  return unary(b, op, 1, [&](const Dims& shape) {
    return ops::AllGather{g.axes, g.size, some_axis(b, shape), b.random.chance(50), b.random.chance(30)};
  });
}
// Gives the operand a dimension that the devices divide, or that has their number.
ir::Var divided(Builder& b, const Group& g, int dim, bool tiled, bool numbers) {
  Dims shape = b.shape(static_cast<int>(b.random.number(1, 3)));
  while (shape.rank() <= dim) shape.push_back(b.size());
  shape[dim] = tiled ? g.size * b.random.number(1, 3) : g.size;
  Dtype dtype = b.dtype();
  while (numbers && (is_bool(dtype) || dtype == Dtype::key)) dtype = b.dtype();
  return b.of(dtype, shape);
}
bool psum_scatter(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  const bool tiled = b.random.chance(50);
  const int dim = static_cast<int>(b.random.number(0, 1));
  return b.add(op, {divided(b, g, dim, tiled, true)}, ops::PsumScatter{g.axes, g.size, dim, tiled}) >= 0;
}
bool all_to_all(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  const bool tiled = b.random.chance(50);
  const int split = static_cast<int>(b.random.number(0, 1)), concat = static_cast<int>(b.random.number(0, 1));
  return b.add(op, {divided(b, g, split, tiled, false)}, ops::AllToAll{g.axes, g.size, split, concat, tiled}) >= 0;
}
bool ppermute(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  ops::Ppermute p{g.axes, g.size, {}};
  const std::vector<int> to = b.permutation(static_cast<int>(g.size));
  for (int from = 0; from < static_cast<int>(g.size); ++from)
    if (b.random.chance(80)) p.permutation.emplace_back(from, to[static_cast<std::size_t>(from)]);
  return b.add(op, {b.any()}, p) >= 0;
}
bool axis_index(Builder& b, const ir::Op& op) {
  const Group g = group(b);
  return b.add(op, {}, ops::AxisIndex{g.axes, g.size, {}}) >= 0;
}
}  // namespace

const std::vector<Drawer>& contract_drawers() {
  static const std::vector<Drawer> all = {{&ops::reduce_sum, reduce},
                                          {&ops::reduce_prod, reduce},
                                          {&ops::reduce_max, reduce},
                                          {&ops::reduce_min, reduce},
                                          {&ops::reduce_and, reduce},
                                          {&ops::reduce_or, reduce},
                                          {&ops::argmax, arg_reduce},
                                          {&ops::argmin, arg_reduce},
                                          {&ops::cumsum, cumulative},
                                          {&ops::cumprod, cumulative},
                                          {&ops::cummax, cumulative},
                                          {&ops::cummin, cumulative},
                                          {&ops::cumlogsumexp, cumulative},
                                          {&ops::reduce_window_sum, reduce_window},
                                          {&ops::reduce_window_max, reduce_window},
                                          {&ops::window_gather_max, chosen_in_window},
                                          {&ops::window_scatter_max, chosen_in_window},
                                          {&ops::dot_general, dot_general},
                                          {&ops::conv, conv}};
  return all;
}
const std::vector<Drawer>& collective_drawers() {
  static const std::vector<Drawer> all = {
      {&ops::psum, reduce_devices},   {&ops::pmax, reduce_devices},   {&ops::pmin, reduce_devices},
      {&ops::pvary, reduce_devices},  {&ops::all_gather, all_gather}, {&ops::psum_scatter, psum_scatter},
      {&ops::all_to_all, all_to_all}, {&ops::ppermute, ppermute},     {&ops::axis_index, axis_index}};
  return all;
}

}  // namespace uni::random_programs
