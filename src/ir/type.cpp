#include "ir/type.hpp"

#include <algorithm>

#include "base/text.hpp"
#include <unisono/error.hpp>

void uni::Dims::no_axis(int axis) const { throw ShapeError(base::cat("the shape ", *this, " has no axis ", axis)); }

void uni::Dims::make_room() {
  const int room = 2 * std::max(rank_, in_place);
  i64* const sizes = new i64[static_cast<std::size_t>(room)];
  std::copy(begin(), end(), sizes);
  delete[] more_;
  more_ = sizes;
  room_ = room;
}

void uni::Dims::copy_many(const Dims& other) {
  room_ = std::max(rank_, in_place);
  more_ = new i64[static_cast<std::size_t>(room_)];
  std::copy(other.begin(), other.end(), more_);
}

namespace uni::ir {

static bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  });
}

void append(std::string& out, const Type& type) {
  out += name(type.dtype);
  out += '[';
  for (int i = 0; i < type.shape.rank(); ++i) {
    if (i) out += ',';
    out += std::to_string(type.shape[i]);
  }
  out += ']';
  if (!type.varying.empty()) {
    out += "{V:";
    for (std::size_t i = 0; i < type.varying.size(); ++i) {
      if (i) out += ',';
      if (is_word(type.varying[i]))
        out += type.varying[i];
      else
        base::append_quoted(out, type.varying[i]);
    }
    out += '}';
  }
  if (type.weak) out += '*';
}

std::string to_string(const Type& type) {
  std::string out;
  append(out, type);
  return out;
}

bool contains(const AxisNames& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

AxisNames unite(const AxisNames& a, const AxisNames& b) {
  if (b.empty() || a == b) return a;
  AxisNames out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

AxisNames subtract(const AxisNames& a, const AxisNames& b) {
  AxisNames out;
  for (const std::string& n : a)
    if (!contains(b, n)) out.push_back(n);
  return out;
}

}  // namespace uni::ir
