#include "core/node.hpp"

#include <cstring>

#include "base/text.hpp"
#include "core/trace.hpp"
#include <unisono/error.hpp>

namespace uni::core {

const Type& type_of(const Array& a) {
  if (!a.defined())
    throw Error(base::cat("an Array that holds nothing was used", base::at(current_location()),
                          "\nfix: give it a value before, for example with zeros(...)"));
  return a.node()->type;
}

Types types_of(std::span<const Array> arrays) {
  Types out;
  out.reserve(arrays.size());
  for (const Array& a : arrays) out.push_back(type_of(a));
  return out;
}

const Concrete* concrete(const Array& a) {
  if (!a.defined() || a.node()->is_tracer) return nullptr;
  return static_cast<const Concrete*>(a.node());
}

Array known_value(const Array& a) {
  Array value = a;
  while (value.defined() && value.node()->is_tracer) {
    Array below = static_cast<const Tracer&>(*value.node()).primal_value();
    if (!below.defined()) break;
    value = std::move(below);
  }
  return value;
}

Array make_single(Type type, runtime::BufferPtr buffer) {
  Mesh mesh({}, {buffer->device()});
  return make_array<Concrete>(std::move(type), std::move(mesh), P{}, runtime::Shards{std::move(buffer)});
}

namespace {
struct ShardCopy {
  const Concrete& from;
  std::vector<i64> coordinate;  // of the device, by mesh axis
  const runtime::Buffer& shard;
};

// Block number and block count of a dimension for the device at `coordinate`.
std::pair<i64, i64> block_of(const Concrete& c, int dim, const std::vector<i64>& coordinate) {
  i64 block = 0, blocks = 1;
  for (const std::string& name : c.spec.axes(dim)) {
    for (std::size_t a = 0; a < c.mesh.axes().size(); ++a) {
      if (c.mesh.axes()[a].name != name) continue;
      block = block * c.mesh.axes()[a].size + coordinate[a];
      blocks *= c.mesh.axes()[a].size;
    }
  }
  return {block, blocks};
}

void copy_shard(const ShardCopy& s, std::byte* whole) {
  const Dims& local = s.shard.shape();
  const Dims& global = s.from.type.shape;
  const i64 item = itemsize(s.from.type.dtype);
  if (local.count() == 0) return;
  const int rank = local.rank();
  if (rank == 0) {
    std::memcpy(whole, s.shard.data(), static_cast<std::size_t>(item));
    return;
  }
  const i64 row = local[rank - 1], rows = local.count() / row;
  std::vector<i64> at(static_cast<std::size_t>(rank), 0);
  for (i64 r = 0; r < rows; ++r) {
    i64 offset = 0;
    for (int d = 0; d < rank; ++d)
      offset =
          offset * global[d] + at[static_cast<std::size_t>(d)] + block_of(s.from, d, s.coordinate).first * local[d];
    std::memcpy(whole + offset * item, s.shard.data() + r * row * item, static_cast<std::size_t>(row * item));
    for (int d = rank - 2; d >= 0; --d) {
      if (++at[static_cast<std::size_t>(d)] < local[d]) break;
      at[static_cast<std::size_t>(d)] = 0;
    }
  }
}

// Shards that lie one behind another in one allocation form the global array when only the leading dimension is split.
bool adjacent(const Concrete& c) {
  std::size_t order = 0;  // of the axes that split it: as the mesh has them
  for (const std::string& name : c.spec.axes(0)) {
    while (order < c.mesh.axes().size() && c.mesh.axes()[order].name != name) ++order;
    if (order == c.mesh.axes().size()) return false;
  }
  for (int d = 1; d < c.type.shape.rank(); ++d)
    if (!c.spec.axes(d).empty()) return false;
  for (std::size_t i = 1; i < c.shards.size(); ++i)
    if (c.shards[i]->storage().get() != c.shards[0]->storage().get() ||
        c.shards[i]->offset() != c.shards[i - 1]->offset() + c.shards[i - 1]->bytes())
      return false;
  return true;
}
}  // namespace

runtime::BufferPtr whole_buffer(const Array& a) {
  const Type& type = type_of(a);
  const Concrete* c = concrete(a);
  if (!c) {
    check_alive("read", a);
    throw TraceError(base::cat("the value of a traced array is not known", base::at(current_location())));
  }
  if (c->donated)
    throw ExecutionError(base::cat("an array ", ir::to_string(type), " that was donated is used again",
                                   base::at(current_location()), c->donated_where));
  if (c->spec.dims().empty()) return c->shards[0];
  i64 local_count = c->shards[0]->shape().count();
  const bool in_order = local_count * static_cast<i64>(c->shards.size()) == type.count() && adjacent(*c);
  if (in_order)
    return runtime::BufferPtr(new runtime::Buffer(c->shards[0]->storage(), c->shards[0]->offset(), type.dtype,
                                                  type.shape, c->shards[0]->device()));
  auto storage = detail::make_handle<runtime::Storage>(type.bytes());
  std::vector<i64> coordinate(c->mesh.axes().size(), 0);
  for (const runtime::BufferPtr& shard : c->shards) {
    copy_shard({*c, coordinate, *shard}, storage->data());
    for (std::size_t i = coordinate.size(); i-- > 0;) {
      if (++coordinate[i] < c->mesh.axes()[i].size) break;
      coordinate[i] = 0;
    }
  }
  return runtime::BufferPtr(new runtime::Buffer(storage, 0, type.dtype, type.shape, c->shards[0]->device()));
}

}  // namespace uni::core
