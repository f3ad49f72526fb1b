// Collectives: one equation on all devices at once.
#include <map>

#include "backend/reference/eval.hpp"
#include "backend/reference/order.hpp"
#include "ops/collectives.hpp"

namespace uni::reference {

namespace {
using Group = std::vector<std::size_t>;  // devices, in the order that the axis names give

// Devices that differ only along the named axes form a group.
std::vector<Group> groups(const Mesh& mesh, const ir::AxisNames& names) {
  Dims sizes;
  for (const MeshAxis& axis : mesh.axes()) sizes.push_back(axis.size);
  std::map<std::vector<i64>, std::map<i64, std::size_t>> members;  // by coordinate on the other axes, then by position
  Odometer o(sizes);
  for (i64 device = 0; device < mesh.device_count(); ++device, o.next()) {
    std::vector<i64> others;
    for (int a = 0; a < sizes.rank(); ++a) others.push_back(ir::contains(names, mesh.axes()[at(a)].name) ? 0 : o[a]);
    i64 position = 0;
    for (const std::string& name : names)
      for (int a = 0; a < sizes.rank(); ++a)
        if (mesh.axes()[at(a)].name == name) position = position * sizes[a] + o[a];
    members[others][position] = at(device);
  }
  std::vector<Group> out;
  for (const auto& [others, by_position] : members) {
    Group& group = out.emplace_back();
    for (const auto& [position, device] : by_position) group.push_back(device);
  }
  return out;
}

// Folds element i of all devices of a group, in their order, and rounds once.
template <class T, class Acc, class Fn>
T folded(const CollectiveCall& c, const Group& group, i64 i, const Fn& fn) {
  const auto element = [&](std::size_t device) { return static_cast<Acc>(load(c.in[device].as<T>()[i])); };
  Acc total = element(group[0]);
  for (std::size_t k = 1; k < group.size(); ++k) total = fn(total, element(group[k]));
  return T(static_cast<Compute<T>>(total));
}
template <class T, class Acc, class Fn>
void reduce(const CollectiveCall& c, const Fn& fn) {
  for (const Group& group : groups(c.mesh, c.eqn.params.axes()))
    for (i64 i = 0; i < c.in[0].count(); ++i) {
      const T total = folded<T, Acc>(c, group, i, fn);
      for (std::size_t device : group) c.out[device].as<T>()[i] = total;
    }
}
void psum(const CollectiveCall& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) { reduce<T, Accumulator<T>>(c, plus<Accumulator<T>>); });
}
void pmax(const CollectiveCall& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { reduce<T, Compute<T>>(c, larger<Compute<T>>); });
}
void pmin(const CollectiveCall& c) {
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Ordered T>(T) { reduce<T, Compute<T>>(c, smaller<Compute<T>>); });
}
void pvary(const CollectiveCall& c) {
  for (std::size_t device = 0; device < c.in.size(); ++device) copy_all(c.in[device], c.out[device]);
}

// A value seen as [outer, parts, inner], cut along a dimension (or where one is inserted) into `parts` blocks.
struct Cut {
  i64 outer, parts, inner;
  Cut(const Dims& shape, int dim, i64 count)
      : outer(Dims(shape.begin(), shape.begin() + dim).count()),
        parts(count),
        inner(shape.count() == 0 ? 0 : shape.count() / outer / count) {}
  i64 start(i64 o, i64 part) const { return (o * parts + part) * inner; }
};
// Copies one block of `from` to one block of `to`; both are cut into blocks of as many elements, walked in order.
void copy_block(const Value& from, const Cut& source, i64 part, const Value& to, const Cut& target, i64 place) {
  for (i64 i = 0; i < source.outer * source.inner; ++i)
    copy_element(from, source.start(i / source.inner, part) + i % source.inner, to,
                 target.start(i / target.inner, place) + i % target.inner);
}

void all_gather(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::AllGather>();
  const Cut source(c.in[0].shape(), p.dim, 1), target(c.out[0].shape(), p.dim, p.size);
  for (const Group& group : groups(c.mesh, p.axes))
    for (std::size_t device : group)
      for (std::size_t k = 0; k < group.size(); ++k)
        copy_block(c.in[group[k]], source, 0, c.out[device], target, static_cast<i64>(k));
}
void psum_scatter(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::PsumScatter>();
  const Cut cut(c.in[0].shape(), p.dim, p.size);
  with_dtype(c.eqn, c.in[0].type.dtype, [&]<Number T>(T) {
    using Acc = Accumulator<T>;
    for (const Group& group : groups(c.mesh, p.axes))
      for (std::size_t k = 0; k < group.size(); ++k)
        for (i64 i = 0; i < cut.outer * cut.inner; ++i)
          c.out[group[k]].as<T>()[i] =
              folded<T, Acc>(c, group, cut.start(i / cut.inner, static_cast<i64>(k)) + i % cut.inner, plus<Acc>);
  });
}
void all_to_all(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::AllToAll>();
  const Cut source(c.in[0].shape(), p.split, p.size), target(c.out[0].shape(), p.concat, p.size);
  for (const Group& group : groups(c.mesh, p.axes))
    for (std::size_t to = 0; to < group.size(); ++to)
      for (std::size_t from = 0; from < group.size(); ++from)
        copy_block(c.in[group[from]], source, static_cast<i64>(to), c.out[group[to]], target, static_cast<i64>(from));
}
void ppermute(const CollectiveCall& c) {
  const auto& p = c.eqn.params.as<ops::Ppermute>();
  for (const Value& out : c.out) std::memset(out.data, 0, out.bytes());
  for (const Group& group : groups(c.mesh, p.axes))
    for (const auto& [source, destination] : p.permutation)
      copy_all(c.in[group[at(source)]], c.out[group[at(destination)]]);
}
void axis_index(const CollectiveCall& c) {
  for (const Group& group : groups(c.mesh, c.eqn.params.axes()))
    for (std::size_t k = 0; k < group.size(); ++k) *c.out[group[k]].as<std::int32_t>() = static_cast<std::int32_t>(k);
}

constexpr CollectiveEvaluator table[] = {{&ops::psum, psum},
                                         {&ops::pmax, pmax},
                                         {&ops::pmin, pmin},
                                         {&ops::pvary, pvary},
                                         {&ops::all_gather, all_gather},
                                         {&ops::psum_scatter, psum_scatter},
                                         {&ops::all_to_all, all_to_all},
                                         {&ops::ppermute, ppermute},
                                         {&ops::axis_index, axis_index}};
}  // namespace

std::span<const CollectiveEvaluator> collective_evaluators() { return table; }

}  // namespace uni::reference
