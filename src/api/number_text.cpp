#include "api/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace uni::api {

namespace {
constexpr int precision = 8;  // digits behind the point

template <class... Format>
std::string chars(Format... format) {
  char buffer[512];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, format...);
  return std::string(buffer, result.ptr);
}

bool same_16_bits(Dtype dtype, float a, float b) {
  return dtype == Dtype::f16 ? f16(a).bits == f16(b).bits : bf16(a).bits == bf16(b).bits;
}

// "d.ddde+xx" with as few digits as tell the value from its neighbours.
std::string shortest(Dtype dtype, double value) {
  const auto narrow = static_cast<float>(value);
  if (dtype == Dtype::f64 || dtype == Dtype::c128) return chars(value, std::chars_format::scientific);
  if (dtype == Dtype::f32 || dtype == Dtype::c64) return chars(narrow, std::chars_format::scientific);
  for (int digits = 0; digits < 9; ++digits) {
    const std::string text = chars(narrow, std::chars_format::scientific, digits);
    float back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (same_16_bits(dtype, back, narrow)) return text;
  }
  return chars(narrow, std::chars_format::scientific);
}

void drop_zeros(std::string& digits) {
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
}

struct Parts {
  std::string lead, digits;
  int exponent = 0;
};
Parts split_scientific(const std::string& text) {
  Parts p;
  const std::size_t e = text.find('e');
  p.lead = text.substr(0, 1);
  if (e > 2) p.digits = text.substr(2, e - 2);
  p.exponent = std::stoi(text.substr(e + 1));
  drop_zeros(p.digits);
  return p;
}

void set_positional(Decimal& d, const Parts& p, double value) {
  const std::string all = p.lead + p.digits;
  const int point = p.exponent + 1;  // digits before the point
  if (static_cast<int>(all.size()) - point > precision) {
    const std::string text = chars(value, std::chars_format::fixed, precision);
    const std::size_t dot = text.find('.');
    d.whole = text.substr(0, dot);
    d.fraction = text.substr(dot + 1);
  } else if (point <= 0) {
    d.whole = "0";
    d.fraction = std::string(static_cast<std::size_t>(-point), '0') + all;
  } else if (point >= static_cast<int>(all.size())) {
    d.whole = all + std::string(static_cast<std::size_t>(point) - all.size(), '0');
  } else {
    d.whole = all.substr(0, static_cast<std::size_t>(point));
    d.fraction = all.substr(static_cast<std::size_t>(point));
  }
  drop_zeros(d.fraction);
}
}  // namespace

Decimal decimal(Dtype dtype, double value) {
  Decimal d;
  d.negative = std::signbit(value);
  const double size = std::abs(value);
  Parts p = split_scientific(shortest(dtype, size));
  set_positional(d, p, size);
  if (p.digits.size() > precision) p = split_scientific(chars(size, std::chars_format::scientific, precision));
  d.lead = p.lead;
  d.digits = p.digits;
  const std::string power = std::to_string(std::abs(p.exponent));
  d.exponent = base::cat(p.exponent < 0 ? "-" : "+", power.size() < 2 ? "0" : "", power);
  return d;
}

FloatColumns::FloatColumns(Dtype dtype, const std::vector<double>& values, bool plus_sign)
    : dtype_(dtype), plus_(plus_sign) {
  double largest = 0, smallest = HUGE_VAL;
  for (double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
  }
  scientific_ = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1000));
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    const Decimal d = decimal(dtype, v);
    const std::size_t sign = d.negative || plus_ ? 1 : 0;
    left_ = std::max(left_, sign + (scientific_ ? d.lead : d.whole).size());
    right_ = std::max(right_, (scientific_ ? d.digits : d.fraction).size());
    if (scientific_) exponent_ = std::max(exponent_, d.exponent.size());
  }
  for (double v : values) {
    if (std::isfinite(v)) continue;
    const std::size_t behind = right_ + 1 + (scientific_ ? exponent_ + 1 : 0), length = special(v).size();
    left_ = std::max(left_, length > behind ? length - behind : 0);
  }
}

std::string FloatColumns::special(double value) const {
  if (std::isnan(value)) return plus_ ? "+nan" : "nan";
  return value < 0 ? "-inf" : plus_ ? "+inf" : "inf";
}

std::string FloatColumns::text(double value) const {
  const std::size_t width = left_ + 1 + right_ + (scientific_ ? exponent_ + 1 : 0);
  if (!std::isfinite(value)) {
    const std::string name = special(value);
    return std::string(width > name.size() ? width - name.size() : 0, ' ') + name;
  }
  const Decimal d = decimal(dtype_, value);
  std::string front = base::cat(d.negative ? "-" : plus_ ? "+" : "", scientific_ ? d.lead : d.whole);
  front.insert(0, left_ > front.size() ? left_ - front.size() : 0, ' ');
  std::string back = scientific_ ? d.digits : d.fraction;
  if (!scientific_) return front + "." + back + std::string(right_ - back.size(), ' ');
  std::string exponent = d.exponent;
  exponent.insert(1, exponent_ - exponent.size(), '0');
  return front + "." + back + std::string(right_ - back.size(), '0') + "e" + exponent;
}

std::string float_text(Dtype dtype, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const Decimal d = decimal(dtype, value);
  const std::string sign = d.negative ? "-" : "";
  const double size = std::abs(value);
  // Where NumPy changes to the scientific form: about the integers that the dtype holds exactly.
  const bool narrow = itemsize(real_part(dtype)) == 2, single = itemsize(real_part(dtype)) == 4;
  const double limit = narrow ? 1e3 : single ? 1e6 : 1e16;
  if (size == 0 || (size >= 1e-4 && size < limit))
    return base::cat(sign, d.whole, ".", d.fraction.empty() ? "0" : d.fraction);
  return base::cat(sign, d.lead, d.digits.empty() ? "" : ".", d.digits, "e", d.exponent);
}

}  // namespace uni::api
