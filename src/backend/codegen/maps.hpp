// Parts that the emitters of loops share.
#pragma once
#include "backend/codegen/loop.hpp"
#include "backend/codegen/memory.hpp"
#include "base/text.hpp"

namespace uni::codegen {

// One element-wise operation on register values, by its emitter or else by a call, for which lanes go through memory.
struct Map {
  const ir::Op& op;
  const ir::Params& params;
  std::span<const Dtype> in;
  Dtype out;
  Call call;
};
Val map(const Map& map, std::span<const Val> in);

Val literal(Writer& w, const ir::Scalar& value, Dtype dtype, int lanes);
// An index (i64) as an element of the dtype.
Val counter(const Val& index, Dtype dtype);
// The lanes of a vector joined by a reduction, halves first.
Val across(Val v, const ir::Op& reduce, Dtype dtype);

// Runs fn(i) for i = begin, begin + step, ... below end; both name values of i64.
template <class Fn>
void counted(Writer& w, const std::string& begin, const std::string& end, i64 step, const Fn& fn) {
  using base::cat;
  const std::string i = w.slot(Kind::i64, 1), test = w.label(), body = w.label(), done = w.label();
  w.line(cat("store i64 ", begin, ", ptr ", i));
  w.jump(test);
  w.begin(test);
  const Val v = w.value(Kind::i64, 1, cat("load i64, ptr ", i));
  const Val more = w.value(Kind::i1, 1, cat("icmp slt i64 ", v.name, ", ", end));
  w.branch(more, body, done);
  w.begin(body);
  fn(v.name);
  const Val next = w.value(Kind::i64, 1, cat("add i64 ", v.name, ", ", step));
  w.line(cat("store i64 ", next.name, ", ptr ", i));
  w.jump(test);
  w.begin(done);
}

}  // namespace uni::codegen
