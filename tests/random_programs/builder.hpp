// A program that grows equation by equation. Values are computed along, so that what is drawn stays in ranges where
// results say something.
#pragma once
#include <functional>

#include "case.hpp"

namespace uni::random_programs {

class Builder {
 public:
  explicit Builder(std::uint64_t seed);

  Random random;
  bool large = false;  // arrays that several threads share, in few equations

  const Mesh& mesh() const { return case_.mesh; }
  const ir::Type& type(ir::Var v) const { return case_.body.types[static_cast<std::size_t>(v)]; }
  std::size_t equations() const { return case_.body.eqns.size(); }

  i64 size();
  Dims shape(int rank);
  Dtype dtype();
  std::vector<int> some_axes(int rank);  // sorted and distinct
  std::vector<int> permutation(int rank);

  // A value that is there, recent ones first; -1 where none is as wanted.
  ir::Var find(const std::function<bool(const ir::Type&)>& wanted);
  ir::Var any();
  // A value of this type: one that is there, or a new one.
  ir::Var of(Dtype dtype, Dims shape);
  ir::Var input(Dtype dtype, Dims shape);

  bool accepts(const ir::Op& op, const ir::Types& in, const ir::Params& params) const;
  // Appends an equation unless its type rule refuses it or its results are too large or say too little; its first
  // result, or -1.
  ir::Var add(const ir::Op& op, const std::vector<ir::Var>& in, ir::Params params = {});

  // Chooses outputs, calls and donations.
  Case finish();

 private:
  ir::Var append(const ir::Op& op, const std::vector<ir::Var>& in, ir::Params params);
  ir::Var made(Dtype dtype, Dims shape);
  bool is_input(ir::Var v) const;
  void add_outputs();
  void inputs_first();
  void add_calls();

  Case case_;  // its variables stand in the order of their making until the end
  std::vector<ir::Var> inputs_;
  std::vector<Value> values_;  // by variable
  std::vector<i64> sizes_;
  std::vector<Dtype> dtypes_, all_;  // those of this program, if not all
};

// Draws one equation; false when the attempt gave none.
struct Drawer {
  const ir::Op* op;
  bool (*draw)(Builder& b, const ir::Op& op);
};
const std::vector<Drawer>& elementwise_drawers();
const std::vector<Drawer>& structural_drawers();
const std::vector<Drawer>& contract_drawers();
const std::vector<Drawer>& random_drawers();
const std::vector<Drawer>& collective_drawers();

}  // namespace uni::random_programs
