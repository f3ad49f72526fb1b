#include "backend/native/collective.hpp"

#include <algorithm>

#include "backend/native/pointwise_math.hpp"
#include "backend/native/walk.hpp"
#include "ops/collectives.hpp"
#include <unisono/error.hpp>

namespace uni::native {

namespace {
using Devices = std::vector<i64>;

// Groups of devices that differ only along the named axes; members in the order that the names give.
std::vector<Devices> device_groups(const Mesh& mesh, const ir::AxisNames& names) {
  const std::size_t rank = mesh.axes().size();
  std::vector<i64> step(rank, 1);
  for (std::size_t a = rank; a-- > 1;) step[a - 1] = step[a] * mesh.axes()[a].size;
  Devices offsets{0};
  std::vector<bool> named(rank, false);
  for (const std::string& name : names)
    for (std::size_t a = 0; a < rank; ++a) {
      if (mesh.axes()[a].name != name) continue;
      named[a] = true;
      Devices next;
      for (i64 base : offsets)
        for (i64 k = 0; k < mesh.axes()[a].size; ++k) next.push_back(base + k * step[a]);
      offsets = std::move(next);
    }
  Devices starts{0};
  for (std::size_t a = 0; a < rank; ++a) {
    if (named[a]) continue;
    Devices next;
    for (i64 base : starts)
      for (i64 k = 0; k < mesh.axes()[a].size; ++k) next.push_back(base + k * step[a]);
    starts = std::move(next);
  }
  std::vector<Devices> groups;
  for (i64 start : starts) {
    Devices g;
    for (i64 o : offsets) g.push_back(start + o);
    groups.push_back(std::move(g));
  }
  return groups;
}

struct Sum {
  template <class T>
  static constexpr bool takes = !std::is_same_v<T, bool> && !std::is_same_v<T, KeyWords>;
  template <class T>
  static T join(T a, T b) {
    return plus(a, b);
  }
};
struct Max {
  template <class T>
  static constexpr bool takes = !is_complex_like<T> && !std::is_same_v<T, KeyWords>;
  template <class T>
  static T join(T a, T b) {
    return max_of(a, b);
  }
};
struct Min {
  template <class T>
  static constexpr bool takes = Max::takes<T>;
  template <class T>
  static T join(T a, T b) {
    return min_of(a, b);
  }
};

// y[0, n) = x of the first device joined with the others', in their order, starting at `from` bytes.
template <class R, class T>
void join_devices(const CollectiveArgs& c, const Devices& g, i64 from, i64 n, T* y) {
  using W = Work<T>;
  constexpr i64 strip = 1024;
  W run[strip];
  for (i64 at = 0; at < n; at += strip) {
    const i64 m = std::min(strip, n - at);
    for (std::size_t k = 0; k < g.size(); ++k) {
      const T* x = reinterpret_cast<const T*>(c.in + g[k] * c.in_stride + from) + at;
      if (k == 0)
        for (i64 i = 0; i < m; ++i) run[i] = static_cast<W>(x[i]);
      else
        for (i64 i = 0; i < m; ++i) run[i] = R::join(run[i], static_cast<W>(x[i]));
    }
    for (i64 i = 0; i < m; ++i) y[at + i] = T(run[i]);
  }
}
// The result is written for the group's first device and copied to the others, unless it is shared.
template <class R>
void reduce(const CollectiveArgs& c) {
  const std::vector<Devices> groups = device_groups(c.mesh, c.eqn.params.axes());
  dispatch(c.in_type.dtype, [&]<class T>(T) {
    if constexpr (R::template takes<T>) {
      const i64 n = c.in_type.count();
      for (const Devices& g : groups) {
        chunked(n, static_cast<i64>(sizeof(T) * g.size()), [&](i64 begin, i64 end) {
          T* y = reinterpret_cast<T*>(c.out + g[0] * c.out_stride);
          join_devices<R>(c, g, begin * static_cast<i64>(sizeof(T)), end - begin, y + begin);
          for (std::size_t k = 1; k < g.size() && c.out_stride; ++k)
            std::memcpy(c.out + g[k] * c.out_stride + begin * static_cast<i64>(sizeof(T)), y + begin,
                        static_cast<std::size_t>(end - begin) * sizeof(T));
        });
        if (!c.out_stride) return;
      }
    }
  });
}

// Shapes seen as [outer, block].
struct Cut {
  i64 outer, block;  // bytes
  Cut(const Dims& shape, int dim, Dtype dtype)
      : outer(Dims(shape.begin(), shape.begin() + dim).count()),
        block(Dims(shape.begin() + dim, shape.end()).count() * itemsize(dtype)) {}
};

void all_gather(const CollectiveArgs& c) {
  const auto& p = c.eqn.params.as<ops::AllGather>();
  const Cut cut(c.in_type.shape, p.dim, c.in_type.dtype);
  for (const Devices& g : device_groups(c.mesh, p.axes)) {
    const i64 n = static_cast<i64>(g.size());
    const i64 copies = c.out_stride ? n : 1;
    runtime::parallel_for(copies, [&](i64 d) {
      std::byte* out = c.out + g[static_cast<std::size_t>(d)] * c.out_stride;
      for (i64 o = 0; o < cut.outer; ++o)
        for (i64 k = 0; k < n; ++k)
          std::memcpy(out + (o * n + k) * cut.block,
                      c.in + g[static_cast<std::size_t>(k)] * c.in_stride + o * cut.block,
                      static_cast<std::size_t>(cut.block));
    });
    if (!c.out_stride) return;
  }
}

void psum_scatter(const CollectiveArgs& c) {
  const auto& p = c.eqn.params.as<ops::PsumScatter>();
  const Cut cut(c.in_type.shape, p.dim, c.in_type.dtype);
  const i64 block = cut.block / p.size;
  dispatch(c.in_type.dtype, [&]<class T>(T) {
    if constexpr (Sum::takes<T>) {
      for (const Devices& g : device_groups(c.mesh, p.axes))
        runtime::parallel_for(static_cast<i64>(g.size()), [&](i64 k) {
          for (i64 o = 0; o < cut.outer; ++o)
            join_devices<Sum>(c, g, o * cut.block + k * block, block / static_cast<i64>(sizeof(T)),
                              reinterpret_cast<T*>(c.out + g[static_cast<std::size_t>(k)] * c.out_stride + o * block));
        });
    }
  });
}

void all_to_all(const CollectiveArgs& c) {
  const auto& p = c.eqn.params.as<ops::AllToAll>();
  const i64 item = itemsize(c.in_type.dtype);
  // What one device sends to another, as a strided window of its value.
  Dims sent = c.in_type.shape;
  sent[p.split] /= p.size;
  std::vector<i64> from = row_strides(c.in_type.shape);
  const i64 jump = sent[p.split] * from[static_cast<std::size_t>(p.split)];
  if (!p.tiled) {
    sent.erase(p.split);
    from.erase(from.begin() + p.split);
  }
  const Cut cut(sent, p.concat, c.in_type.dtype);
  const i64 bytes = sent.count() * item;
  for (const Devices& g : device_groups(c.mesh, p.axes)) {
    const i64 n = static_cast<i64>(g.size());
    runtime::parallel_for(n, [&](i64 to) {
      std::vector<std::byte> block(static_cast<std::size_t>(bytes));
      for (i64 k = 0; k < n; ++k) {
        copy_strided(block.data(), sent, c.in + g[static_cast<std::size_t>(k)] * c.in_stride, to * jump, from, item);
        for (i64 o = 0; o < cut.outer; ++o)
          std::memcpy(c.out + g[static_cast<std::size_t>(to)] * c.out_stride + (o * n + k) * cut.block,
                      block.data() + o * cut.block, static_cast<std::size_t>(cut.block));
      }
    });
  }
}

void ppermute(const CollectiveArgs& c) {
  const auto& p = c.eqn.params.as<ops::Ppermute>();
  const auto bytes = static_cast<std::size_t>(c.in_type.bytes());
  for (const Devices& g : device_groups(c.mesh, p.axes)) {
    std::vector<i64> source(g.size(), -1);
    for (const auto& [from, to] : p.permutation)
      source[static_cast<std::size_t>(to)] = g[static_cast<std::size_t>(from)];
    for (std::size_t k = 0; k < g.size(); ++k) {
      std::byte* out = c.out + g[k] * c.out_stride;
      if (source[k] < 0)
        std::memset(out, 0, bytes);
      else
        std::memcpy(out, c.in + source[k] * c.in_stride, bytes);
    }
  }
}

void axis_index(const CollectiveArgs& c) {
  for (const Devices& g : device_groups(c.mesh, c.eqn.params.axes()))
    for (std::size_t k = 0; k < g.size(); ++k) {
      const auto position = static_cast<std::int32_t>(k);
      std::memcpy(c.out + g[k] * c.out_stride, &position, sizeof position);
    }
}
}  // namespace

void run_collective(const CollectiveArgs& c) {
  const ir::Op* op = c.eqn.op;
  if (op == &ops::psum) return reduce<Sum>(c);
  if (op == &ops::pmax) return reduce<Max>(c);
  if (op == &ops::pmin) return reduce<Min>(c);
  if (op == &ops::all_gather) return all_gather(c);
  if (op == &ops::psum_scatter) return psum_scatter(c);
  if (op == &ops::all_to_all) return all_to_all(c);
  if (op == &ops::ppermute) return ppermute(c);
  if (op == &ops::axis_index) return axis_index(c);
  throw InternalError("native: no kernel for the collective " + std::string(op->name));
}

}  // namespace uni::native
