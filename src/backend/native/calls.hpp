// What compiled code calls for operations that it has no instructions for. Must outlive the code's use.
#pragma once
#include <deque>

#include "backend/codegen/loop.hpp"
#include "backend/native/kernel.hpp"

namespace uni::native {

class Calls {
 public:
  codegen::Call add(FlatFn run, const ir::Params& params) { return {call, &data_.emplace_back(Data{run, &params})}; }

 private:
  struct Data {
    FlatFn run;
    const ir::Params* params;
  };
  static void call(std::byte* out, const std::byte* const* in, i64 count, const void* data) {
    const Data& d = *static_cast<const Data*>(data);
    d.run({out, in, count, *d.params});
  }
  std::deque<Data> data_;  // entries stay where they are
};

}  // namespace uni::native
