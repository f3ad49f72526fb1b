// Collectives over values that lie device by device in one block.
#pragma once
#include "backend/native/kernel.hpp"
#include <unisono/mesh.hpp>

namespace uni::native {

struct CollectiveArgs {
  const ir::Eqn& eqn;
  const Mesh& mesh;
  const ir::Type& in_type;
  const ir::Type& out_type;
  const std::byte* in = nullptr;  // of device 0
  i64 in_stride = 0;              // bytes to the next device; 0 when all devices share one value
  std::byte* out = nullptr;
  i64 out_stride = 0;  // 0: the result is the same everywhere and written once
};
void run_collective(const CollectiveArgs& args);

}  // namespace uni::native
