// The errors that Unisono throws. First line: what is wrong, with the numbers. Then, indented, where. Last line
// `fix: ...` where the cure is certain.
#pragma once
#include <exception>
#include <string>
#include <utility>

namespace uni {

// The base of all errors.
class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// Shapes, axes or sizes that do not fit the operation.
class ShapeError : public Error {
  using Error::Error;
};
// An element type that the operation does not take, or a constant that does not fit its type.
class DtypeError : public Error {
  using Error::Error;
};
// Meshes, axis names, specs, device counts, collectives on the wrong kind of value.
class ShardingError : public Error {
  using Error::Error;
};
// A value used where tracing forbids it: value needed inside `jit`, tracer used after its trace, recursion.
class TraceError : public Error {
  using Error::Error;
};
// Structures (trees) that should match and do not.
class TreeError : public Error {
  using Error::Error;
};
// A failure while running: memory, files, donated arrays, checks in compiled code.
class ExecutionError : public Error {
  using Error::Error;
};
// A bug in Unisono itself.
class InternalError : public Error {
  using Error::Error;
};

}  // namespace uni
