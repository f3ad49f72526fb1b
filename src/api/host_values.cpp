#include "api/host_values.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "api/fail.hpp"
#include "interp/stage.hpp"

namespace uni::api {

namespace {
template <class T>
T element(const std::byte* from) {
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof(T));
  return value;
}
template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
T saturated(double value) {
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  // The double above the largest integer is the first that does not fit.
  if (value >= static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}
template <class T>
T integer_from(detail::HostScalar v) {
  return v.kind == detail::HostScalar::Kind::real ? saturated<T>(v.d) : static_cast<T>(v.u);
}
template <class T>
T float_from(detail::HostScalar v) {
  if (v.kind == detail::HostScalar::Kind::real) return static_cast<T>(v.d);
  return v.kind == detail::HostScalar::Kind::natural ? static_cast<T>(v.u) : static_cast<T>(v.i);
}
bool nonzero(detail::HostScalar v) { return v.kind == detail::HostScalar::Kind::real ? v.d != 0 : v.u != 0; }
}  // namespace

detail::HostScalar load(Dtype dtype, const std::byte* from) {
  using detail::HostScalar;
  switch (dtype) {
    case Dtype::b8:
      return HostScalar::of(element<std::uint8_t>(from) != 0);
    case Dtype::i8:
      return HostScalar::of(element<std::int8_t>(from));
    case Dtype::i16:
      return HostScalar::of(element<std::int16_t>(from));
    case Dtype::i32:
      return HostScalar::of(element<std::int32_t>(from));
    case Dtype::i64:
      return HostScalar::of(element<std::int64_t>(from));
    case Dtype::u8:
      return HostScalar::of(element<std::uint8_t>(from));
    case Dtype::u16:
      return HostScalar::of(element<std::uint16_t>(from));
    case Dtype::u32:
      return HostScalar::of(element<std::uint32_t>(from));
    case Dtype::u64:
    case Dtype::key:
      return HostScalar::of(element<std::uint64_t>(from));
    case Dtype::f16:
      return HostScalar::of(static_cast<float>(element<f16>(from)));
    case Dtype::bf16:
      return HostScalar::of(static_cast<float>(element<bf16>(from)));
    case Dtype::f32:
    case Dtype::c64:
      return HostScalar::of(element<float>(from));
    case Dtype::f64:
    case Dtype::c128:
      return HostScalar::of(element<double>(from));
  }
  throw InternalError("load of an unknown dtype");
}

double load_imaginary(Dtype dtype, const std::byte* from) {
  if (dtype == Dtype::c64) return element<float>(from + 4);
  return dtype == Dtype::c128 ? element<double>(from + 8) : 0;
}

void store(Dtype dtype, std::byte* to, detail::HostScalar v) {
  switch (dtype) {
    case Dtype::b8:
      return put(to, static_cast<std::uint8_t>(nonzero(v)));
    case Dtype::i8:
      return put(to, integer_from<std::int8_t>(v));
    case Dtype::i16:
      return put(to, integer_from<std::int16_t>(v));
    case Dtype::i32:
      return put(to, integer_from<std::int32_t>(v));
    case Dtype::i64:
      return put(to, integer_from<std::int64_t>(v));
    case Dtype::u8:
      return put(to, integer_from<std::uint8_t>(v));
    case Dtype::u16:
      return put(to, integer_from<std::uint16_t>(v));
    case Dtype::u32:
      return put(to, integer_from<std::uint32_t>(v));
    case Dtype::u64:
    case Dtype::key:
      return put(to, integer_from<std::uint64_t>(v));
    case Dtype::f16:
      return put(to, f16(float_from<float>(v)));
    case Dtype::bf16:
      return put(to, bf16(float_from<float>(v)));
    case Dtype::f32:
      return put(to, float_from<float>(v));
    case Dtype::f64:
      return put(to, float_from<double>(v));
    case Dtype::c64:
      return put(to, Complex<float>{float_from<float>(v), 0});
    case Dtype::c128:
      return put(to, Complex<double>{float_from<double>(v), 0});
  }
}

bool readable(const Array& a) { return core::concrete(core::known_value(a)) != nullptr; }

runtime::BufferPtr read(std::string_view who, const Array& a, std::string_view instead) {
  const ir::Type& type = core::type_of(a);
  const Array value = core::known_value(a);
  if (core::concrete(value)) return core::whole_buffer(value);
  core::check_alive(who, value);
  const auto& tracer = static_cast<const detail::Tracer&>(*value.node());
  const std::string made = base::at(tracer.made);
  throw TraceError(base::cat(who, ": ", ir::to_string(type), " has no value inside `", tracer.life->name, "`",
                             base::at(core::current_location()), made.empty() ? "" : "\n    made" + made.substr(4),
                             "\nfix: ", instead));
}

bool staging() {
  for (core::Trace* t = &core::current_trace(); t; t = t->parent())
    if (dynamic_cast<interp::StageTrace*>(t)) return true;
  return false;
}

Array from_host(const void* data, Dtype dtype, const Dims& shape, bool weak) {
  runtime::BufferPtr buffer = runtime::default_client().allocate(dtype, shape, 0);
  std::byte* to = buffer->data();
  const auto bytes = static_cast<std::size_t>(buffer->bytes());
  if (bytes) std::memcpy(to, data, bytes);
  if (is_bool(dtype))
    for (std::size_t i = 0; i < bytes; ++i) to[i] = std::byte{to[i] != std::byte{0}};
  return core::make_single({.dtype = dtype, .shape = shape, .weak = weak, .varying = {}}, std::move(buffer));
}

}  // namespace uni::api
