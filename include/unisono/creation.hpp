// Arrays from nothing: constants, ranges, identity matrices. (Literals and host data: array.hpp.)
#pragma once
#include <unisono/array.hpp>

namespace uni {

// Arrays of one value. Throw ShapeError for negative sizes.
Array zeros(const Dims& shape, Dtype dtype = Dtype::f32, Location where = Location::current());
Array ones(const Dims& shape, Dtype dtype = Dtype::f32, Location where = Location::current());
struct FullOptions {
  std::optional<Dtype> dtype = {};  // default: that of the value
};
// `value` may be an array that broadcasts to `shape`. Throws DtypeError when a number does not fit the dtype.
Array full(const Dims& shape, In value, const FullOptions& options = {});

struct LikeOptions {
  std::optional<Dtype> dtype = {};  // default: that of x
  std::optional<Dims> shape = {};   // default: that of x
};
// With the shape and dtype of x.
Array zeros_like(In x, const LikeOptions& options = {});
Array ones_like(In x, const LikeOptions& options = {});
Array full_like(In x, In value, const LikeOptions& options = {});

// A host number, or none.
class HostNumber {
 public:
  HostNumber() = default;
  template <Number T>
  HostNumber(T value) : value_(detail::HostScalar::of(value)), given_(true) {}
  bool given() const { return given_; }
  const detail::HostScalar& value() const { return value_; }

 private:
  detail::HostScalar value_;
  bool given_ = false;
};
struct ArangeOptions {
  std::optional<Dtype> dtype = {};  // default: i32 when all numbers are integers, else f32
};
// arange(stop): 0, 1, ... below stop; arange(start, stop, step): start, start + step, ... before stop. Element i is
// start + i * step; the number of elements is computed in double. Throws ShapeError for a zero step.
Array arange(HostNumber start_or_stop, HostNumber stop = {}, HostNumber step = 1, const ArangeOptions& options = {},
             Location where = Location::current());

struct LinspaceOptions {
  Flag endpoint = true;             // whether the last value is `stop`
  std::optional<Dtype> dtype = {};  // default f32; integers are rounded down
};
// `count` evenly spaced values from start to stop; the last one is exactly `stop`. Throws ShapeError for a negative
// count.
Array linspace(In start, In stop, i64 count = 50, const LinspaceOptions& options = {});

struct EyeOptions {
  std::optional<i64> columns = {};  // default: as many as rows
  int offset = 0;                   // which diagonal: positive ones lie above the main one
  Dtype dtype = Dtype::f32;
};
// Ones on a diagonal, zeros elsewhere.
Array eye(i64 rows, const EyeOptions& options = {}, Location where = Location::current());
// The lower (upper) triangle of the last two axes; zeros elsewhere. `offset` moves the diagonal up.
struct TriangleOptions {
  int offset = 0;
};
Array tril(In x, const TriangleOptions& options = {});
Array triu(In x, const TriangleOptions& options = {});

}  // namespace uni
