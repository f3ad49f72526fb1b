// Programs of one operation, run on a client directly: no tracing, no simplifier, no partitioner in between.
#pragma once
#include <cstddef>
#include <cstring>

#include "ir/program.hpp"
#include "runtime/client.hpp"

namespace uni::backend_test {

// An array in host memory.
struct HostArray {
  Dtype dtype = Dtype::f32;
  Dims shape;
  std::vector<std::byte> bytes;

  ir::Type type() const { return {dtype, shape, false, {}}; }
  template <class T>
  T at(i64 i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * static_cast<i64>(sizeof(T)), sizeof(T));
    return value;
  }
  ir::Scalar element(i64 i) const;
  bool operator==(const HostArray&) const = default;  // by bits
};
using HostArrays = std::vector<HostArray>;

// The elements nearest to the values; integers are exact up to 2^53.
HostArray host(Dtype dtype, const Dims& shape, const std::vector<double>& values);
inline HostArray vec(Dtype dtype, const std::vector<double>& values) {
  return host(dtype, Dims{static_cast<i64>(values.size())}, values);
}
HostArray host_of(Dtype dtype, const Dims& shape, const std::vector<ir::Scalar>& elements);
// The elements as they are in memory.
template <class T>
HostArray raw(Dtype dtype, const Dims& shape, const std::vector<T>& elements) {
  HostArray out{dtype, shape, std::vector<std::byte>(elements.size() * sizeof(T))};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T element = elements[i];
    std::memcpy(out.bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return out;
}
// 0, 1, 2, ... (times scale)
HostArray ramp(Dtype dtype, const Dims& shape, double scale = 1);
std::vector<double> values(const HostArray& a);  // real parts

// The program that applies the operation to its inputs, with the types that the operation's rule gives.
ir::Program one_op(const ir::Op& op, const ir::Types& in, const ir::Params& params = {});

// Results by output, on one device.
HostArrays run(runtime::Client& client, const ir::Program& program, const HostArrays& inputs);
HostArray run_op(runtime::Client& client, const ir::Op& op, const HostArrays& inputs, const ir::Params& params = {});
// On a mesh: arguments by input and device, results by output and device.
std::vector<HostArrays> run_on(runtime::Client& client, const Mesh& mesh, const ir::Program& program,
                               const std::vector<HostArrays>& inputs);
HostArrays run_op_on(runtime::Client& client, const Mesh& mesh, const ir::Op& op, const HostArrays& by_device,
                     const ir::Params& params);

Mesh mesh_of(const std::vector<MeshAxis>& axes);  // of devices 0, 1, ...
runtime::Handle<runtime::Executable> compile(runtime::Client& client, const Mesh& mesh, const ir::Program& program);
runtime::BufferPtr to_buffer(runtime::Client& client, const HostArray& a, int device);
HostArray to_host(const runtime::BufferPtr& buffer);

}  // namespace uni::backend_test
