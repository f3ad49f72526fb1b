#include <cstring>
#include <utility>

#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/named_axes.hpp"
#include "api/promote.hpp"
#include "ops/structural.hpp"
#include <unisono/array.hpp>

namespace uni {

namespace {
using detail::HostScalar;

// The shape along first elements; `gather` finds lists that do not agree with it.
void first_shape(const Literal& literal, Dims& shape) {
  if (literal.leaf()) return;
  shape.push_back(static_cast<i64>(literal.items().size()));
  if (!literal.items().empty()) first_shape(literal.items().front(), shape);
}

std::string position(const std::vector<std::size_t>& path) {
  std::string out;
  for (std::size_t i : path) out += base::cat("[", i, "]");
  return out;
}

void gather(const Literal& literal, const Dims& shape, std::vector<std::size_t>& path, std::vector<HostScalar>& out) {
  const auto depth = static_cast<int>(path.size());
  const bool leaf = depth == shape.rank();
  if (literal.leaf() && leaf) return out.push_back(literal.scalar());
  if (literal.leaf() != leaf)
    api::fail<ShapeError>(base::cat("array: the list is ragged: entry ", position(path), " is a ",
                                    literal.leaf() ? "number" : "list", " where others are ",
                                    literal.leaf() ? "lists" : "numbers"));
  if (static_cast<i64>(literal.items().size()) != shape[depth])
    api::fail<ShapeError>(base::cat("array: the list is ragged: entry ", position(path), " has ",
                                    literal.items().size(), " elements where the first has ", shape[depth]));
  for (std::size_t i = 0; i < literal.items().size(); ++i) {
    path.push_back(i);
    gather(literal.items()[i], shape, path, out);
    path.pop_back();
  }
}

Dtype common_dtype(const std::vector<HostScalar>& values) {
  if (values.empty()) return Dtype::f32;
  Dtype dtype = Dtype::b8;
  for (const HostScalar& v : values) {
    if (v.kind == HostScalar::Kind::real) return Dtype::f32;
    if (v.kind != HostScalar::Kind::boolean) dtype = Dtype::i32;
  }
  return dtype;
}
}  // namespace

namespace {
constexpr std::size_t max_constants = 256;  // more values are captured as an array

// The values as constants of the program that is recorded: one for each run of equal values.
Array constants(const std::vector<ir::Scalar>& values, const Dims& shape) {
  Arrays runs;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    runs.push_back(lax::full_scalar(values[i], {static_cast<i64>(end - i)}));
    i = end;
  }
  return lax::reshape(runs.size() == 1 ? runs[0] : lax::concatenate(runs, 0), shape);
}

Array from_scalars(const std::vector<ir::Scalar>& values, Dtype dtype, const Dims& shape) {
  const auto item = static_cast<std::size_t>(itemsize(dtype));
  std::vector<std::byte> bytes(values.size() * item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(&bytes[i * item], &values[i].low, item < 8 ? item : 8);
    if (item > 8) std::memcpy(&bytes[i * item + 8], &values[i].high, item - 8);
  }
  return api::from_host(bytes.data(), dtype, shape);
}
}  // namespace

Array array(std::initializer_list<Literal> values, const ArrayOptions& options, Location where) {
  const core::At at(where);
  Dims shape{static_cast<i64>(values.size())};
  if (values.size()) first_shape(*values.begin(), shape);
  std::vector<HostScalar> flat;
  std::vector<std::size_t> path;
  for (std::size_t i = 0; i < values.size(); ++i) {
    path.push_back(i);
    gather(values.begin()[i], shape, path, flat);
    path.pop_back();
  }
  const Dtype dtype = options.dtype.value_or(common_dtype(flat));
  std::vector<ir::Scalar> scalars;
  for (const HostScalar& v : flat) scalars.push_back(api::constant("array", v, dtype));
  const bool recorded = !scalars.empty() && scalars.size() <= max_constants && api::staging();
  return recorded ? constants(scalars, shape) : from_scalars(scalars, dtype, shape);
}

Array from_bytes(const void* data, Dtype dtype, const Dims& shape, Location where) {
  const core::At at(where);
  api::check_shape("from_bytes", shape);
  return api::from_host(data, dtype, shape);
}

void detail::check_count(std::size_t count, const Dims& shape, Location where) {
  const core::At at(where);
  api::check_shape("array", shape);
  if (static_cast<i64>(count) != shape.count())
    api::fail<ShapeError>(
        base::cat("array: ", count, " values do not fill the shape ", shape, ", which takes ", shape.count()));
}

}  // namespace uni
