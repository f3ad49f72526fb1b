// Text of parameter values, from reflection: one printing that also serves equality, hashing and fingerprints, and the
// parser for it. `write` and `read` are overloaded for every type that a parameter struct may hold.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/type.hpp"
#include <unisono/detail/reflect.hpp>

namespace uni::ir {

struct Program;
using ProgramPtr = std::shared_ptr<const Program>;

// One element of any dtype by its bits, so that text and equality are exact (NaN, -0).
struct Scalar {
  Dtype dtype = Dtype::f32;
  std::uint64_t low = 0, high = 0;  // the element's bytes, little endian

  template <class T>
  static Scalar of(Dtype dtype, const T& value) {
    static_assert(sizeof(T) <= 16);
    Scalar s{dtype};
    std::memcpy(&s.low, static_cast<const void*>(&value), sizeof(T) < 8 ? sizeof(T) : 8);
    if constexpr (sizeof(T) > 8) std::memcpy(&s.high, reinterpret_cast<const char*>(&value) + 8, sizeof(T) - 8);
    return s;
  }
  // The element of `dtype` nearest to the value. Integers are cut to the width.
  static Scalar of_double(Dtype dtype, double value);
  static Scalar of_int(Dtype dtype, i64 value);
  double to_double() const;  // of the real part
  i64 to_int() const;        // of integers and bool
  bool operator==(const Scalar&) const = default;
};

class Reader;  // of the text form; see parser.hpp

void write(std::string& out, i64 v);
void write(std::string& out, int v);
void write(std::string& out, bool v);
void write(std::string& out, double v);
void write(std::string& out, const std::string& v);  // quoted
void write(std::string& out, Dtype v);
void write(std::string& out, const Dims& v);
void write(std::string& out, const Type& v);
void write(std::string& out, const Scalar& v);
void write(std::string& out, const Mesh& v);
void write(std::string& out, const P& v);
void write(std::string& out, const ProgramPtr& v);
void read(Reader& in, i64& v);
void read(Reader& in, int& v);
void read(Reader& in, bool& v);
void read(Reader& in, double& v);
void read(Reader& in, std::string& v);
void read(Reader& in, Dtype& v);
void read(Reader& in, Dims& v);
void read(Reader& in, Type& v);
void read(Reader& in, Scalar& v);
void read(Reader& in, Mesh& v);
void read(Reader& in, P& v);
void read(Reader& in, ProgramPtr& v);
// Reader steps that templates need.
bool reader_accept(Reader& in, std::string_view token);
void reader_expect(Reader& in, std::string_view token);
// A host-only value (a callable) inside parameters: not part of the text, nor of equality.
template <class T>
struct HostOnly {
  std::shared_ptr<const T> value;
};
template <class T>
void write(std::string&, const HostOnly<T>&) {}
template <class T>
void read(Reader&, HostOnly<T>&) {}

template <class E>
requires std::is_enum_v<E>
void write(std::string& out, E v) { write(out, static_cast<int>(v)); }
template <class E>
requires std::is_enum_v<E>
void read(Reader& in, E& v) {
  int i = 0;
  read(in, i);
  v = static_cast<E>(i);
}
template <class A, class B>
void write(std::string& out, const std::pair<A, B>& v) {
  out += '(';
  write(out, v.first);
  out += ',';
  write(out, v.second);
  out += ')';
}
template <class A, class B>
void read(Reader& in, std::pair<A, B>& v) {
  reader_expect(in, "(");
  read(in, v.first);
  reader_expect(in, ",");
  read(in, v.second);
  reader_expect(in, ")");
}
template <class T>
void write(std::string& out, const std::vector<T>& v) {
  out += '[';
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (i) out += ',';
    write(out, static_cast<const T&>(v[i]));
  }
  out += ']';
}
template <class T>
void read(Reader& in, std::vector<T>& v) {
  v.clear();
  reader_expect(in, "[");
  while (!reader_accept(in, "]")) {
    if (!v.empty()) reader_expect(in, ",");
    T item{};
    read(in, item);
    v.push_back(std::move(item));
  }
}
template <class T>
void write(std::string& out, const std::optional<T>& v) {
  if (!v) {
    out += "none";
    return;
  }
  write(out, *v);
}
template <class T>
void read(Reader& in, std::optional<T>& v) {
  v.reset();
  if (reader_accept(in, "none")) return;
  T item{};
  read(in, item);
  v = std::move(item);
}

// {field=value, ...} of a parameter struct.
template <class P>
void write_fields(std::string& out, const P& p) {
  const auto fields = detail::tie_fields(p);
  out += '{';
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((out += I ? ", " : "", out += detail::field_name<P, I>(), out += '=', write(out, std::get<I>(fields))), ...);
  }
  (std::make_index_sequence<detail::field_count<P>()>{});
  out += '}';
}
template <class P>
void read_fields(Reader& in, P& p) {
  auto fields = detail::tie_fields(p);
  reader_expect(in, "{");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((I ? reader_expect(in, ",") : void(), reader_expect(in, detail::field_name<P, I>()), reader_expect(in, "="),
      read(in, std::get<I>(fields))),
     ...);
  }
  (std::make_index_sequence<detail::field_count<P>()>{});
  reader_expect(in, "}");
}

}  // namespace uni::ir
