// Cases of parallel.json: programs of one device and the contexts that run them on all.
#pragma once
#include "golden/golden.hpp"

namespace golden {

// A program on one device: its rows of the mapped arrays, and the arrays that every device sees whole.
using Body = std::function<Arrays(const Arrays& mapped, const Arrays& whole)>;
enum class Context { pmap, vmap, shard_map };
// f on all devices of the axes, the first the slowest: mapped arrays and results have the axes in front.
Body in_context(Context context, Body f, const std::vector<uni::MeshAxis>& axes);
std::string to_string(Context context);

// The arrays of a JSON tree, in order of keys.
void add_leaves(const json& tree, std::vector<json>& out);
std::vector<json> leaves(const json& tree);
// Where the arrays differ from the expected leaves, as text.
std::string differences(const std::vector<json>& expected, const Arrays& got, const Tolerance& tolerance);

// The program that a case's "call" describes.
Body body_of(const std::string& call);

}  // namespace golden
