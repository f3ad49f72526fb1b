// The backend interface: devices, buffers, compile, execute. Backends see per-device programs only.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_vector.hpp"
#include "ir/program.hpp"
#include <unisono/detail/handle.hpp>
#include <unisono/mesh.hpp>

namespace uni::runtime {

using detail::Handle;
using detail::Shared;

// One allocation. Buffers may share it: views of shards, aliased results.
class Storage final : public Shared {
 public:
  explicit Storage(i64 bytes);                                             // allocates, 64-byte aligned
  Storage(std::byte* data, i64 bytes, std::shared_ptr<const void> owner);  // borrows; `owner` keeps it alive
  ~Storage() override;
  std::byte* data() const { return data_; }
  i64 bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  i64 bytes_ = 0;
  bool owned_ = false;
  std::shared_ptr<const void> owner_;
};

// Elements on one device, dense and row-major. Execution is synchronous: a Buffer that exists is ready.
class Buffer final : public Shared {
 public:
  Buffer(Handle<Storage> storage, i64 offset, Dtype dtype, Dims shape, int device)
      : storage_(std::move(storage)), offset_(offset), dtype_(dtype), shape_(std::move(shape)), device_(device) {}
  std::byte* data() const { return storage_->data() + offset_; }
  i64 bytes() const { return shape_.count() * itemsize(dtype_); }
  int bits_per_element() const { return 8 * itemsize(dtype_); }
  Dtype dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  int device() const { return device_; }
  const Handle<Storage>& storage() const { return storage_; }
  i64 offset() const { return offset_; }

 private:
  Handle<Storage> storage_;
  i64 offset_;
  Dtype dtype_;
  Dims shape_;
  int device_;
};
using BufferPtr = Handle<Buffer>;
// One buffer per device of the mesh, in mesh order; entries of a replicated value may be the same buffer.
using Shards = base::ShortVector<BufferPtr>;

// What is compiled: one program that every device of the mesh runs, with local shapes and collectives by axis name.
struct LocalProgram {
  ir::ProgramPtr program;
  Mesh mesh;               // one device and no axes for single-device programs
  std::vector<P> in, out;  // how global inputs and outputs lie on the mesh
};

// Counts of what an executable did, for tests and reports.
struct LaunchStats {
  i64 launches = 0;
  i64 collectives = 0;
  i64 collective_bytes = 0;  // payload per device, summed
};

class Executable : public Shared {
 public:
  // Runs on all devices. donate[i] allows input i's buffers to be reused (only buffers with no other holder are).
  virtual std::vector<Shards> execute(std::vector<Shards> args, std::span<const std::uint8_t> donate) = 0;
  virtual LaunchStats stats() const = 0;
};

class Client {
 public:
  virtual ~Client() = default;
  virtual std::string_view platform() const = 0;
  virtual BufferPtr allocate(Dtype dtype, const Dims& shape, int device) = 0;
  virtual Handle<Executable> compile(const LocalProgram& program) = 0;
};

// The backends of this build. Each lives until process exit on purpose.
Client& native_client();
Client& reference_client();
// native, or what UNISONO_BACKEND names, or what was set last.
Client& default_client();
void set_default_client(Client& client);

}  // namespace uni::runtime
