#include "backend/native/cluster.hpp"

#include <algorithm>
#include <numeric>

#include "ops/contract.hpp"
#include "ops/structural.hpp"

namespace uni::native {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
using Kind = codegen::Node::Kind;
}  // namespace

bool Cluster::folded(int root) const {
  return std::any_of(folds_.begin(), folds_.end(), [&](const FoldResult& f) { return f.value == root; });
}
bool Cluster::reads(int root) const { return std::find(inputs_.begin(), inputs_.end(), root) != inputs_.end(); }
bool Cluster::reduces() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.node.kind == Kind::reduce; });
}

std::vector<i64> Cluster::over_domain(const Strided& view, const std::vector<int>& dims) const {
  std::vector<i64> strides(at(domain_.rank()), 0);
  for (std::size_t d = 0; d < dims.size(); ++d) strides[at(dims[d])] = view.strides[d];
  return strides;
}
std::vector<i64> Cluster::own_strides(const std::vector<int>& dims) const {
  Dims shape;
  for (int d : dims) shape.push_back(domain_[d]);
  return over_domain(whole(-1, shape), dims);
}
std::vector<int> Cluster::dims_of(const Member& m) const {
  std::vector<int> dims;
  for (int d = 0; d < domain_.rank(); ++d)
    if (m.strides[at(d)] != 0) dims.push_back(d);
  return dims;
}

std::optional<std::vector<int>> Cluster::placement(const Dims& shape, std::span<const Strided> operands) const {
  if (shape == domain_) {
    std::vector<int> all(at(domain_.rank()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  for (const Strided& v : operands) {
    const auto it = by_root_.find(v.base);
    if (it == by_root_.end()) continue;
    const std::vector<int> dims = dims_of(members_[at(it->second)]);
    Dims own;
    for (int d : dims) own.push_back(domain_[d]);
    if (own == shape) return dims;
  }
  return std::nullopt;
}
int Cluster::aligned(const Strided& view, const std::vector<int>& dims) const {
  const auto it = by_root_.find(view.base);
  if (it == by_root_.end() || view.offset != 0) return -1;
  return members_[at(it->second)].strides == over_domain(view, dims) ? it->second : -1;
}

// All of the last `columns` dimensions can be walked as one.
bool Cluster::merges(const std::vector<i64>& strides, const Dims& domain, int columns) {
  for (int d = domain.rank() - columns; d + 1 < domain.rank(); ++d)
    if (strides[at(d)] != strides[at(d + 1)] * domain[d + 1]) return false;
  return true;
}
bool Cluster::columns_merge(int columns) const {
  return std::all_of(members_.begin(), members_.end(), [&](const Member& m) {
    const bool accesses = m.node.kind == Kind::load || m.node.kind == Kind::iota;
    return !accesses || merges(m.node.access.strides, domain_, columns);
  });
}
bool Cluster::accepts(const Strided& view, const std::vector<int>& dims) const {
  return columns_ < 0 || merges(over_domain(view, dims), domain_, columns_);
}

int Cluster::add(Member m) {
  const int index = static_cast<int>(members_.size());
  if (m.value >= 0) by_root_[m.value] = index;
  members_.push_back(std::move(m));
  return index;
}

int Cluster::load(const Strided& view, const std::vector<int>& dims, Dtype dtype) {
  Member m;
  m.node.dtype = dtype;
  m.node.access = {over_domain(view, dims), view.offset};
  m.strides = own_strides(dims);
  if (view.base >= 0) {
    m.node.kind = Kind::load;
    const auto it = std::find(inputs_.begin(), inputs_.end(), view.base);
    m.node.argument = static_cast<int>(it - inputs_.begin());
    if (it == inputs_.end()) inputs_.push_back(view.base);
    for (std::size_t k = 0; k < members_.size(); ++k)
      if (members_[k].node.kind == Kind::load && members_[k].node.argument == m.node.argument &&
          members_[k].node.access == m.node.access && members_[k].strides == m.strides &&
          members_[k].node.dtype == dtype)
        return static_cast<int>(k);
  } else if (view.maker->op == &ops::full) {
    m.node.kind = Kind::constant;
    m.node.value = view.maker->params.as<ops::Full>().value;
  } else {
    m.node.kind = Kind::iota;
  }
  return add(std::move(m));
}

void Cluster::map(const ir::Eqn& e, std::vector<int> in, int value, Dtype dtype, const std::vector<int>& dims,
                  FlatFn run) {
  Member m;
  m.value = value;
  m.node.kind = Kind::map;
  m.node.dtype = dtype;
  m.node.in = std::move(in);
  m.node.op = e.op;
  m.node.params = &e.params;
  m.node.call = calls_.add(run, e.params);
  m.strides = own_strides(dims);
  add(std::move(m));
}

bool Cluster::reduce(const ir::Eqn& e, int member, const std::vector<int>& over, int value, Dtype dtype) {
  const int rank = domain_.rank(), count = static_cast<int>(over.size());
  const std::vector<int> dims = dims_of(members_[at(member)]);
  const auto is_range = [&](int begin, int end) {
    return count == end - begin && (count == 0 || (over.front() == begin && over.back() == end - 1));
  };
  const bool everything = is_range(0, rank) && static_cast<int>(dims.size()) == rank;
  int columns = columns_;
  bool along_columns = false, along_rows = false, per_column = false;
  if (everything) {
    along_columns = along_rows = true;
  } else if (static_cast<int>(dims.size()) == rank) {
    if (over.back() == rank - 1 && is_range(rank - count, rank) && (columns < 0 || columns == count)) {
      columns = count;
      along_columns = true;
    } else if (is_range(0, count) && (columns < 0 || columns == rank - count)) {
      columns = rank - count;
      along_rows = per_column = true;
    } else {
      return false;
    }
  } else if (columns >= 0 && is_range(0, rank - columns) && dims == over) {
    along_rows = true;  // a value per row
  } else {
    return false;
  }
  if (columns >= 0 && columns != columns_ && !columns_merge(columns)) return false;
  // 16-bit floats are summed in 32 bits, which partial results of their own type cannot hold.
  if (along_rows && itemsize(dtype) == 2 && is_float(dtype)) return false;
  columns_ = columns;
  int result = member;
  if (along_columns) {
    Member m;
    m.node.kind = Kind::reduce;
    m.node.dtype = dtype;
    m.node.in = {member};
    m.node.op = e.op;
    m.node.params = &e.params;
    m.value = along_rows ? -1 : value;
    m.strides.assign(at(rank), 0);
    if (!along_rows) {
      Dims shape;
      for (int d = 0; d < rank - count; ++d) shape.push_back(domain_[d]);
      const std::vector<i64> own = row_strides(shape);
      std::copy(own.begin(), own.end(), m.strides.begin());
    }
    result = add(std::move(m));
  }
  if (along_rows) folds_.push_back({result, value, e.op, per_column});
  return true;
}

void Cluster::close() {
  const int rank = domain_.rank(), columns = columns_ < 0 ? rank : columns_;
  const auto merge = [&](int d) {  // d with d + 1
    if (d + 1 == rank - columns) return false;
    for (const Member& m : members_) {
      const bool accesses = m.node.kind == Kind::load || m.node.kind == Kind::iota;
      const std::vector<i64>& strides = accesses ? m.node.access.strides : m.strides;
      if ((accesses || m.value >= 0) && strides[at(d)] != strides[at(d + 1)] * domain_[d + 1]) return false;
    }
    return true;
  };
  for (int d = 0; d < rank; ++d) {
    if (d > 0 && merge(d - 1))
      merged_.back().push_back(d);
    else
      merged_.push_back({d});
  }
  if (columns == 0 || merged_.empty()) merged_.emplace_back();  // one column
  // One dimension of whole arrays: the kernel does not depend on its size.
  flat_ = merged_.size() == 1 && !merged_[0].empty() && columns_ < 0;
  for (const Member& m : members_)
    if (flat_ && m.node.kind == Kind::load) {
      const i64 stride = m.node.access.strides[at(rank - 1)];
      flat_ = flat_ && m.node.access.offset == 0 && (stride == 0 || stride == 1);
    }
}

bool Cluster::may_overwrite(int input_root, int result) const {
  if (reduces()) return false;
  const auto argument = std::find(inputs_.begin(), inputs_.end(), input_root) - inputs_.begin();
  const std::vector<i64>& own = members_[at(by_root_.at(result))].strides;
  return std::all_of(members_.begin(), members_.end(), [&](const Member& m) {
    return m.node.kind != Kind::load || m.node.argument != argument ||
           (m.node.access.offset == 0 && m.node.access.strides == own);
  });
}

namespace {
i64 size_of(const Dims& domain, const std::vector<int>& dims) {
  i64 n = 1;
  for (int d : dims) n *= domain[d];
  return n;
}
}  // namespace

Grid Cluster::grid() const {
  Grid g;
  g.columns = size_of(domain_, merged_.back());
  for (std::size_t d = 0; d + 1 < merged_.size(); ++d) g.rows *= size_of(domain_, merged_[d]);
  constexpr i64 elements = 1 << 15;  // of one chunk
  g.column_block = g.columns;
  g.row_block = std::clamp<i64>(elements / std::max<i64>(1, g.columns), 1, g.rows);
  bool strided = false;
  for (const Member& m : members_)
    if (m.node.kind == Kind::load && !merged_.back().empty()) {
      const i64 stride = m.node.access.strides[at(merged_.back().back())];
      strided = strided || (stride != 0 && stride != 1);
    }
  if (flat_ || !reduces()) {
    constexpr i64 step = codegen::column_step;
    if (g.columns > 2 * elements) g.column_block = elements;
    // Walking against the storage of an operand: small blocks, so that each line that is fetched is used up.
    if (strided && g.rows > 1) g.column_block = std::min(g.column_block, 2 * step);
    g.row_block = std::clamp<i64>(elements / g.column_block, 1, g.rows);
  }
  constexpr i64 most_partials = 64;
  if (!folds_.empty()) {
    if (!flat_) {
      g.column_block = g.columns;
      g.row_block = std::clamp<i64>(elements / std::max<i64>(1, g.columns), 1, g.rows);
    }
    g.row_block = std::max(g.row_block, (g.rows + most_partials - 1) / most_partials);
    if (flat_) {
      constexpr i64 step = codegen::column_step;
      const i64 least = (g.columns + most_partials - 1) / most_partials;
      g.column_block = std::max(g.column_block, (least + step - 1) / step * step);
    }
  }
  return g;
}

i64 Cluster::fold_width(const FoldResult& f) const { return f.per_column ? size_of(domain_, merged_.back()) : 1; }

codegen::Loop Cluster::loop(std::span<const int> stored) const {
  codegen::Loop l;
  for (std::size_t d = 0; d + 1 < merged_.size(); ++d) l.rows.push_back(size_of(domain_, merged_[d]));
  l.columns = flat_ ? 0 : size_of(domain_, merged_.back());
  const auto access = [&](const std::vector<i64>& strides, i64 offset) {
    codegen::Access a{{}, offset};
    for (const std::vector<int>& dims : merged_) a.strides.push_back(dims.empty() ? 0 : strides[at(dims.back())]);
    return a;
  };
  // Members that nothing needs are left out.
  std::vector<bool> needed(members_.size(), false);
  for (int m : stored) needed[at(m)] = true;
  for (const FoldResult& f : folds_) needed[at(f.member)] = true;
  for (std::size_t m = members_.size(); m-- > 0;)
    if (needed[m])
      for (int k : members_[m].node.in) needed[at(k)] = true;
  std::vector<int> index(members_.size(), -1);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (!needed[m]) continue;
    index[m] = static_cast<int>(l.nodes.size());
    codegen::Node n = members_[m].node;
    for (int& k : n.in) k = index[at(k)];
    if (n.kind == Kind::load || n.kind == Kind::iota) n.access = access(n.access.strides, n.access.offset);
    l.nodes.push_back(std::move(n));
  }
  int argument = static_cast<int>(inputs_.size());
  for (int m : stored) l.stores.push_back({index[at(m)], argument++, access(members_[at(m)].strides, 0)});
  for (const FoldResult& f : folds_) l.folds.push_back({index[at(f.member)], argument++, f.op, f.per_column});
  l.arguments = argument;
  return l;
}

}  // namespace uni::native
