#include "build.hpp"

#include <algorithm>

namespace uni::backend_test {

ir::Scalar HostArray::element(i64 i) const {
  ir::Scalar out{dtype};
  const auto size = static_cast<std::size_t>(itemsize(dtype));
  const std::byte* from = bytes.data() + static_cast<std::size_t>(i) * size;
  std::memcpy(&out.low, from, std::min<std::size_t>(size, 8));
  if (size > 8) std::memcpy(&out.high, from + 8, size - 8);
  return out;
}

HostArray host_of(Dtype dtype, const Dims& shape, const std::vector<ir::Scalar>& elements) {
  const auto size = static_cast<std::size_t>(itemsize(dtype));
  HostArray out{dtype, shape, std::vector<std::byte>(elements.size() * size)};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(out.bytes.data() + i * size, &elements[i].low, std::min<std::size_t>(size, 8));
    if (size > 8) std::memcpy(out.bytes.data() + i * size + 8, &elements[i].high, size - 8);
  }
  return out;
}
HostArray host(Dtype dtype, const Dims& shape, const std::vector<double>& values) {
  std::vector<ir::Scalar> elements;
  for (double v : values)
    elements.push_back(is_inexact(dtype) ? ir::Scalar::of_double(dtype, v)
                                         : ir::Scalar::of_int(dtype, static_cast<i64>(v)));
  return host_of(dtype, shape, elements);
}
HostArray ramp(Dtype dtype, const Dims& shape, double scale) {
  std::vector<double> values;
  for (i64 i = 0; i < shape.count(); ++i) values.push_back(scale * static_cast<double>(i));
  return host(dtype, shape, values);
}
std::vector<double> values(const HostArray& a) {
  std::vector<double> out;
  for (i64 i = 0; i < a.shape.count(); ++i) {
    const ir::Scalar s = a.element(i);
    out.push_back(is_inexact(a.dtype) ? s.to_double() : static_cast<double>(s.to_int()));
  }
  return out;
}

ir::Program one_op(const ir::Op& op, const ir::Types& in, const ir::Params& params) {
  ir::Program p;
  ir::Eqn e{&op, {}, {}, params, {}};
  for (const ir::Type& t : in) e.in.push_back(p.add(t));
  p.inputs = static_cast<int>(in.size());
  for (const ir::Type& t : ir::infer(op, in, params)) e.out.push_back(p.add(t));
  p.outputs = e.out;
  p.eqns.push_back(std::move(e));
  return p;
}

Mesh mesh_of(const std::vector<MeshAxis>& axes) {
  int count = 1;
  for (const MeshAxis& a : axes) count *= static_cast<int>(a.size);
  std::vector<int> devices;
  for (int d = 0; d < count; ++d) devices.push_back(d);
  return Mesh(axes, devices);
}
runtime::Handle<runtime::Executable> compile(runtime::Client& client, const Mesh& mesh, const ir::Program& program) {
  std::vector<std::string> names;
  for (const MeshAxis& a : mesh.axes()) names.push_back(a.name);
  const P spec{SpecDim(names)};  // every device has a block of its own
  return client.compile({std::make_shared<const ir::Program>(program), mesh,
                         std::vector<P>(static_cast<std::size_t>(program.inputs), spec),
                         std::vector<P>(program.outputs.size(), spec)});
}
runtime::BufferPtr to_buffer(runtime::Client& client, const HostArray& a, int device) {
  runtime::BufferPtr buffer = client.allocate(a.dtype, a.shape, device);
  std::copy(a.bytes.begin(), a.bytes.end(), buffer->data());
  return buffer;
}
HostArray to_host(const runtime::BufferPtr& buffer) {
  return {buffer->dtype(), buffer->shape(), {buffer->data(), buffer->data() + buffer->bytes()}};
}

std::vector<HostArrays> run_on(runtime::Client& client, const Mesh& mesh, const ir::Program& program,
                               const std::vector<HostArrays>& inputs) {
  std::vector<runtime::Shards> args;
  for (const HostArrays& input : inputs) {
    args.emplace_back();
    for (std::size_t d = 0; d < input.size(); ++d)
      args.back().push_back(to_buffer(client, input[d], mesh.devices()[d]));
  }
  std::vector<HostArrays> out;
  for (const runtime::Shards& shards : compile(client, mesh, program)->execute(std::move(args), {})) {
    out.emplace_back();
    for (const runtime::BufferPtr& b : shards) out.back().push_back(to_host(b));
  }
  return out;
}
HostArrays run_op_on(runtime::Client& client, const Mesh& mesh, const ir::Op& op, const HostArrays& by_device,
                     const ir::Params& params) {
  if (by_device.empty()) return run_on(client, mesh, one_op(op, {}, params), {})[0];
  return run_on(client, mesh, one_op(op, {by_device[0].type()}, params), {by_device})[0];
}
HostArrays run(runtime::Client& client, const ir::Program& program, const HostArrays& inputs) {
  std::vector<HostArrays> args;
  for (const HostArray& a : inputs) args.push_back({a});
  HostArrays out;
  for (HostArrays& result : run_on(client, mesh_of({}), program, args)) out.push_back(std::move(result[0]));
  return out;
}
HostArray run_op(runtime::Client& client, const ir::Op& op, const HostArrays& inputs, const ir::Params& params) {
  ir::Types in;
  for (const HostArray& a : inputs) in.push_back(a.type());
  return run(client, one_op(op, in, params), inputs)[0];
}

}  // namespace uni::backend_test
