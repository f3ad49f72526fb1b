// A random program with its arguments.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/client.hpp"
#include "values.hpp"

namespace uni::random_programs {

struct Case {
  std::uint64_t seed = 0;
  Mesh mesh{{}, {0}};
  ir::Program body;         // flat: what one device runs
  std::vector<Value> args;  // by input: the block of each device
  std::vector<bool> split;  // inputs whose blocks differ between devices; the others are the same everywhere
  std::vector<std::uint8_t> donate;
  // Runs of equations [first, second) that become one call, one after another, so that later ones may hold earlier
  // ones.
  std::vector<std::pair<std::size_t, std::size_t>> calls;
  i64 compile_from = 0;  // elements from which on the native backend compiles
};

// The body with its calls; with several devices, inside a manual region.
ir::Program whole_program(const Case& c);
// The types of the equations' results follow from those of the inputs; drops what nothing needs, inputs included.
Case cleaned(const Case& c);

// Draws the program of a seed.
Case drawn_case(std::uint64_t seed);

}  // namespace uni::random_programs
