// Array, the operand view In, indexing and literals.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include <unisono/dtype.hpp>
#include <unisono/shape.hpp>

namespace uni {
using Location = std::source_location;

class In;
class Index;
class AtIndex;
namespace detail {
class Node;
// A host number with its kind: booleans are strong, the other kinds weak.
struct HostScalar {
  enum class Kind : std::uint8_t { boolean = 1, integer, natural, real };
  Kind kind = Kind::integer;
  union {
    std::int64_t i;
    std::uint64_t u;
    double d = 0;
  };
  template <Number T>
  static constexpr HostScalar of(T value) {
    HostScalar s;
    if constexpr (std::same_as<T, bool>) {
      s.kind = Kind::boolean;
      s.i = value ? 1 : 0;
    } else if constexpr (std::floating_point<T>) {
      s.kind = Kind::real;
      s.d = static_cast<double>(value);
    } else if constexpr (std::signed_integral<T>) {
      s.kind = Kind::integer;
      s.i = value;
    } else {
      s.kind = Kind::natural;
      s.u = value;
    }
    return s;
  }
};
template <class T>
inline constexpr bool is_element =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) || std::is_same_v<T, f16> || std::is_same_v<T, bf16> ||
    std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;
template <class T>
concept Element = is_element<T>;
// The dtype of a C++ element type.
template <class T>
constexpr Dtype dtype_for() {
  static_assert(is_element<T>, "an element type is an arithmetic type, f16, bf16 or Complex<float or double>");
  if constexpr (std::is_same_v<T, bool>)
    return Dtype::b8;
  else if constexpr (std::is_same_v<T, f16>)
    return Dtype::f16;
  else if constexpr (std::is_same_v<T, bf16>)
    return Dtype::bf16;
  else if constexpr (std::is_same_v<T, Complex<float>>)
    return Dtype::c64;
  else if constexpr (std::is_same_v<T, Complex<double>>)
    return Dtype::c128;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? Dtype::f32 : Dtype::f64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? Dtype::i8 : sizeof(T) == 2 ? Dtype::i16 : sizeof(T) == 4 ? Dtype::i32 : Dtype::i64;
  else
    return sizeof(T) == 1 ? Dtype::u8 : sizeof(T) == 2 ? Dtype::u16 : sizeof(T) == 4 ? Dtype::u32 : Dtype::u64;
}
// Throws ShapeError unless `count` values fill `shape`.
void check_count(std::size_t count, const Dims& shape, Location where);
}  // namespace detail

// An immutable value: numbers on a device, or a tracer while a transformation watches. Copying shares.
class Array {
 public:
  Array() noexcept = default;  // holds nothing; using it in an operation is an error
  template <Number T>
  Array(T value) : Array(detail::HostScalar::of(value)) {}  // a scalar, weakly typed unless bool
  Array(const Array& other) noexcept;
  Array(Array&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
  // Compilers show these lines to who assigns to a part, or asks for a truth value.
  Array& operator=(const Array& other) & noexcept;  // parts are not assigned: x = x.at({...}).set(v)
  Array& operator=(Array&& other) & noexcept;       // parts are not assigned: x = x.at({...}).set(v)
  ~Array();

  bool defined() const { return node_ != nullptr; }
  const Dims& shape() const;
  i64 shape(int axis) const;  // negative axes count from the end; throws ShapeError
  int rank() const;
  i64 size() const;
  Dtype dtype() const;
  bool weak() const;

  Array operator[](const Index& index) const;
  AtIndex at(const Index& index) const;
  Array& operator+=(In other) &;            // rebinds the handle; of parts: x = x.at({...}).add(v)
  Array& operator-=(In other) &;            // rebinds the handle; of parts: x = x.at({...}).subtract(v)
  Array& operator*=(In other) &;            // rebinds the handle; of parts: x = x.at({...}).multiply(v)
  Array& operator/=(In other) &;            // rebinds the handle; of parts: x = x.at({...}).divide(v)
  explicit operator bool() const = delete;  // no truth value: where(x, a, b), or x.item<bool>() outside traced code

  // The value of a one-element array. Throws TraceError inside traced code, ShapeError for more than one element.
  template <Number T>
  T item(Location where = Location::current()) const {
    T value{};
    read_item(&value, detail::dtype_for<T>(), where);
    return value;
  }
  // All values in row-major order, converted to T.
  template <Number T>
  std::vector<T> to_vector(Location where = Location::current()) const {
    static_assert(!std::is_same_v<T, bool>, "to_vector<bool>: use to_vector<std::uint8_t>");
    std::vector<T> values(static_cast<std::size_t>(size()));
    read_all(values.data(), detail::dtype_for<T>(), where);
    return values;
  }
  // The bytes themselves without a copy, where the array lies whole and contiguous in host memory; lives as long as
  // the Array. T must be the element type.
  template <class T>
  std::span<const T> view(Location where = Location::current()) const {
    return {static_cast<const T*>(raw(detail::dtype_for<T>(), where)), static_cast<std::size_t>(size())};
  }

  // For the library.
  explicit Array(detail::Node* node) noexcept;  // shares ownership
  detail::Node* node() const { return node_; }

 private:
  explicit Array(detail::HostScalar scalar);
  void read_item(void* out, Dtype dtype, Location where) const;
  void read_all(void* out, Dtype dtype, Location where) const;
  const void* raw(Dtype dtype, Location where) const;
  detail::Node* node_ = nullptr;
};
using Arrays = std::vector<Array>;

// An operand: an Array or a scalar, and where it was written. 24 bytes, trivially copyable, never stored.
class In {
 public:
  In(const Array& array, Location where = Location::current())
      : tag_(reinterpret_cast<std::uintptr_t>(&array)), where_(where) {}
  template <Number T>
  constexpr In(T value, Location where = Location::current()) : where_(where) {
    const detail::HostScalar s = detail::HostScalar::of(value);
    tag_ = static_cast<std::uintptr_t>(s.kind);
    bits_ = s.kind == detail::HostScalar::Kind::real ? __builtin_bit_cast(std::uint64_t, s.d) : s.u;
  }
  Location where() const { return where_; }
  bool is_scalar() const { return tag_ < 16; }
  const Array& array() const { return *reinterpret_cast<const Array*>(tag_); }
  detail::HostScalar scalar() const {
    detail::HostScalar s;
    s.kind = static_cast<detail::HostScalar::Kind>(tag_);
    if (s.kind == detail::HostScalar::Kind::real)
      s.d = __builtin_bit_cast(double, bits_);
    else
      s.u = bits_;
    return s;
  }

 private:
  std::uintptr_t tag_ = 0;  // a HostScalar::Kind, or the address of an Array
  std::uint64_t bits_ = 0;
  Location where_;
};
static_assert(sizeof(In) == 24 && std::is_trivially_copyable_v<In>);

// One entry of an index: an integer, a slice, newaxis, ellipsis, or an array of integers or booleans.
class IndexItem {
 public:
  enum class Kind : std::uint8_t { integer, slice, newaxis, ellipsis, array };
  template <Integer T>
  IndexItem(T value) : kind_(Kind::integer), integer_(static_cast<i64>(value)) {}
  IndexItem(Slice value) : kind_(Kind::slice), slice_(value) {}
  IndexItem(NewAxis) : kind_(Kind::newaxis) {}
  IndexItem(Ellipsis) : kind_(Kind::ellipsis) {}
  IndexItem(const Array& value) : kind_(Kind::array), array_(value) {}
  Kind kind() const { return kind_; }
  i64 integer() const { return integer_; }
  const Slice& slice() const { return slice_; }
  const Array& array() const { return array_; }

 private:
  Kind kind_;
  i64 integer_ = 0;
  Slice slice_;
  Array array_;
};
// x[{0, slice(2, 8), newaxis, ellipsis, indices}]
class Index {
 public:
  template <Integer T>
  Index(T value, Location where = Location::current()) : items_{IndexItem(value)}, where_(where) {}
  Index(Slice value, Location where = Location::current()) : items_{IndexItem(value)}, where_(where) {}
  Index(NewAxis value, Location where = Location::current()) : items_{IndexItem(value)}, where_(where) {}
  Index(Ellipsis value, Location where = Location::current()) : items_{IndexItem(value)}, where_(where) {}
  Index(const Array& value, Location where = Location::current()) : items_{IndexItem(value)}, where_(where) {}
  Index(std::initializer_list<IndexItem> items, Location where = Location::current()) : items_(items), where_(where) {}
  const std::vector<IndexItem>& items() const { return items_; }
  Location where() const { return where_; }

 private:
  std::vector<IndexItem> items_;
  Location where_;
};

// What an index out of range does: reads clip (the value at the edge) or fill; updates clip or drop.
enum class OutOfBounds : std::uint8_t { standard, clip, fill, drop, wrap };
struct AtOptions {
  OutOfBounds mode = OutOfBounds::standard;  // get: clip; updates: drop
  std::optional<double> fill = {};           // what get reads out of range in mode fill; default as take
};
// x.at(index).set(value) and friends: each returns a new Array.
class AtIndex {
 public:
  AtIndex(Array array, Index index) : array_(std::move(array)), index_(std::move(index)) {}
  Array get(const AtOptions& options = {}) const;
  Array set(In value, const AtOptions& options = {}) const;
  Array add(In value, const AtOptions& options = {}) const;
  Array subtract(In value, const AtOptions& options = {}) const;
  Array multiply(In value, const AtOptions& options = {}) const;
  Array divide(In value, const AtOptions& options = {}) const;
  Array min(In value, const AtOptions& options = {}) const;
  Array max(In value, const AtOptions& options = {}) const;

 private:
  Array array_;
  Index index_;
};

// array({1, 2}), array({{1., 2.}, {3., 4.}}): nested lists of numbers. Integers give i32, reals f32, booleans bool.
class Literal {
 public:
  template <Number T>
  Literal(T value) : scalar_(detail::HostScalar::of(value)), leaf_(true) {}
  Literal(std::initializer_list<Literal> items) : items_(items) {}
  bool leaf() const { return leaf_; }
  detail::HostScalar scalar() const { return scalar_; }
  const std::vector<Literal>& items() const { return items_; }

 private:
  detail::HostScalar scalar_;
  std::vector<Literal> items_;
  bool leaf_ = false;
};
struct ArrayOptions {
  std::optional<Dtype> dtype = {};
};
// Throws ShapeError for ragged lists, DtypeError for a value that does not fit the dtype.
Array array(std::initializer_list<Literal> values, const ArrayOptions& options = {},
            Location where = Location::current());
// Copies the elements of `shape`, row-major, in the memory form of `dtype`.
Array from_bytes(const void* data, Dtype dtype, const Dims& shape, Location where = Location::current());
// Copies host values, row-major. Throws ShapeError when their number is not that of the shape.
template <detail::Element T>
Array array(std::span<const T> values, const Dims& shape, Location where = Location::current()) {
  detail::check_count(values.size(), shape, where);
  return from_bytes(values.data(), detail::dtype_for<T>(), shape, where);
}

template <detail::Element T>
Array array(const std::vector<T>& values, const Dims& shape, Location where = Location::current()) {
  return array(std::span<const T>(values), shape, where);
}
// One axis.
template <detail::Element T>
Array array(const std::vector<T>& values, Location where = Location::current()) {
  return array(std::span<const T>(values), Dims{static_cast<i64>(values.size())}, where);
}

// NumPy-style text: nested brackets, columns aligned, at most 1000 elements in full.
std::string to_string(const Array& array);
std::ostream& operator<<(std::ostream& out, const Array& array);
std::ostream& operator<<(std::ostream& out, const Dims& shape);  // "(2, 3)"
std::ostream& operator<<(std::ostream& out, Dtype dtype);        // "f32"

}  // namespace uni
