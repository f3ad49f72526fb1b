// The static schedule of a per-device program for all devices of its mesh.
//
// A value that is the same on all devices (found by a forward analysis) is computed and stored once. A value that
// differs is stored device after device in one block, so that a value split over its leading dimension is the global
// array. Reshapes share storage.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "backend/native/cluster.hpp"
#include "backend/native/dense.hpp"
#include "backend/native/group.hpp"
#include "backend/native/kernel.hpp"
#include "runtime/client.hpp"

namespace uni::native {

struct Value {
  ir::Type type;  // on one device
  bool varying = false;
  int root = -1;  // whose storage it is
  // Of roots:
  enum class Place : std::uint8_t { unused, input, arena, output } place = Place::unused;
  int index = -1;             // of the program's input, or the result storage number
  i64 offset = 0;             // in the arena
  int first = -1, last = -1;  // steps that define and last use it
  i64 bytes(i64 devices) const { return type.bytes() * (varying ? devices : 1); }
};

// Where a step finds a value: at the root's address, so many bytes further for each device.
struct Slot {
  int root = -1;
  i64 stride = 0;
};
struct Control;  // control.hpp
struct Step {
  enum class Kind : std::uint8_t { kernel, group, compiled, dense, collective, control, loop } kind = Kind::kernel;
  std::vector<int> in, out;  // values
  std::vector<Slot> in_slots, out_slots;
  KernelFn run = nullptr;
  ir::Eqn eqn;                    // kernel, collective
  ir::Types in_types, out_types;  // kernel
  bool each_device = false;       // run once per device
  std::unique_ptr<Group> group;
  // compiled: `stored` are the members that the first results stand for; partial results of folds follow
  std::unique_ptr<Cluster> cluster;
  std::vector<int> stored;
  Grid grid;
  codegen::KernelFn compiled = nullptr;  // compiled, loop
  std::unique_ptr<Dense> dense;
  std::shared_ptr<const Control> control;
  std::unique_ptr<Calls> calls;  // loop: what its code calls
  i64 length = 0;                // loop: of a scan
};

struct Plan {
  std::shared_ptr<const ir::Program> program;  // keeps the equations that steps refer to
  Mesh mesh;
  i64 devices = 1;
  std::deque<Value> values;  // by variable of the program, then temporaries
  std::vector<Step> steps;
  std::vector<int> inputs, outputs;      // values
  std::vector<int> result_roots;         // roots that are allocated anew for each execution
  std::vector<std::vector<int>> donors;  // by result root: inputs whose storage it may take, best ones first
  i64 arena_bytes = 0;
  i64 collectives = 0, collective_bytes = 0;  // those of loops count once
  int nested = 0;                             // steps of control flow
};
Plan make_plan(const runtime::LocalProgram& program);

// Parts of it.
// Work from this many elements on is compiled: it takes longer than the kernels of a group, step by step, would save.
i64 compiled_from();
// Every convolution with padding or input dilation reads an operand that is padded before.
ir::Program pad_convolutions(const ir::Program& program);
// Reductions over few positions, of that many windows or more, become maps over slices.
ir::Program unroll_windows(const ir::Program& program, i64 from_elements);
void place_values(Plan& plan);
void compile_steps(Plan& plan);

}  // namespace uni::native
