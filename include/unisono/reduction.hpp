// Reductions and running totals. Without axes everything is reduced; reduced axes go away, or stay with size 1 with
// `keepdims`. Axes that do not exist are a ShapeError. 16-bit floats are accumulated in f32 and rounded once.
#pragma once
#include <unisono/array.hpp>

namespace uni {

struct ReduceOptions {
  Axes axis = {};
  Flag keepdims = false;
};
// The sum and the product. bool, i8, i16 give i32; u8, u16 give u32; integers wrap. Empty: 0 and 1.
struct SumOptions {
  Axes axis = {};
  Flag keepdims = false;
  std::optional<Dtype> dtype = {};  // to compute in
  Array where = {};                 // only elements where this is true
};
Array sum(In x, const SumOptions& options = {});
Array prod(In x, const SumOptions& options = {});
// The mean; integers give f32, 64-bit integers f64. Empty: NaN.
Array mean(In x, const SumOptions& options = {});
struct VarOptions {
  Axes axis = {};
  Flag keepdims = false;
  double ddof = 0;  // the divisor is the number of elements less this
};
// The mean squared distance from the mean, and its root. The derivative of std is 0 where all elements are equal.
// (Write uni::std; after `using namespace uni` the bare name could also mean the namespace.)
Array var(In x, const VarOptions& options = {});
Array std(In x, const VarOptions& options = {});

struct TraceOptions {
  int offset = 0;
  int axis1 = -2, axis2 = -1;
};
// The sum along a diagonal, in the dtype of sum.
Array trace(In x, const TraceOptions& options = {});
struct DiffOptions {
  int order = 1;
  int axis = -1;
};
// Each element less the one before; of bool whether they differ. `order` times.
Array diff(In x, const DiffOptions& options = {});

struct ExtremeOptions {
  Axes axis = {};
  Flag keepdims = false;
  std::optional<double> initial = {};  // takes part; needed for no elements
};
// The largest and the smallest element; NaN wins. Throws ShapeError for no elements without `initial`.
Array max(In x, const ExtremeOptions& options = {});
Array min(In x, const ExtremeOptions& options = {});
// max - min.
Array ptp(In x, const ReduceOptions& options = {});
// Whether any or all elements are true (not zero). Empty: false and true.
Array any(In x, const ReduceOptions& options = {});
Array all(In x, const ReduceOptions& options = {});
// How many elements are not zero: i32.
Array count_nonzero(In x, const ReduceOptions& options = {});
struct ArgReduceOptions {
  std::optional<int> axis = {};  // none: the position in row-major order
  Flag keepdims = false;
};
// Where the largest (smallest) element stands: i32, the first of equal ones, the first NaN if there is one. Throws
// ShapeError for no elements.
Array argmax(In x, const ArgReduceOptions& options = {});
Array argmin(In x, const ArgReduceOptions& options = {});

// NaN counts as nothing. All NaN: 0 for nansum, NaN for the others.
Array nansum(In x, const ReduceOptions& options = {});
Array nanmean(In x, const ReduceOptions& options = {});
Array nanmax(In x, const ReduceOptions& options = {});
Array nanmin(In x, const ReduceOptions& options = {});
// The middle value, or the mean of the two middle ones; NaN if one element is.
struct MedianOptions {
  std::optional<int> axis = {};  // none: over all elements
  Flag keepdims = false;
};
Array median(In x, const MedianOptions& options = {});

struct LogSumExpOptions {
  Axes axis = {};
  Flag keepdims = false;
  Array b = {};      // weights of any sign, which broadcast with x; infinite x of weight 0 count as nothing
  Array where = {};  // only elements where this is true
};
// log(sum(b * exp(x))) without overflow. Empty, or all -inf: -inf. A negative sum: NaN.
Array logsumexp(In x, const LogSumExpOptions& options = {});
struct SignedLog {
  Array value, sign;  // the logarithm of the magnitude; -1, 0 or 1
};
SignedLog signed_logsumexp(In x, const LogSumExpOptions& options = {});
struct SoftmaxOptions {
  Axes axis = -1;
  Array where = {};  // only elements where this is true; the others are 0
};
// exp(x) / sum(exp(x)), and its logarithm.
Array softmax(In x, const SoftmaxOptions& options = {});
Array log_softmax(In x, const SoftmaxOptions& options = {});

struct CumulativeOptions {
  std::optional<int> axis = {};  // none: over all elements in row-major order
  Flag reverse = false;          // from the end
};
// Running sums, products, maxima and minima, each including the element itself. Integers keep their dtype; bool gives
// i32, and its maxima and minima stay bool. NaN stays from where it stands. Equal elements share the derivative of a
// maximum, pair by pair. Throws ShapeError for an axis that does not exist.
Array cumsum(In x, const CumulativeOptions& options = {});
Array cumprod(In x, const CumulativeOptions& options = {});
Array cummax(In x, const CumulativeOptions& options = {});
Array cummin(In x, const CumulativeOptions& options = {});
// log(cumsum(exp(x))) without overflow.
Array cumlogsumexp(In x, const CumulativeOptions& options = {});

}  // namespace uni
