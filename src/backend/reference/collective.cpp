#include "backend/reference/collective.hpp"

#include <algorithm>
#include <map>

#include "backend/reference/order.hpp"
#include "ops/collectives.hpp"
#include <unisono/error.hpp>

namespace uni::reference {

namespace {
using Group = std::vector<std::size_t>;  // devices, in the order that the axis names give

// Devices that differ only along the named axes form a group.
std::vector<Group> groups(const Mesh& mesh, const ir::AxisNames& names) {
  std::map<std::vector<i64>, std::map<i64, std::size_t>> by_rest;
  std::vector<i64> at(mesh.axes().size(), 0);
  for (i64 d = 0; d < mesh.device_count(); ++d) {
    std::vector<i64> rest = at;
    i64 position = 0;
    for (const std::string& n : names)
      for (std::size_t a = 0; a < at.size(); ++a)
        if (mesh.axes()[a].name == n) {
          position = position * mesh.axes()[a].size + at[a];
          rest[a] = -1;
        }
    by_rest[rest][position] = static_cast<std::size_t>(d);
    for (std::size_t a = at.size(); a-- > 0;) {
      if (++at[a] < mesh.axes()[a].size) break;
      at[a] = 0;
    }
  }
  std::vector<Group> out;
  for (const auto& [rest, members] : by_rest) {
    Group g;
    for (const auto& [position, device] : members) g.push_back(device);
    out.push_back(std::move(g));
  }
  return out;
}

template <class Combine>
void reduce(const CollectiveCall& c, const Combine& combine) {
  for (const Group& g : groups(c.mesh, c.eqn.params.axes())) {
    with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
      if constexpr (std::is_invocable_v<Combine, Compute<T>, Compute<T>>) {
        for (i64 i = 0; i < c.in[0].count(); ++i) {
          auto total = load(c.in[g[0]].as<T>()[i]);
          for (std::size_t k = 1; k < g.size(); ++k) total = combine(total, load(c.in[g[k]].as<T>()[i]));
          for (std::size_t d : g) c.out[d].as<T>()[i] = T(total);
        }
      }
    });
  }
}

// Copies blocks: shapes are seen as [outer, size of dim, inner].
struct Blocks {
  i64 outer, inner, item;
  Blocks(const Dims& shape, int dim, Dtype dtype)
      : outer(Dims(shape.begin(), shape.begin() + dim).count()),
        inner(Dims(shape.begin() + dim, shape.end()).count()),
        item(itemsize(dtype)) {}
};

void all_gather(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::AllGather>();
  const Blocks b(c.in[0].type.shape, p.dim, c.in[0].type.dtype);
  const auto bytes = static_cast<std::size_t>(b.inner * b.item);
  for (const Group& g : groups(c.mesh, p.axes))
    for (std::size_t d : g)
      for (std::size_t k = 0; k < g.size(); ++k)
        for (i64 o = 0; o < b.outer; ++o)
          std::memcpy(c.out[d].data + (static_cast<std::size_t>(o) * g.size() + k) * bytes,
                      c.in[g[k]].data + static_cast<std::size_t>(o) * bytes, bytes);
}

void psum_scatter(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::PsumScatter>();
  const Blocks whole(c.in[0].type.shape, p.dim, c.in[0].type.dtype);
  for (const Group& g : groups(c.mesh, p.axes)) {
    const i64 block = whole.inner / static_cast<i64>(g.size());
    with_dtype(c.in[0].type.dtype, [&]<class T>(T) {
      if constexpr (is_number<T>) {
        for (std::size_t k = 0; k < g.size(); ++k)
          for (i64 o = 0; o < whole.outer; ++o)
            for (i64 i = 0; i < block; ++i) {
              const i64 from = o * whole.inner + static_cast<i64>(k) * block + i;
              auto total = load(c.in[g[0]].as<T>()[from]);
              for (std::size_t m = 1; m < g.size(); ++m) total = wrap_add(total, load(c.in[g[m]].as<T>()[from]));
              c.out[g[k]].as<T>()[o * block + i] = T(total);
            }
      }
    });
  }
}

// Takes block `k` of `parts` along dim out of a value.
std::vector<std::byte> take_block(const Value& v, int dim, i64 parts, std::size_t k) {
  const Blocks b(v.type.shape, dim, v.type.dtype);
  const auto block = static_cast<std::size_t>(b.inner / parts * b.item);
  std::vector<std::byte> out(static_cast<std::size_t>(b.outer) * block);
  for (i64 o = 0; o < b.outer; ++o)
    std::memcpy(out.data() + static_cast<std::size_t>(o) * block,
                v.data + (static_cast<std::size_t>(o) * static_cast<std::size_t>(parts) + k) * block, block);
  return out;
}

void all_to_all(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::AllToAll>();
  // A block has the operand's shape with `split` divided (tiled) or removed; blocks are laid along `concat`.
  Dims block = c.in[0].type.shape;
  if (p.tiled)
    block[p.split] /= p.size;
  else
    block.erase(p.split);
  const Blocks b(block, p.concat, c.in[0].type.dtype);
  const auto bytes = static_cast<std::size_t>(b.inner * b.item);
  for (const Group& g : groups(c.mesh, p.axes))
    for (std::size_t to = 0; to < g.size(); ++to)
      for (std::size_t from = 0; from < g.size(); ++from) {
        const std::vector<std::byte> sent = take_block(c.in[g[from]], p.split, p.size, to);
        for (i64 o = 0; o < b.outer; ++o)
          std::memcpy(c.out[g[to]].data + (static_cast<std::size_t>(o) * g.size() + from) * bytes,
                      sent.data() + static_cast<std::size_t>(o) * bytes, bytes);
      }
}

void ppermute(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::Ppermute>();
  const auto bytes = static_cast<std::size_t>(c.in[0].type.bytes());
  for (const Group& g : groups(c.mesh, p.axes)) {
    for (std::size_t d : g) std::memset(c.out[d].data, 0, bytes);
    for (const auto& [from, to] : p.permutation)
      std::memcpy(c.out[g[static_cast<std::size_t>(to)]].data, c.in[g[static_cast<std::size_t>(from)]].data, bytes);
  }
}

void axis_index(const CollectiveCall& c) {
  for (const Group& g : groups(c.mesh, c.eqn.params.axes()))
    for (std::size_t k = 0; k < g.size(); ++k) *c.out[g[k]].as<std::int32_t>() = static_cast<std::int32_t>(k);
}
}  // namespace

void run_collective(const CollectiveCall& c) {
  const ir::Op* op = c.eqn.op;
  if (op == &ops::psum)
    return reduce(c, []<class T>(T a, T b) requires(is_number<T>) { return wrap_add(a, b); });
  if (op == &ops::pmax)
    return reduce(c, []<class T>(T a, T b) requires(std::is_arithmetic_v<T>) { return larger(a, b); });
  if (op == &ops::pmin)
    return reduce(c, []<class T>(T a, T b) requires(std::is_arithmetic_v<T>) { return smaller(a, b); });
  if (op == &ops::all_gather) return all_gather(c);
  if (op == &ops::psum_scatter) return psum_scatter(c);
  if (op == &ops::all_to_all) return all_to_all(c);
  if (op == &ops::ppermute) return ppermute(c);
  if (op == &ops::axis_index) return axis_index(c);
  if (op == &ops::pvary) {
    for (std::size_t d = 0; d < c.in.size(); ++d)
      std::memcpy(c.out[d].data, c.in[d].data, static_cast<std::size_t>(c.in[d].type.bytes()));
    return;
  }
  throw InternalError("reference: no evaluator for the collective " + std::string(op->name));
}

}  // namespace uni::reference
