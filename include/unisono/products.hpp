// Products of matrices and tensors, convolution and pooling. Operands are promoted to a common dtype; integers wrap,
// 16-bit floats are accumulated in f32 and rounded once. Sizes that do not agree are a ShapeError with both types.
#pragma once
#include <array>
#include <concepts>
#include <span>
#include <string_view>

#include <unisono/array.hpp>
#include <unisono/shaping.hpp>

namespace uni {

// Matrix product over the last two axes; leading axes broadcast. An operand of rank 1 is a row (left) or a column
// (right) whose axis is gone in the result. Scalars are a ShapeError.
Array matmul(In x, In y);
// Scalars multiply; otherwise sums over the last axis of x and the last but one of y (its only one for rank 1).
Array dot(In x, In y);
// Sums over the last axis of both.
Array inner(In x, In y);
// All products of an element of x and one of y: [x.size, y.size].
Array outer(In x, In y);
// The Kronecker product: every element of x times all of y, in blocks. The operand of lower rank gets leading axes.
Array kron(In x, In y);
struct CrossOptions {
  int axis = -1;  // of size 3 in both, and in the result
};
// The vector product; other axes broadcast.
Array cross(In x, In y, const CrossOptions& options = {});
// The sum of conj(x) * y over all elements; both have as many.
Array vdot(In x, In y);
// Which axes to contract: the last n of x with the first n of y, or pairs of axes.
class ContractAxes {
 public:
  ContractAxes(int count) : count_(count) {}
  ContractAxes(std::vector<int> x, std::vector<int> y) : x_(std::move(x)), y_(std::move(y)) {}
  int count() const { return count_; }  // negative: the axes are named
  const std::vector<int>& x() const { return x_; }
  const std::vector<int>& y() const { return y_; }

 private:
  int count_ = -1;
  std::vector<int> x_, y_;
};
// tensordot(x, y, 1), tensordot(x, y, {{0, 2}, {1, 0}}): the other axes of x, then those of y.
Array tensordot(In x, In y, const ContractAxes& axes = 2);

// The text of an einsum and where it was written.
class EinsumSpec {
 public:
  EinsumSpec(const char* text, Location where = Location::current()) : text_(text), where_(where) {}
  EinsumSpec(std::string_view text, Location where = Location::current()) : text_(text), where_(where) {}
  EinsumSpec(const std::string& text, Location where = Location::current()) : text_(text), where_(where) {}
  std::string_view text() const { return text_; }
  Location where() const { return where_; }

 private:
  std::string_view text_;
  Location where_;
};
Array einsum_of(const EinsumSpec& spec, std::span<const Array> operands);
// Sums of products by labels: einsum("bhqd,bhkd->bhqk", q, k). "..." stands for leading axes that broadcast. Without
// "->" the result has the labels that occur once, in alphabetical order. A label twice in one operand is its diagonal.
template <std::convertible_to<Array>... A>
Array einsum(const EinsumSpec& spec, const A&... operands) {
  const std::array<Array, sizeof...(A)> all{Array(operands)...};
  return einsum_of(spec, all);
}

// "SAME": as many outputs as inputs / stride, the odd one of the padding at the end. "VALID": none. Or widths by
// spatial axis.
class Padding {
 public:
  Padding(const char* name) : name_(name) {}
  Padding(std::string name) : name_(std::move(name)) {}
  Padding(PadWidths widths) : widths_(std::move(widths)) {}
  const std::string& name() const { return name_; }
  const std::optional<PadWidths>& widths() const { return widths_; }

 private:
  std::string name_;
  std::optional<PadWidths> widths_;
};
struct ConvOptions {
  Counts stride = 1;
  Padding padding = "SAME";
  Counts dilation = 1;        // distance between kernel elements
  Counts input_dilation = 1;  // zeros are put between elements of x (transposed convolution)
  i64 groups = 1;             // channels and features fall into groups that do not see each other
};
// x [batch, spatial..., channels] with kernel [spatial..., channels / groups, features] gives [batch, spatial...,
// features]. The kernel is not flipped. One or more spatial axes.
Array conv(In x, In kernel, const ConvOptions& options = {});

struct PoolOptions {
  std::optional<Counts> stride = {};  // default: the window, so that windows do not overlap
  Padding padding = "VALID";
  Flag include_padding = true;  // avg_pool: whether padding counts as elements that are 0
};
// The largest element, or the mean, of each window over the spatial axes of x [batch, spatial..., channels].
Array max_pool(In x, const Counts& window, const PoolOptions& options = {});
Array avg_pool(In x, const Counts& window, const PoolOptions& options = {});

}  // namespace uni
