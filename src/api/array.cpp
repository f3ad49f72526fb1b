#include <unisono/array.hpp>

#include <cstring>
#include <utility>

#include "api/fail.hpp"
#include "api/host_values.hpp"
#include "api/promote.hpp"
#include "ops/structural.hpp"
#include <unisono/elementwise.hpp>

namespace uni {

Array::Array(detail::Node* node) noexcept : node_(node) {
  if (node_) node_->retain();
}
Array::Array(const Array& other) noexcept : node_(other.node_) {
  if (node_) node_->retain();
}
Array& Array::operator=(const Array& other) & noexcept {
  if (other.node_) other.node_->retain();
  if (node_) node_->release();
  node_ = other.node_;
  return *this;
}
Array& Array::operator=(Array&& other) & noexcept {
  std::swap(node_, other.node_);
  return *this;
}
Array::~Array() {
  if (node_) node_->release();
}

namespace {
Array scalar_array(detail::HostScalar scalar) {
  const bool strong = scalar.kind == detail::HostScalar::Kind::boolean;
  const Dtype dtype = strong ? Dtype::b8 : scalar.kind == detail::HostScalar::Kind::real ? Dtype::f32 : Dtype::i32;
  const ir::Scalar value = api::constant("Array", scalar, dtype);
  if (api::staging()) return lax::full_scalar(value, {}, !strong);
  return api::from_host(&value.low, dtype, {}, !strong);
}
}  // namespace

Array::Array(detail::HostScalar scalar) : Array(scalar_array(scalar)) {}

const Dims& Array::shape() const { return core::type_of(*this).shape; }
int Array::rank() const { return shape().rank(); }
i64 Array::size() const { return shape().count(); }
Dtype Array::dtype() const { return core::type_of(*this).dtype; }
bool Array::weak() const { return core::type_of(*this).weak; }
i64 Array::shape(int axis) const {
  const Dims& dims = shape();
  if (axis < -dims.rank() || axis >= dims.rank())
    api::fail<ShapeError>(
        base::cat("shape: axis ", axis, " of ", ir::to_string(core::type_of(*this)), " does not exist"));
  return dims[axis];
}

Array& Array::operator+=(In other) & { return *this = add(In(*this, other.where()), other); }
Array& Array::operator-=(In other) & { return *this = subtract(In(*this, other.where()), other); }
Array& Array::operator*=(In other) & { return *this = multiply(In(*this, other.where()), other); }
Array& Array::operator/=(In other) & { return *this = divide(In(*this, other.where()), other); }

namespace {
constexpr std::string_view branch_advice = "choose by a traced value with where, or return it and read it outside";

void refuse_key(std::string_view who, Dtype dtype) {
  if (dtype == Dtype::key)
    api::fail<DtypeError>(base::cat(who, ": a random key has no numeric value"),
                          "draw from it with uniform, bits, ...");
}
}  // namespace

void Array::read_item(void* out, Dtype dtype, Location where) const {
  const core::At at(where);
  if (size() != 1)
    api::fail<ShapeError>(
        base::cat("item: ", ir::to_string(core::type_of(*this)), " does not hold exactly one element"),
        "index it, or use to_vector");
  refuse_key("item", this->dtype());
  const runtime::BufferPtr buffer = api::read("item", *this, branch_advice);
  api::store(dtype, static_cast<std::byte*>(out), api::load(buffer->dtype(), buffer->data()));
}

void Array::read_all(void* out, Dtype dtype, Location where) const {
  const core::At at(where);
  refuse_key("to_vector", this->dtype());
  const runtime::BufferPtr buffer = api::read("to_vector", *this, branch_advice);
  auto* to = static_cast<std::byte*>(out);
  if (buffer->dtype() == dtype) {
    if (buffer->bytes()) std::memcpy(to, buffer->data(), static_cast<std::size_t>(buffer->bytes()));
    return;
  }
  const i64 count = size();
  const int from_size = itemsize(buffer->dtype()), to_size = itemsize(dtype);
  for (i64 i = 0; i < count; ++i)
    api::store(dtype, to + i * to_size, api::load(buffer->dtype(), buffer->data() + i * from_size));
}

const void* Array::raw(Dtype dtype, Location where) const {
  const core::At at(where);
  if (this->dtype() != dtype)
    api::fail<DtypeError>(base::cat("view: the array is ", ir::to_string(core::type_of(*this)), ", not ", name(dtype)),
                          "view it as its own type, or astype first");
  const runtime::BufferPtr buffer = api::read("view", *this, branch_advice);
  if (buffer->use_count() == 1 && buffer->storage()->use_count() == 1)  // gathered just now
    api::fail<ShapeError>(base::cat("view: ", ir::to_string(core::type_of(*this)), " lies in several pieces"),
                          "use to_vector");
  return buffer->data();
}

}  // namespace uni
