// Shapes: rearranging, joining, cutting and repeating. Negative axes count from the end. Axes that do not exist, axes
// named twice and sizes that do not fit are a ShapeError.
#pragma once
#include <unisono/array.hpp>

namespace uni {

// One number, or a list of them.
class Counts {
 public:
  template <Integer T>
  Counts(T count) : values_{static_cast<i64>(count)}, single_(true) {}
  Counts(std::initializer_list<i64> counts) : values_(counts) {}
  explicit Counts(std::vector<i64> counts) : values_(std::move(counts)) {}
  bool single() const { return single_; }
  const std::vector<i64>& values() const { return values_; }

 private:
  std::vector<i64> values_;
  bool single_ = false;
};

// The same elements in row-major order with another shape. One size may be -1: what is left.
Array reshape(In x, const Dims& shape);
// One axis with all elements.
Array ravel(In x);
// Axes in another order: result axis i is axis permutation[i] of x. Without a permutation the order is reversed.
Array transpose(In x, const Axes& permutation = {});
Array swapaxes(In x, int axis1, int axis2);
// Moves axes to new positions; the others keep their order. As many sources as destinations.
Array moveaxis(In x, const Axes& source, const Axes& destination);
// Exchanges the last two axes.
Array matrix_transpose(In x);
// New axes of size 1 at these positions of the result.
Array expand_dims(In x, const Axes& axis);
// Without the named axes, which have size 1; without all axes of size 1 when none is named.
Array squeeze(In x, const Axes& axis = {});
// x repeated along axes of size 1 and along new leading axes.
Array broadcast_to(In x, const Dims& shape);

struct DiagonalOptions {
  int offset = 0;  // which diagonal: positive ones lie above the main one
  int axis1 = -2, axis2 = -1;
};
// The elements whose indices along two axes agree (axis2's less offset), along a new last axis in place of both.
Array diagonal(In x, const DiagonalOptions& options = {});
struct DiagOptions {
  int offset = 0;
};
// The square matrix with x of rank 1 on a diagonal; the diagonal of x of rank 2.
Array diag(In x, const DiagOptions& options = {});

struct JoinOptions {
  int axis = 0;
};
// The arrays one behind another along an existing axis; other sizes agree, dtypes are promoted. At least one array.
Array concatenate(const Arrays& parts, const JoinOptions& options = {}, Location where = Location::current());
// The arrays along a new axis; all shapes agree.
Array stack(const Arrays& parts, const JoinOptions& options = {}, Location where = Location::current());
struct SplitOptions {
  int axis = 0;
  Flag uneven = false;  // whether parts may differ in size by one; the first ones are larger
};
// One number: that many equal parts. A list: cuts before these positions.
Arrays split(In x, const Counts& sections, const SplitOptions& options = {});

// Elements in reverse order along the axes, all of them when none is named.
Array flip(In x, const Axes& axis = {});
struct RollOptions {
  Axes axis = {};  // none: over all elements in row-major order
};
// Elements moved to higher positions; those that leave at the end come in at the start. One shift for all axes, or one
// for each.
Array roll(In x, const Counts& shift, const RollOptions& options = {});

// How many elements to add before and after.
struct PadWidth {
  i64 low, high;
};
class PadWidths {
 public:
  template <Integer T>
  PadWidths(T both) : all_{{static_cast<i64>(both), static_cast<i64>(both)}}, same_(true) {}
  PadWidths(i64 low, i64 high) : all_{{low, high}}, same_(true) {}
  PadWidths(std::initializer_list<PadWidth> by_axis) : all_(by_axis) {}
  explicit PadWidths(std::vector<PadWidth> by_axis) : all_(std::move(by_axis)) {}
  bool same() const { return same_; }  // one width for every axis
  const std::vector<PadWidth>& all() const { return all_; }

 private:
  std::vector<PadWidth> all_;
  bool same_ = false;
};
// What the new elements are: a constant, the edge, the array again (wrap), or its mirror image without (reflect) or
// with (symmetric) the edge itself.
enum class PadMode : std::uint8_t { constant, edge, wrap, reflect, symmetric };
struct PadOptions {
  PadMode mode = PadMode::constant;
  double value = 0;
};
// pad(x, 1), pad(x, {1, 2}) for every axis, pad(x, {{1, 2}, {0, 0}}) by axis. Widths are not negative.
Array pad(In x, const PadWidths& widths, const PadOptions& options = {});

struct RepeatOptions {
  std::optional<int> axis = {};   // none: of all elements in row-major order
  std::optional<i64> total = {};  // size of the result, needed when the counts are traced
};
// Each element as many times as `counts` says: one number for all, or one for each element.
Array repeat(In x, In counts, const RepeatOptions& options = {});
// x as a whole several times along each axis; fewer counts than axes concern the last axes.
Array tile(In x, const Counts& counts);

}  // namespace uni
