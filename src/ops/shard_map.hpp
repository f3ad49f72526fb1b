// shard_map: a manual region. The body sees per-device blocks and calls collectives by the mesh's axis names.
#pragma once
#include <string>

#include "ops/rules.hpp"

namespace uni::ops {

struct ShardMapParams {
  ir::ProgramPtr body;  // local types
  Mesh mesh;
  std::vector<P> in, out;
  bool typed = true;  // typed: types say what varies. Not typed (pmap): everything may vary
  std::string name;
};
extern const core::HigherOrder& shard_map;

// The mesh's axes as the environment of the body.
std::vector<core::Axis> region_axes(const ShardMapParams& params);
// The block that one device sees; throws ShapeError when the blocks are not even.
Type local_type(const Type& global, const P& spec, const Mesh& mesh);
Type global_type(const Type& local, const P& spec, const Mesh& mesh);
// Names in a spec, in order of dimensions.
AxisNames spec_axes(const P& spec);

}  // namespace uni::ops
