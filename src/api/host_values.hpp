// Single elements of any dtype on the host, and reading an array's values.
#pragma once
#include <cstddef>
#include <string_view>

#include "runtime/client.hpp"
#include <unisono/array.hpp>

namespace uni::api {

// The element of `dtype` at `from`; of complex numbers the real part.
detail::HostScalar load(Dtype dtype, const std::byte* from);
// The imaginary part of a complex element, 0 of any other.
double load_imaginary(Dtype dtype, const std::byte* from);
// Writes a value with the rules of astype: floats are cut towards zero and saturate, integers wrap.
void store(Dtype dtype, std::byte* to, detail::HostScalar value);

// The whole array in host memory. Throws TraceError when it is traced, saying where and what helps; `who` is the
// reading function and `instead` its cure.
runtime::BufferPtr read(std::string_view who, const Array& a, std::string_view instead);
// Whether the values can be read now.
bool readable(const Array& a);
// Whether operations are recorded now rather than computed. A host value then becomes a constant of the program: an
// array would be captured, and the function traced at every call.
bool staging();
// A new array on device 0 with these bytes.
Array from_host(const void* data, Dtype dtype, const Dims& shape, bool weak = false);

}  // namespace uni::api
