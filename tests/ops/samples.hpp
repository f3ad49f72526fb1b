// The samples of one family of rows, as they are listed: each gets the next seed.
#pragma once
#include <utility>
#include <vector>

#include "row_contract.hpp"

namespace uni::contract {

using LinearSets = std::vector<std::vector<std::size_t>>;

class Samples {
 public:
  void add(const core::Primitive& row, std::vector<OperandSpec> operands, core::Params params = {},
           LinearSets linear = {}) {
    add(row, {.operands = std::move(operands), .params = std::move(params), .linear = std::move(linear)});
  }
  void add(const core::Primitive& row, Sample s) {
    s.row = &row;
    s.seed = all_.size() + 1;
    all_.push_back(std::move(s));
  }
  std::vector<Sample> take() { return std::move(all_); }

 private:
  std::vector<Sample> all_;
};

}  // namespace uni::contract
