// A value that is read through strides: broadcast, transposed, sliced or reversed without being stored.
#pragma once
#include <optional>
#include <vector>

#include "ir/program.hpp"

namespace uni::native {

struct Strided {
  int base = -1;                   // root value that is read; none: what `maker` makes
  const ir::Eqn* maker = nullptr;  // full or iota; an iota's element is offset + sum(index * stride) itself
  Dims shape;
  std::vector<i64> strides;  // in elements of the base's row-major storage; 0 where the size is 1
  i64 offset = 0;
};

Strided whole(int base, const Dims& shape);
// The view that the equation (broadcast_in_dim, transpose, slice, reverse) gives of its operand's.
Strided applied(const ir::Eqn& e, Strided operand);
bool makes_view(const ir::Op* op);
// The same elements in another shape; none when strides cannot say it.
std::optional<Strided> reshaped(const Strided& v, const Dims& shape);
// Without dimensions of size 1.
Strided squeezed(const Strided& v);
Dims squeezed(const Dims& shape);

}  // namespace uni::native
