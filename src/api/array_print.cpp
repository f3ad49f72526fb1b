#include <algorithm>
#include <functional>
#include <ostream>

#include "api/host_values.hpp"
#include "api/number_text.hpp"
#include "base/text.hpp"
#include "core/trace.hpp"
#include <unisono/array.hpp>
#include <unisono/error.hpp>

namespace uni {

using namespace api;

namespace {
constexpr i64 threshold = 1000;  // larger arrays are summarised
constexpr i64 edge = 3;          // elements shown at each end then
constexpr std::size_t line_width = 75;

using ElementText = std::function<std::string(i64 element)>;

class Printer {
 public:
  Printer(Dims shape, ElementText element)
      : shape_(std::move(shape)), element_(std::move(element)), summary_(shape_.count() > threshold) {}

  std::string text() const { return block(0, 0, " ", line_width); }

  // The elements that are shown, for the width of the columns.
  void shown(int axis, i64 offset, std::vector<i64>& out) const {
    if (axis == shape_.rank()) return out.push_back(offset);
    for (i64 i : indices(axis))
      if (i >= 0) shown(axis + 1, offset * shape_[axis] + i, out);
  }

 private:
  // The indices along an axis; -1 stands for those left out.
  std::vector<i64> indices(int axis) const {
    std::vector<i64> out;
    const i64 size = shape_[axis];
    for (i64 i = 0; i < size; ++i) {
      if (summary_ && size > 2 * edge && i == edge) {
        out.push_back(-1);
        i = size - edge;
      }
      out.push_back(i);
    }
    return out;
  }

  std::string block(int axis, i64 offset, const std::string& indent, std::size_t width) const {
    if (axis == shape_.rank()) return element_(offset);
    const bool last_axis = axis + 1 == shape_.rank();
    return "[" + (last_axis ? row(axis, offset, indent, width) : rows(axis, offset, indent, width)) + "]";
  }

  std::string row(int axis, i64 offset, const std::string& indent, std::size_t width) const {
    std::string done, line;
    bool first = true;
    for (i64 i : indices(axis)) {
      const std::string word = i < 0 ? "..." : element_(offset * shape_[axis] + i);
      if (!first) line += ' ';
      if (!first && indent.size() + line.size() + word.size() > width - 1) {
        line.resize(line.find_last_not_of(' ') + 1);
        done += (done.empty() ? "" : indent) + line + "\n";
        line.clear();
      }
      line += word;
      first = false;
    }
    return done + (done.empty() ? "" : indent) + line;
  }

  std::string rows(int axis, i64 offset, const std::string& indent, std::size_t width) const {
    std::string out;
    const std::string gap(static_cast<std::size_t>(shape_.rank() - axis - 1), '\n');
    bool first = true;
    for (i64 i : indices(axis)) {
      if (!first) out += gap + indent;
      out += i < 0 ? "..." : block(axis + 1, offset * shape_[axis] + i, indent + " ", width - 1);
      first = false;
    }
    return out;
  }

  Dims shape_;
  ElementText element_;
  bool summary_;
};

double as_real(const detail::HostScalar& s) {
  if (s.kind == detail::HostScalar::Kind::real) return s.d;
  return s.kind == detail::HostScalar::Kind::natural ? static_cast<double>(s.u) : static_cast<double>(s.i);
}

std::string whole_number(const detail::HostScalar& s) {
  return s.kind == detail::HostScalar::Kind::natural ? base::cat(s.u) : base::cat(s.i);
}

std::string key_text(std::uint64_t words) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (int shift = 28; shift >= 0; shift -= 4) out += digits[words >> shift & 15u];
  for (int shift = 60; shift >= 32; shift -= 4) out += digits[words >> shift & 15u];
  return out;
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

// Texts of single elements of a buffer, in columns where `shown` says which elements share one.
ElementText column_text(const runtime::BufferPtr& buffer, const std::vector<i64>& shown) {
  const Dtype dtype = buffer->dtype();
  const auto at = [buffer, dtype](i64 i) { return buffer->data() + i * itemsize(dtype); };
  if (is_inexact(dtype)) {
    std::vector<double> re, im;
    for (i64 i : shown) {
      re.push_back(as_real(load(dtype, at(i))));
      im.push_back(load_imaginary(dtype, at(i)));
    }
    const FloatColumns real(dtype, re);
    if (!is_complex(dtype)) return [=](i64 i) { return real.text(as_real(load(dtype, at(i)))); };
    const FloatColumns imaginary(dtype, im, true);
    return [=](i64 i) {
      std::string text = imaginary.text(load_imaginary(dtype, at(i)));
      text.insert(text.find_last_not_of(' ') + 1, "j");
      return real.text(as_real(load(dtype, at(i)))) + text;
    };
  }
  const auto plain = [=](i64 i) -> std::string {
    const detail::HostScalar s = load(dtype, at(i));
    if (is_bool(dtype)) return s.i ? "True" : "False";
    return dtype == Dtype::key ? key_text(s.u) : whole_number(s);
  };
  std::size_t width = 0;
  for (i64 i : shown) width = std::max(width, plain(i).size());
  if (is_bool(dtype) && width < 5 && !shown.empty()) width = 5;
  return [=](i64 i) { return right_aligned(plain(i), width); };
}

// Without ".0".
std::string short_text(Dtype dtype, double value) {
  const std::string text = float_text(dtype, value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

std::string scalar_text(const runtime::BufferPtr& buffer) {
  const Dtype dtype = buffer->dtype();
  const detail::HostScalar s = load(dtype, buffer->data());
  if (is_bool(dtype)) return s.i ? "True" : "False";
  if (is_float(dtype)) return float_text(dtype, s.d);
  if (is_complex(dtype)) {
    const std::string imaginary = short_text(dtype, load_imaginary(dtype, buffer->data()));
    return base::cat("(", short_text(dtype, s.d), imaginary[0] == '-' ? "" : "+", imaginary, "j)");
  }
  return dtype == Dtype::key ? key_text(s.u) : whole_number(s);
}
}  // namespace

std::string to_string(const Array& array) {
  if (!array.defined()) return "<no value>";
  const std::string type = ir::to_string(core::type_of(array));
  const Array value = core::known_value(array);
  const detail::Concrete* concrete = core::concrete(value);
  if (!concrete)
    return base::cat("<", type, " in `", static_cast<const detail::Tracer&>(*value.node()).life->name, "`>");
  if (concrete->donated) return base::cat("<", type, ", donated>");
  const Dims& shape = array.shape();
  if (shape.count() == 0) return "[]";
  const runtime::BufferPtr buffer = core::whole_buffer(value);
  if (shape.rank() == 0) return scalar_text(buffer);
  std::vector<i64> shown;
  Printer(shape, {}).shown(0, 0, shown);
  return Printer(shape, column_text(buffer, shown)).text();
}

std::ostream& operator<<(std::ostream& out, const Array& array) { return out << to_string(array); }
std::ostream& operator<<(std::ostream& out, const Dims& shape) { return out << base::cat(shape); }
std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << name(dtype); }

}  // namespace uni
