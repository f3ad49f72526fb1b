// Rows of the collectives. A batch rule meets its own named axis only alone, psum, pmax, pmin and pvary excepted:
// lax decomposes the others over several axes.
#include "ops/collectives.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/makers.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::ops {

using base::cat;

namespace {
constexpr Absent per_device = none("collectives stand in per-device programs, which are partitioned already");
constexpr Absent by_backend = none("moves data between devices: a backend's work");

bool own_axis(const BatchArgs& args, const AxisNames& axes) {
  if (args.axis_name.empty() || !ir::contains(axes, args.axis_name)) return false;
  if (axes.size() > 1) throw InternalError(cat("a collective over ", axes.size(), " axes met vmap of one of them"));
  return true;
}
Batch unbatched(Array out) { return {{std::move(out)}, {false}}; }
Batch batched(Array out) { return {{std::move(out)}, {true}}; }
int shifted(const BatchArgs& args, int dim) { return args.batched[0] ? dim + 1 : dim; }

void check_dim(const char* name, const Type& x, int dim, int rank) {
  if (dim >= 0 && dim < rank) return;
  throw ShapeError(cat(name, ": axis ", dim, " of ", ir::to_string(x), " does not exist"));
}

// The only operand; `size` is that of the group of devices.
Type operand(const Primitive& op, std::span<const Type> in, i64 size = 1) {
  check_operand_count(op, in, 1);
  if (size < 1) throw ShardingError(cat(op.name, ": a group of ", size, " devices"));
  return in[0];
}
i64 multiplied(const char* name, const Type& x, i64 size, i64 devices) {
  i64 out = 0;
  if (__builtin_mul_overflow(size, devices, &out))
    throw ShapeError(cat(name, ": ", ir::to_string(x), " times ", devices, " devices has too many elements"));
  return out;
}

// The axes without the vmapped one; the operand is then reduced over the batch dimension by the caller.
AxesOnly without(const AxesOnly& p, const std::string& name) { return {ir::subtract(p.axes, {name}), p.typed}; }

Types sum_type(std::span<const Type> in, const AxesOnly& p) {
  Type out = operand(psum, in);
  if (is_bool(out.dtype) || out.dtype == Dtype::key)
    throw DtypeError(cat("psum: ", ir::to_string(in[0]), " cannot be summed"));
  out.varying = ir::subtract(out.varying, p.axes);
  return {out};
}
Types extremum_type(const Primitive& op, std::span<const Type> in, const AxesOnly& p) {
  Type out = operand(op, in);
  if (is_complex(out.dtype) || out.dtype == Dtype::key)
    throw DtypeError(cat(op.name, ": ", ir::to_string(in[0]), " has no order"));
  out.varying = ir::subtract(out.varying, p.axes);
  return {out};
}

using ReduceFn = Array (*)(const Array&, const std::vector<int>&);
Batch reduce_batch(const Primitive& op, ReduceFn reduce, const BatchArgs& a, const AxesOnly& p) {
  if (!ir::contains(p.axes, a.axis_name) || a.axis_name.empty()) return {core::bind(op, a.in, p), {a.batched[0]}};
  const AxesOnly rest = without(p, a.axis_name);
  Array x = a.in[0];
  if (a.batched[0])
    x = reduce(x, {0});
  else if (&op == &psum)  // an unmapped value counts once per lane
    x = lax::mul(x, lax::full_like(x, static_cast<double>(a.size)));
  return unbatched(rest.axes.empty() ? x : core::bind1(op, {x}, rest));
}

// The tangent of the selected elements; ties share equally, as for max over the gathered values.
Jvp extremum_jvp(Array (*collective)(const Array&, const AxisNames&), std::span<const Array> x,
                 std::span<const Array> t, const AxesOnly& p) {
  const Array out = collective(x[0], p.axes);
  const AxisNames varying = core::type_of(x[0]).varying;
  const Array chosen = lax::eq(x[0], core::make_varying(out, varying));
  const Array share = lax::convert(chosen, x[0].dtype());
  const Array tangent = core::make_varying(t[0], varying);
  const Array total = lax::psum(lax::mul(tangent, share), p.axes);
  return {{out}, {lax::div(total, lax::psum(share, p.axes))}};
}

constexpr Rules<AxesOnly> psum_rules{
    .name = "psum",
    .type = sum_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const AxesOnly& p) -> Jvp {
      return {core::bind(psum, x, p), core::bind(psum, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const AxesOnly& p) -> Arrays {
      return core::bind(pvary, ct, p);
    },
    .batch = [](const BatchArgs& a, const AxesOnly& p) { return reduce_batch(psum, lax::reduce_sum, a, p); },
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

constexpr Rules<AxesOnly> pmax_rules{
    .name = "pmax",
    .type = [](std::span<const Type> in, const AxesOnly& p) { return extremum_type(pmax, in, p); },
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const AxesOnly& p) { return extremum_jvp(lax::pmax, x, t, p); },
    .transpose = none("not linear"),
    .batch = [](const BatchArgs& a, const AxesOnly& p) { return reduce_batch(pmax, lax::reduce_max, a, p); },
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

constexpr Rules<AxesOnly> pmin_rules{
    .name = "pmin",
    .type = [](std::span<const Type> in, const AxesOnly& p) { return extremum_type(pmin, in, p); },
    .jvp = [](std::span<const Array> x, std::span<const Array> t,
              const AxesOnly& p) { return extremum_jvp(lax::pmin, x, t, p); },
    .transpose = none("not linear"),
    .batch = [](const BatchArgs& a, const AxesOnly& p) { return reduce_batch(pmin, lax::reduce_min, a, p); },
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

constexpr Rules<AxesOnly> pvary_rules{
    .name = "pvary",
    .type = [](std::span<const Type> in, const AxesOnly& p) -> Types {
      Type out = operand(pvary, in);
      out.varying = ir::unite(out.varying, p.typed);
      return {out};
    },
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const AxesOnly& p) -> Jvp {
      return {core::bind(pvary, x, p), core::bind(pvary, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const AxesOnly& p) -> Arrays {
      return core::bind(psum, ct, p);
    },
    .batch = [](const BatchArgs& a, const AxesOnly& p) -> Batch {
      const AxesOnly rest = a.axis_name.empty() ? p : without(p, a.axis_name);
      return {{rest.axes.empty() ? a.in[0] : core::bind1(pvary, {a.in[0]}, rest)}, {a.batched[0]}};
    },
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

// ---- all_gather and psum_scatter
Types all_gather_type(std::span<const Type> in, const AllGather& p) {
  Type out = operand(all_gather, in, p.size);
  const int rank = out.shape.rank();
  check_dim("all_gather", in[0], p.dim, p.tiled ? rank : rank + 1);
  if (p.tiled)
    out.shape[p.dim] = multiplied("all_gather", in[0], out.shape[p.dim], p.size);
  else
    out.shape.insert(p.dim, p.size);
  if (p.invariant) out.varying = ir::subtract(out.varying, p.axes);
  return {out};
}
// Splits dimension `dim` into (parts, rest).
Array split_dim(const Array& x, int dim, i64 parts) {
  Dims shape = x.shape();
  shape[dim] /= parts;
  shape.insert(dim, parts);
  return lax::reshape(x, shape);
}
// Merges dimensions dim and dim + 1.
Array merge_dims(const Array& x, int dim) {
  Dims shape = x.shape();
  shape[dim] *= shape[dim + 1];
  shape.erase(dim + 1);
  return lax::reshape(x, shape);
}
Batch all_gather_batch(const BatchArgs& a, const AllGather& p) {
  if (!own_axis(a, p.axes)) {
    AllGather q = p;
    q.dim = shifted(a, p.dim);
    return {core::bind(all_gather, a.in, q), {a.batched[0]}};
  }
  const Array gathered = lax::move_axis(with_batch(a, 0), 0, p.dim);
  return unbatched(p.tiled ? merge_dims(gathered, p.dim) : gathered);
}
// The device's own entry (untiled) or block (tiled) of dimension dim.
Array own_slice(const Array& x, const AllGather& p) {
  const Array index = core::bind1(axis_index, {}, AxisIndex{p.axes, p.size, core::typed_axes(p.axes)});
  Dims sizes = x.shape();
  const i64 block = p.tiled ? sizes[p.dim] / p.size : 1;
  sizes[p.dim] = block;
  Arrays starts(static_cast<std::size_t>(sizes.rank()), lax::full_int(0, Dtype::i32, {}));
  starts[static_cast<std::size_t>(p.dim)] = lax::mul(index, lax::full_int(block, Dtype::i32, {}));
  const Array slice = lax::dynamic_slice(x, starts, sizes);
  return p.tiled ? slice : lax::squeeze(slice, p.dim);
}
constexpr Rules<AllGather> all_gather_rules{
    .name = "all_gather",
    .type = all_gather_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const AllGather& p) -> Jvp {
      return {core::bind(all_gather, x, p), core::bind(all_gather, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const AllGather& p) -> Arrays {
      if (p.invariant) return {own_slice(ct[0], p)};
      return core::bind(psum_scatter, ct, PsumScatter{p.axes, p.size, p.dim, p.tiled});
    },
    .batch = all_gather_batch,
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

Types psum_scatter_type(std::span<const Type> in, const PsumScatter& p) {
  Type out = operand(psum_scatter, in, p.size);
  check_dim("psum_scatter", in[0], p.dim, out.shape.rank());
  const i64 size = out.shape[p.dim];
  if (is_bool(out.dtype) || out.dtype == Dtype::key)
    throw DtypeError(cat("psum_scatter: ", ir::to_string(in[0]), " cannot be summed"));
  if (p.tiled && size % p.size != 0)
    throw ShapeError(cat("psum_scatter: axis ", p.dim, " of ", ir::to_string(in[0]), " has size ", size, ", which ",
                         p.size, " devices do not divide"));
  if (!p.tiled && size != p.size)
    throw ShapeError(cat("psum_scatter: axis ", p.dim, " of ", ir::to_string(in[0]), " has size ", size, ", there are ",
                         p.size, " devices"));
  if (p.tiled)
    out.shape[p.dim] /= p.size;
  else
    out.shape.erase(p.dim);
  return {out};
}
Batch psum_scatter_batch(const BatchArgs& a, const PsumScatter& p) {
  if (!own_axis(a, p.axes)) {
    PsumScatter q = p;
    q.dim = shifted(a, p.dim);
    return {core::bind(psum_scatter, a.in, q), {a.batched[0]}};
  }
  const Array sum = lax::reduce_sum(with_batch(a, 0), {0});
  return batched(lax::move_axis(p.tiled ? split_dim(sum, p.dim, p.size) : sum, p.dim, 0));
}
constexpr Rules<PsumScatter> psum_scatter_rules{
    .name = "psum_scatter",
    .type = psum_scatter_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const PsumScatter& p) -> Jvp {
      return {core::bind(psum_scatter, x, p), core::bind(psum_scatter, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const PsumScatter& p) -> Arrays {
      return core::bind(all_gather, ct, AllGather{p.axes, p.size, p.dim, p.tiled, false});
    },
    .batch = psum_scatter_batch,
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

// ---- all_to_all, ppermute, axis_index
Types all_to_all_type(std::span<const Type> in, const AllToAll& p) {
  Type out = operand(all_to_all, in, p.size);
  const int rank = out.shape.rank();
  check_dim("all_to_all", in[0], p.split, rank);
  check_dim("all_to_all", in[0], p.concat, rank);
  const i64 size = out.shape[p.split];
  if (p.tiled ? size % p.size != 0 : size != p.size)
    throw ShapeError(cat("all_to_all: split axis ", p.split, " of ", ir::to_string(in[0]), " has size ", size,
                         p.tiled ? ", which " : ", there are ", p.size,
                         p.tiled ? " devices do not divide" : " devices"));
  if (p.tiled) {
    out.shape[p.split] /= p.size;
    out.shape[p.concat] = multiplied("all_to_all", in[0], out.shape[p.concat], p.size);
  } else {
    out.shape.erase(p.split);
    out.shape.insert(p.concat, p.size);
  }
  return {out};
}
Batch all_to_all_batch(const BatchArgs& a, const AllToAll& p) {
  if (!own_axis(a, p.axes)) {
    AllToAll q = p;
    q.split = shifted(a, p.split);
    q.concat = shifted(a, p.concat);
    return {core::bind(all_to_all, a.in, q), {a.batched[0]}};
  }
  // [from, ..., to, ...] -> [to, from, rest], then `from` goes where received blocks are laid.
  Array x = with_batch(a, 0);
  if (p.tiled) x = split_dim(x, p.split + 1, p.size);
  x = lax::move_axis(x, p.split + 1, 0);
  x = lax::move_axis(x, 1, p.concat + 1);
  return batched(p.tiled ? merge_dims(x, p.concat + 1) : x);
}
constexpr Rules<AllToAll> all_to_all_rules{
    .name = "all_to_all",
    .type = all_to_all_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const AllToAll& p) -> Jvp {
      return {core::bind(all_to_all, x, p), core::bind(all_to_all, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const AllToAll& p) -> Arrays {
      return core::bind(all_to_all, ct, AllToAll{p.axes, p.size, p.concat, p.split, p.tiled});
    },
    .batch = all_to_all_batch,
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

Types ppermute_type(std::span<const Type> in, const Ppermute& p) {
  const Type x = operand(ppermute, in, p.size);
  std::set<int> sources, destinations;
  for (const auto& [from, to] : p.permutation) {
    if (from < 0 || to < 0 || from >= p.size || to >= p.size)
      throw ShardingError(cat("ppermute: pair (", from, ", ", to, ") is out of range for ", p.size, " devices"));
    if (!sources.insert(from).second)
      throw ShardingError(cat("ppermute: device ", from, " is the source of two pairs"));
    if (!destinations.insert(to).second)
      throw ShardingError(cat("ppermute: device ", to, " is the destination of two pairs"));
  }
  return {x};
}
Batch ppermute_batch(const BatchArgs& a, const Ppermute& p) {
  if (!own_axis(a, p.axes)) return {core::bind(ppermute, a.in, p), {a.batched[0]}};
  const Array x = with_batch(a, 0);
  const Array zero = zeros_of(core::type_of(lax::slice_axis(x, 0, 0, 1)));
  Arrays lanes(static_cast<std::size_t>(p.size), zero);
  for (const auto& [from, to] : p.permutation)
    lanes[static_cast<std::size_t>(to)] = lax::slice_axis(x, 0, from, from + 1);
  return batched(lax::concatenate(lanes, 0));
}
constexpr Rules<Ppermute> ppermute_rules{
    .name = "ppermute",
    .type = ppermute_type,
    .jvp = [](std::span<const Array> x, std::span<const Array> t, const Ppermute& p) -> Jvp {
      return {core::bind(ppermute, x, p), core::bind(ppermute, t, p)};
    },
    .transpose = [](std::span<const Array> ct, std::span<const Operand>, const Ppermute& p) -> Arrays {
      Ppermute back = p;
      for (auto& [from, to] : back.permutation) std::swap(from, to);
      return core::bind(ppermute, ct, back);
    },
    .batch = ppermute_batch,
    .shard = per_device,
    .expand = by_backend,
    .traits = {.own_varying = true}};

constexpr Rules<AxisIndex> axis_index_rules{.name = "axis_index",
                                            .type = [](std::span<const Type> in, const AxisIndex& p) -> Types {
                                              check_operand_count(axis_index, in, 0);
                                              return {Type{Dtype::i32, {}, false, p.typed}};
                                            },
                                            .jvp = none("an integer without operands"),
                                            .transpose = none("an integer without operands"),
                                            .batch = [](const BatchArgs& a, const AxisIndex& p) -> Batch {
                                              if (own_axis(a, p.axes))
                                                return batched(lax::iota(Dtype::i32, {a.size}, 0));
                                              return unbatched(core::bind1(axis_index, {}, p));
                                            },
                                            .shard = per_device,
                                            .expand = by_backend,
                                            .traits = {.own_varying = true, .own_weak = true}};
}  // namespace

constinit const Primitive psum = primitive<psum_rules>();
constinit const Primitive pmax = primitive<pmax_rules>();
constinit const Primitive pmin = primitive<pmin_rules>();
constinit const Primitive pvary = primitive<pvary_rules>();
constinit const Primitive all_gather = primitive<all_gather_rules>();
constinit const Primitive psum_scatter = primitive<psum_scatter_rules>();
constinit const Primitive all_to_all = primitive<all_to_all_rules>();
constinit const Primitive ppermute = primitive<ppermute_rules>();
constinit const Primitive axis_index = primitive<axis_index_rules>();

std::span<const Primitive* const> collective_rows() {
  static constexpr const Primitive* rows[] = {&psum,         &pmax,       &pmin,     &pvary,     &all_gather,
                                              &psum_scatter, &all_to_all, &ppermute, &axis_index};
  return rows;
}

bool is_collective(const ir::Op& op) {
  for (const Primitive* row : collective_rows())
    if (row == &op) return true;
  return false;
}

template <class P>
static Params renamed(P p, AxisNames (*names)(const void*, const std::string&), const void* context) {
  AxisNames axes;
  for (const std::string& n : p.axes)
    for (std::string& m : names(context, n)) axes.push_back(std::move(m));
  p.axes = std::move(axes);
  if constexpr (requires { p.typed; }) p.typed.clear();
  return p;
}

Params rename_axes(const ir::Op& op, const Params& params, AxisNames (*names)(const void*, const std::string&),
                   const void* context) {
  if (&op == &all_gather) return renamed(params.as<AllGather>(), names, context);
  if (&op == &psum_scatter) return renamed(params.as<PsumScatter>(), names, context);
  if (&op == &all_to_all) return renamed(params.as<AllToAll>(), names, context);
  if (&op == &ppermute) return renamed(params.as<Ppermute>(), names, context);
  if (&op == &axis_index) return renamed(params.as<AxisIndex>(), names, context);
  return renamed(params.as<AxesOnly>(), names, context);
}

}  // namespace uni::ops
