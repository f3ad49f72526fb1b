// Text of the numbers of one array, aligned as NumPy aligns them.
#pragma once
#include <string>
#include <vector>

#include <unisono/dtype.hpp>

namespace uni::api {

// A number in both notations, shortest digits that tell it from its neighbours in its dtype, at most 8 behind the
// point.
struct Decimal {
  std::string whole, fraction;         // of the positional form
  std::string lead, digits, exponent;  // of the scientific form: lead.digits e exponent ("+05")
  bool negative = false;
};
Decimal decimal(Dtype dtype, double value);

// All values in columns of one width: numbers with the points below one another.
class FloatColumns {
 public:
  FloatColumns(Dtype dtype, const std::vector<double>& values, bool plus_sign = false);
  std::string text(double value) const;

 private:
  std::string special(double value) const;
  Dtype dtype_;
  bool scientific_ = false, plus_ = false;
  std::size_t left_ = 0, right_ = 0, exponent_ = 0;
};

// One number alone: "1.5", "1.0", "1e+20".
std::string float_text(Dtype dtype, double value);

}  // namespace uni::api
