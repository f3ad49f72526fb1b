// Elements in memory and values in registers: booleans are bytes, 16-bit floats are widened.
#pragma once
#include "backend/codegen/pointwise.hpp"

namespace uni::codegen {

std::string memory_type(Dtype dtype);
// `mask` names a vector of lanes to touch; empty: all.
Val read(Writer& w, const std::string& from, Dtype dtype, int lanes, const std::string& mask);
// stream: past the caches; `to` is aligned to 64 bytes.
void write(const std::string& to, const Val& v, Dtype dtype, const std::string& mask, bool stream = false);
// Elements at base + offsets (in elements, i64).
Val gather(const std::string& base, Dtype dtype, const Val& offsets, const std::string& mask);

}  // namespace uni::codegen
