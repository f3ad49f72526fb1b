#include "ir/codec.hpp"

#include <bit>
#include <charconv>

#include "base/text.hpp"
#include "ir/parser.hpp"
#include "ir/program.hpp"
#include <unisono/error.hpp>

namespace uni::ir {

namespace {
template <class T>
Scalar scalar_from(Dtype dtype, T value) {
  switch (dtype) {
    case Dtype::b8:
      return Scalar::of(dtype, static_cast<std::uint8_t>(value != T{}));
    case Dtype::i8:
      return Scalar::of(dtype, static_cast<std::int8_t>(static_cast<i64>(value)));
    case Dtype::i16:
      return Scalar::of(dtype, static_cast<std::int16_t>(static_cast<i64>(value)));
    case Dtype::i32:
      return Scalar::of(dtype, static_cast<std::int32_t>(static_cast<i64>(value)));
    case Dtype::i64:
      return Scalar::of(dtype, static_cast<i64>(value));
    case Dtype::u8:
      return Scalar::of(dtype, static_cast<std::uint8_t>(static_cast<i64>(value)));
    case Dtype::u16:
      return Scalar::of(dtype, static_cast<std::uint16_t>(static_cast<i64>(value)));
    case Dtype::u32:
      return Scalar::of(dtype, static_cast<std::uint32_t>(static_cast<i64>(value)));
    case Dtype::u64:
    case Dtype::key:
      return Scalar::of(dtype, static_cast<std::uint64_t>(static_cast<i64>(value)));
    case Dtype::f16:
      return Scalar::of(dtype, f16(static_cast<float>(value)));
    case Dtype::bf16:
      return Scalar::of(dtype, bf16(static_cast<float>(value)));
    case Dtype::f32:
      return Scalar::of(dtype, static_cast<float>(value));
    case Dtype::f64:
      return Scalar::of(dtype, static_cast<double>(value));
    case Dtype::c64:
      return Scalar::of(dtype, Complex<float>{static_cast<float>(value), 0});
    case Dtype::c128:
      return Scalar::of(dtype, Complex<double>{static_cast<double>(value), 0});
  }
  throw InternalError("scalar of an unknown dtype");
}
template <class T>
T low_bits(const Scalar& s) {
  T value;
  std::memcpy(static_cast<void*>(&value), &s.low, sizeof(T));
  return value;
}
}  // namespace

Scalar Scalar::of_double(Dtype dtype, double value) { return scalar_from(dtype, value); }
Scalar Scalar::of_int(Dtype dtype, i64 value) { return scalar_from(dtype, value); }

double Scalar::to_double() const {
  switch (dtype) {
    case Dtype::f16:
      return static_cast<float>(low_bits<f16>(*this));
    case Dtype::bf16:
      return static_cast<float>(low_bits<bf16>(*this));
    case Dtype::f32:
    case Dtype::c64:
      return low_bits<float>(*this);
    case Dtype::f64:
    case Dtype::c128:
      return low_bits<double>(*this);
    case Dtype::u64:
      return static_cast<double>(low);
    default:
      return static_cast<double>(to_int());
  }
}

i64 Scalar::to_int() const {
  switch (dtype) {
    case Dtype::i8:
      return low_bits<std::int8_t>(*this);
    case Dtype::i16:
      return low_bits<std::int16_t>(*this);
    case Dtype::i32:
      return low_bits<std::int32_t>(*this);
    default:
      return std::bit_cast<i64>(low);
  }
}

void write(std::string& out, i64 v) { base::append(out, static_cast<long long>(v)); }
void write(std::string& out, int v) { base::append(out, static_cast<long long>(v)); }
void write(std::string& out, bool v) { out += v ? "true" : "false"; }
void write(std::string& out, double v) { base::append(out, v); }
void write(std::string& out, const std::string& v) { base::append_quoted(out, v); }
void write(std::string& out, Dtype v) { out += name(v); }
void write(std::string& out, const Dims& v) { write(out, std::vector<i64>(v.begin(), v.end())); }
void write(std::string& out, const Type& v) { append(out, v); }

// Values that print exactly are readable; all others are given by their bits.
void write(std::string& out, const Scalar& v) {
  out += name(v.dtype);
  out += ':';
  const bool plain = v.dtype != Dtype::key && !is_complex(v.dtype);
  if (plain && is_float(v.dtype) && Scalar::of_double(v.dtype, v.to_double()) == v && v.to_double() == v.to_double())
    return base::append(out, v.to_double());
  if (plain && !is_float(v.dtype) && v.dtype != Dtype::u64) return write(out, v.to_int());
  out += '#';
  base::append(out, static_cast<unsigned long long>(v.low));
  out += '#';
  base::append(out, static_cast<unsigned long long>(v.high));
}
void write(std::string& out, const Mesh& v) {
  out += "mesh([";
  for (std::size_t i = 0; i < v.axes().size(); ++i) {
    if (i) out += ',';
    write(out, std::pair(v.axes()[i].name, v.axes()[i].size));
  }
  out += "],";
  write(out, v.devices());
  out += ')';
}
void write(std::string& out, const P& v) {
  out += "P[";
  for (std::size_t i = 0; i < v.dims().size(); ++i) {
    if (i) out += ',';
    write(out, v.dims()[i].names());
  }
  out += ']';
}
void write(std::string& out, const ProgramPtr& v) {
  if (v)
    out += print(*v);
  else
    out += "none";
}

bool reader_accept(Reader& in, std::string_view token) { return in.accept(token); }
void reader_expect(Reader& in, std::string_view token) { in.expect(token); }

template <class T>
static void read_number(Reader& in, T& v) {
  const std::string_view text = in.number();
  const auto result = std::from_chars(text.data(), text.data() + text.size(), v);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size())
    in.fail(base::cat("\"", text, "\" is no ", std::is_integral_v<T> ? "integer" : "number", " of ", 8 * sizeof(T),
                      " bits"));
}
void read(Reader& in, i64& v) { read_number(in, v); }
void read(Reader& in, int& v) { read_number(in, v); }
void read(Reader& in, double& v) { read_number(in, v); }
void read(Reader& in, bool& v) {
  v = in.accept("true");
  if (!v) in.expect("false");
}
void read(Reader& in, std::string& v) { v = in.quoted(); }
void read(Reader& in, Dtype& v) {
  const std::string_view text = in.word();
  try {
    v = dtype_of(text);
  } catch (const DtypeError& e) {
    in.fail(e.what());
  }
}
void read(Reader& in, Dims& v) {
  std::vector<i64> sizes;
  read(in, sizes);
  v = Dims(std::move(sizes));
}
void read(Reader& in, Type& v) {
  v = {};
  read(in, v.dtype);
  read(in, v.shape);
  i64 count = 1;
  for (const i64 size : v.shape) {
    if (size < 0) in.fail(base::cat("a shape has no size ", size));
    if (__builtin_mul_overflow(count, size, &count)) in.fail("the shape has too many elements");
  }
  if (in.accept("{V:")) {
    do {
      const std::string_view word = in.word();
      std::string axis = word.empty() ? in.quoted() : std::string(word);
      if (!v.varying.empty() && axis <= v.varying.back()) in.fail("axis names are not sorted");
      v.varying.push_back(std::move(axis));
    } while (in.accept(","));
    in.expect("}");
  }
  v.weak = in.accept("*");
}
void read(Reader& in, Scalar& v) {
  v = {};
  read(in, v.dtype);
  in.expect(":");
  if (in.accept("#")) {
    read_number(in, v.low);
    in.expect("#");
    read_number(in, v.high);
    const int size = itemsize(v.dtype);
    const bool fits = size > 8 || (v.high == 0 && (size == 8 || v.low >> (8 * size) == 0));
    if (!fits || (is_bool(v.dtype) && v.low > 1))
      in.fail(base::cat("the bits ", v.low, ", ", v.high, " do not fit ", v.dtype));
  } else if (is_float(v.dtype)) {
    double d = 0;
    read(in, d);
    v = Scalar::of_double(v.dtype, d);
  } else {
    i64 i = 0;
    read(in, i);
    v = Scalar::of_int(v.dtype, i);
    if (v.to_int() != i) in.fail(base::cat(i, " does not fit ", v.dtype));
  }
}
void read(Reader& in, Mesh& v) {
  std::vector<std::pair<std::string, i64>> axes;
  std::vector<int> devices;
  in.expect("mesh(");
  read(in, axes);
  in.expect(",");
  read(in, devices);
  in.expect(")");
  std::vector<MeshAxis> list;
  i64 count = 1;
  for (auto& [n, s] : axes) {
    if (s < 1 || __builtin_mul_overflow(count, s, &count)) in.fail(base::cat("a mesh axis of size ", s));
    list.push_back({n, s});
  }
  if (count != static_cast<i64>(devices.size()))
    in.fail(base::cat("a mesh of ", count, " places and ", devices.size(), " devices"));
  v = Mesh(std::move(list), std::move(devices));
}
void read(Reader& in, P& v) {
  in.expect("P");
  std::vector<std::vector<std::string>> dims;
  read(in, dims);
  std::vector<SpecDim> list;
  for (auto& d : dims) list.emplace_back(std::move(d));
  v = P(std::move(list));
}
void read(Reader& in, ProgramPtr& v) {
  v.reset();
  if (in.accept("none")) return;
  v = std::make_shared<const Program>(read_program(in));
}

}  // namespace uni::ir
