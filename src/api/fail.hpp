// Errors of public functions: what is wrong, the user's line, and the cure where it is certain.
#pragma once
#include <string>

#include "base/text.hpp"
#include "core/trace.hpp"
#include <unisono/error.hpp>

namespace uni::api {

template <class E>
[[noreturn]] void fail(const std::string& what, const std::string& fix = "") {
  throw E(base::cat(what, base::at(core::current_location()), fix.empty() ? "" : "\nfix: ", fix));
}

}  // namespace uni::api
