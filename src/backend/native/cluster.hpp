// Equations that become one compiled kernel, over a common space of rows and columns.
#pragma once
#include <memory>
#include <unordered_map>

#include "backend/native/calls.hpp"
#include "backend/native/strided.hpp"

namespace uni::native {

// How a kernel's work is cut, by shapes only.
struct Grid {
  i64 rows = 1, columns = 1, row_block = 1, column_block = 1;
  i64 row_chunks() const { return (rows + row_block - 1) / row_block; }
  i64 column_chunks() const { return (columns + column_block - 1) / column_block; }
  i64 chunks() const { return row_chunks() * column_chunks(); }
};

class Cluster {
 public:
  Cluster(Dims domain, bool varying) : domain_(std::move(domain)), varying_(varying) {}

  // What stands for a variable: `strides` is how its own storage would lie over the domain.
  struct Member {
    codegen::Node node;
    int value = -1;  // root value, none for loads and makers
    std::vector<i64> strides;
  };
  struct FoldResult {
    int member = -1, value = -1;
    const ir::Op* op = nullptr;
    bool per_column = false;
  };

  bool varying() const { return varying_; }
  const Dims& domain() const { return domain_; }
  bool holds(int root) const { return by_root_.contains(root) || folded(root); }
  bool reads(int root) const;
  const std::vector<int>& inputs() const { return inputs_; }  // root values
  std::vector<Member>& members() { return members_; }
  const std::vector<Member>& members() const { return members_; }
  const std::vector<FoldResult>& folds() const { return folds_; }
  static constexpr std::size_t most_arguments = 128;
  bool full() const { return members_.size() > 96 || inputs_.size() > 24; }
  bool reduces() const;

  // The dimensions of the domain that those of an operand of shape `shape` (squeezed) are; none when this is not clear.
  std::optional<std::vector<int>> placement(const Dims& shape, std::span<const Strided> operands) const;
  // The member that a view of shape `shape` stands for, when its base is one; -1: no such element-by-element reading.
  int aligned(const Strided& view, const std::vector<int>& dims) const;
  // Whether loads with these strides may join: the columns of a reduction must stay one dimension.
  bool accepts(const Strided& view, const std::vector<int>& dims) const;

  int load(const Strided& view, const std::vector<int>& dims, Dtype dtype);
  void map(const ir::Eqn& e, std::vector<int> in, int value, Dtype dtype, const std::vector<int>& dims, FlatFn call);
  // Reduces a member over some dimensions of the domain; false when rows and columns do not fit that.
  bool reduce(const ir::Eqn& e, int member, const std::vector<int>& over, int value, Dtype dtype);

  // Afterwards nothing is added. Cuts the space into rows and columns.
  void close();
  Grid grid() const;
  // Whether a stored member may lie where an input lies: each element is read before it is written, by the same lane.
  bool may_overwrite(int input_root, int result) const;
  // Results per chunk of a fold.
  i64 fold_width(const FoldResult& f) const;
  // The kernel that stores these members, in this order behind the inputs, then the folds' partial results.
  codegen::Loop loop(std::span<const int> stored) const;

 private:
  bool folded(int root) const;
  int add(Member m);
  std::vector<i64> over_domain(const Strided& view, const std::vector<int>& dims) const;
  std::vector<i64> own_strides(const std::vector<int>& dims) const;
  std::vector<int> dims_of(const Member& m) const;
  bool columns_merge(int columns) const;
  static bool merges(const std::vector<i64>& strides, const Dims& domain, int columns);

  Dims domain_;  // no dimension of size 1
  bool varying_;
  int columns_ = -1;  // so many trailing dimensions are columns; none: not decided
  std::vector<Member> members_;
  std::vector<FoldResult> folds_;
  std::vector<int> inputs_;
  std::unordered_map<int, int> by_root_;
  Calls calls_;
  // After close: dimensions merged where all accesses allow it.
  std::vector<std::vector<int>> merged_;  // domain dimensions of each; the last one is the columns
  bool flat_ = false;
};

}  // namespace uni::native
