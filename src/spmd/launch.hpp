// Compiled programs and their launch on arrays.
#pragma once
#include "core/node.hpp"
#include "spmd/localize.hpp"

namespace uni::spmd {

class Launchable final : public detail::Shared {
 public:
  Launchable(runtime::LocalProgram local, ir::Types out, runtime::Handle<runtime::Executable> executable)
      : local_(std::move(local)), out_(std::move(out)), executable_(std::move(executable)) {}

  // Runs on concrete arrays. donate[i]: take the argument's buffers if nobody else holds the array; `where` is told in
  // the error of a later use.
  Arrays run(Arrays args, std::span<const std::uint8_t> donate, const std::string& where) const;
  const runtime::LocalProgram& local() const { return local_; }
  runtime::LaunchStats stats() const { return executable_->stats(); }

 private:
  runtime::LocalProgram local_;
  ir::Types out_;
  runtime::Handle<runtime::Executable> executable_;
};

// Through a process-wide cache by fingerprint.
detail::Handle<Launchable> compile(const ir::Program& program);
// How many programs were compiled, not found in the cache, since the process began.
i64 compile_count();

// The array's blocks by device of the mesh; views where the memory allows.
runtime::Shards place(const Array& a, const Mesh& mesh, const P& spec);

}  // namespace uni::spmd
