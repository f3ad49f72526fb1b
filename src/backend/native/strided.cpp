#include "backend/native/strided.hpp"

#include "backend/native/kernel.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
void forget_single(Strided& v) {
  for (int d = 0; d < v.shape.rank(); ++d)
    if (v.shape[d] == 1) v.strides[at(d)] = 0;
}
}  // namespace

Strided whole(int base, const Dims& shape) {
  Strided v{base, nullptr, shape, row_strides(shape), 0};
  forget_single(v);
  return v;
}

bool makes_view(const ir::Op* op) {
  return op == &ops::broadcast_in_dim || op == &ops::transpose || op == &ops::slice || op == &ops::reverse;
}

Strided applied(const ir::Eqn& e, Strided x) {
  Strided v{x.base, x.maker, x.shape, x.strides, x.offset};
  if (e.op == &ops::broadcast_in_dim) {
    const auto& p = e.params.as<ops::BroadcastInDim>();
    v.shape = p.shape;
    v.strides.assign(at(p.shape.rank()), 0);
    for (int d = 0; d < x.shape.rank(); ++d)
      if (x.shape[d] != 1) v.strides[at(p.dims[at(d)])] = x.strides[at(d)];
  } else if (e.op == &ops::transpose) {
    const auto& p = e.params.as<ops::Transpose>();
    for (int d = 0; d < x.shape.rank(); ++d) {
      v.shape[d] = x.shape[p.permutation[at(d)]];
      v.strides[at(d)] = x.strides[at(p.permutation[at(d)])];
    }
  } else if (e.op == &ops::slice) {
    const auto& p = e.params.as<ops::SliceParams>();
    for (int d = 0; d < x.shape.rank(); ++d) {
      v.offset += p.start[d] * x.strides[at(d)];
      v.strides[at(d)] *= p.stride[d];
      v.shape[d] = (p.limit[d] - p.start[d] + p.stride[d] - 1) / p.stride[d];
    }
  } else {
    for (int d : e.params.as<ops::Reverse>().axes) {
      v.offset += (x.shape[d] - 1) * x.strides[at(d)];
      v.strides[at(d)] = -v.strides[at(d)];
    }
  }
  forget_single(v);
  return v;
}

Dims squeezed(const Dims& shape) {
  Dims out;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] != 1) out.push_back(shape[d]);
  return out;
}
Strided squeezed(const Strided& v) {
  Strided out{v.base, v.maker, {}, {}, v.offset};
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] == 1) continue;
    out.shape.push_back(v.shape[d]);
    out.strides.push_back(v.strides[at(d)]);
  }
  return out;
}

// Dimensions are merged where the strides allow it, then split as the new shape asks.
std::optional<Strided> reshaped(const Strided& v, const Dims& shape) {
  const Strided x = squeezed(v);
  Strided out{v.base, v.maker, shape, std::vector<i64>(at(shape.rank()), 0), v.offset};
  int from = 0, to = 0;
  while (from < x.shape.rank()) {
    // The smallest runs of old and new dimensions with equally many elements.
    int from_end = from + 1, to_end = to;
    i64 old_count = x.shape[from], new_count = 1;
    while (old_count != new_count) {
      if (new_count < old_count) {
        if (to_end == shape.rank()) return std::nullopt;
        new_count *= shape[to_end++];
      } else {
        if (from_end == x.shape.rank()) return std::nullopt;
        old_count *= x.shape[from_end++];
      }
    }
    for (int d = from; d + 1 < from_end; ++d)
      if (x.strides[at(d)] != x.strides[at(d + 1)] * x.shape[d + 1]) return std::nullopt;
    i64 stride = x.strides[at(from_end - 1)];
    for (int d = to_end; d-- > to;) {
      out.strides[at(d)] = shape[d] == 1 ? 0 : stride;
      stride *= shape[d];
    }
    from = from_end;
    to = to_end;
  }
  return out;
}

}  // namespace uni::native
