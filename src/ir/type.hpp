// The type of a value in a Program.
#pragma once
#include <string>
#include <vector>

#include <unisono/mesh.hpp>
#include <unisono/shape.hpp>

namespace uni::ir {

using AxisNames = std::vector<std::string>;

struct Type {
  Dtype dtype = Dtype::f32;
  Dims shape;
  bool weak = false;  // yields to the dtype of a strong operand in promotion
  // Mesh axes of the enclosing typed manual regions over which the value may differ between devices; sorted.
  AxisNames varying;

  i64 count() const { return shape.count(); }
  i64 bytes() const { return count() * itemsize(dtype); }
  bool operator==(const Type&) const = default;
};
using Types = std::vector<Type>;

// "f32[128,512]", weak "f32[]*", varying "f32[2]{V:i}"
std::string to_string(const Type& type);
void append(std::string& out, const Type& type);

bool contains(const AxisNames& names, const std::string& name);
// Sorted union; sorted difference a - b.
AxisNames unite(const AxisNames& a, const AxisNames& b);
AxisNames subtract(const AxisNames& a, const AxisNames& b);

}  // namespace uni::ir
