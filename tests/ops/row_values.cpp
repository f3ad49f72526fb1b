#include "row_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "storage.hpp"

namespace uni::contract {

namespace {
template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void save(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

double unit(std::uint64_t x) { return static_cast<double>(mix(x) >> 11) * 0x1p-53; }

Value drawn(const OperandSpec& s, std::uint64_t at) {
  if (s.dtype == Dtype::key) return static_cast<long double>(mix(at));
  if (is_bool(s.dtype)) return static_cast<long double>(mix(at) & 1);
  const double low = is_unsigned(s.dtype) ? std::max(0.0, s.low) : s.low;
  const double re = low + (s.high - low) * unit(at), im = low + (s.high - low) * unit(at ^ 0x5555);
  if (is_integer(s.dtype)) return std::floor(re);
  return is_complex(s.dtype) ? Value(re, im) : Value(re);
}

// Calls f(flat index, coordinates) in row-major order.
template <class F>
void for_each_index(const Dims& shape, F f) {
  std::vector<i64> at(static_cast<std::size_t>(shape.rank()), 0);
  for (i64 flat = 0; flat < shape.count(); ++flat) {
    f(flat, at);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[static_cast<int>(d)]) break;
      at[d] = 0;
    }
  }
}
}  // namespace

Values read(const Array& a) {
  const core::Type& type = core::type_of(a);
  const runtime::BufferPtr buffer = core::whole_buffer(a);
  Values out;
  out.reserve(static_cast<std::size_t>(type.count()));
  with_storage(type.dtype, [&](auto element) {
    using T = decltype(element);
    for (i64 i = 0; i < type.count(); ++i) {
      const std::byte* from = buffer->data() + i * itemsize(type.dtype);
      const auto part = [&](std::size_t k) { return static_cast<long double>(load<T>(from + k * sizeof(T))); };
      out.push_back(is_complex(type.dtype) ? Value(part(0), part(1)) : Value(part(0)));
    }
  });
  return out;
}

Array make(Dtype dtype, const Dims& shape, const Values& values) {
  runtime::BufferPtr buffer = runtime::default_client().allocate(dtype, shape, 0);
  with_storage(dtype, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::byte* to = buffer->data() + static_cast<i64>(i) * itemsize(dtype);
      const auto put = [&](long double part, std::size_t k) {
        if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
          save(to + k * sizeof(T), T(static_cast<float>(part)));
        else
          save(to + k * sizeof(T), static_cast<T>(part));
      };
      put(values[i].real(), 0);
      if (is_complex(dtype)) put(values[i].imag(), 1);
    }
  });
  return core::make_single({dtype, shape, false, {}}, std::move(buffer));
}

Array draw(const OperandSpec& spec, std::uint64_t seed, int lane) {
  Values values;
  const std::uint64_t start = mix(mix(seed) + static_cast<std::uint64_t>(lane));
  for (i64 i = 0; i < spec.shape.count(); ++i) {
    if (spec.values.empty())
      values.push_back(drawn(spec, start + static_cast<std::uint64_t>(i)));
    else
      values.push_back(spec.values[static_cast<std::size_t>(i + lane) % spec.values.size()]);
    if (spec.diagonal != 0) {
      const i64 columns = spec.shape[-1], rows = spec.shape[-2];
      if (i / columns % rows == i % columns) values.back() += static_cast<long double>(spec.diagonal);
    }
  }
  return make(spec.dtype, spec.shape, values);
}

Array draw_direction(const core::Type& type, std::uint64_t seed) {
  Values values;
  for (i64 i = 0; i < type.count(); ++i) {
    const std::uint64_t at = mix(seed) + static_cast<std::uint64_t>(i);
    const auto part = [](std::uint64_t x) { return (0.5 + unit(x)) * (mix(x ^ 0xaaaa) & 1 ? 1 : -1); };
    values.push_back(is_complex(type.dtype) ? Value(part(at), part(at ^ 0x5555)) : Value(part(at)));
  }
  return make(type.dtype, type.shape, values);
}

Array stack(const std::vector<Array>& lanes, const core::Type& lane_type) {
  Values values;
  for (const Array& lane : lanes) {
    const Values v = read(lane);
    values.insert(values.end(), v.begin(), v.end());
  }
  Dims shape = lane_type.shape;
  shape.insert(0, static_cast<i64>(lanes.size()));
  return make(lane_type.dtype, shape, values);
}

Array block(const Array& a, const std::vector<i64>& start, const Dims& size, Value fill) {
  const core::Type& type = core::type_of(a);
  const Values from = read(a);
  Values values;
  for_each_index(size, [&](i64, const std::vector<i64>& at) {
    i64 flat = 0;
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const i64 n = type.shape[static_cast<int>(d)];
      inside = inside && start[d] + at[d] < n;
      flat = flat * n + start[d] + at[d];
    }
    values.push_back(inside ? from[static_cast<std::size_t>(flat)] : fill);
  });
  return make(type.dtype, size, values);
}

Array axpy(const Array& a, const Array& b, long double scale) {
  Values x = read(a);
  const Values y = read(b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += scale * y[i];
  return make(core::type_of(a).dtype, core::type_of(a).shape, x);
}

long double dot(const Array& a, const Array& b) {
  const Values x = read(a), y = read(b);
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] * y[i]).real();
  return sum;
}

long double tolerance(Dtype dtype) {
  switch (real_part(dtype)) {
    case Dtype::f64:
      return 1e-10L;
    case Dtype::f32:
      return 1e-5L;
    case Dtype::f16:
      return 5e-3L;
    case Dtype::bf16:
      return 4e-2L;
    default:
      return 0;
  }
}

namespace {
bool near(long double got, long double want, long double allowed) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) == std::isnan(want);
  return got == want || std::fabs(got - want) <= allowed;
}
std::string text(const Value& v) {
  return v.imag() == 0 ? base::cat(static_cast<double>(v.real()))
                       : base::cat(static_cast<double>(v.real()), "+", static_cast<double>(v.imag()), "i");
}
}  // namespace

std::optional<std::string> difference(const Values& got, const Values& want, long double tol) {
  if (got.size() != want.size()) return base::cat(got.size(), " elements instead of ", want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double size = std::isfinite(std::abs(want[i])) ? std::abs(want[i]) : 0;
    const long double allowed = tol * (1 + size);
    if (near(got[i].real(), want[i].real(), allowed) && near(got[i].imag(), want[i].imag(), allowed)) continue;
    return base::cat("element ", i, " is ", text(got[i]), " instead of ", text(want[i]));
  }
  return {};
}

std::optional<std::string> difference(const Array& got, const Array& want, long double tol) {
  const core::Type &g = core::type_of(got), &w = core::type_of(want);
  if (g.dtype != w.dtype || !(g.shape == w.shape))
    return base::cat("type is ", ir::to_string(g), " instead of ", ir::to_string(w));
  return difference(read(got), read(want), tol);
}

}  // namespace uni::contract
