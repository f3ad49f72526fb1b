// Makes the schedule, equation by equation. Values that nobody stored yet are of four sorts: makers and views, which
// each reader makes again, contractions, members of a pending group, and members of an open cluster.
#pragma once
#include <list>
#include <map>
#include <unordered_map>

#include "backend/native/plan.hpp"
#include "backend/native/varying.hpp"

namespace uni::native {

class Planner {
 public:
  // `differs`: inputs that differ between devices. Runs about `repeats` times per execution, which pays for compiling
  // smaller work.
  Planner(const ir::Program& program, const Mesh& mesh, const Flags& differs, i64 repeats);
  Plan run();

 private:
  // A group of small work: run tile by tile, not compiled.
  struct Pending {
    std::unique_ptr<Group> group = std::make_unique<Group>();
    std::vector<int> in, values;            // external operands; value of each member
    std::unordered_map<int, int> member;    // root value -> member
    std::unordered_map<int, int> external;  // root value -> position in `in`
    bool varying = false;
    std::pair<i64, bool> key;
  };
  using Open = std::list<std::unique_ptr<Cluster>>;

  Value& value(ir::Var v) { return plan_.values[static_cast<std::size_t>(v)]; }
  int new_value(ir::Type type, bool varying);

  void equation(const ir::Eqn& e);
  void share(const ir::Eqn& e);
  void remember_maker(const ir::Eqn& e);
  // Afterwards the value is stored, or an input.
  void make_available(ir::Var v);
  void store_view(int root);

  // Groups: plan_group.cpp
  bool is_pointwise(const ir::Eqn& e) const;
  Pending& group_for(int root);
  void join_group(const ir::Eqn& e);
  void add_member(Pending& g, int root, int result, Group::Member m);
  void make(Pending& g, int root, int result);
  void find_strides(const ir::Eqn& e, Group::Member& m);
  Pending* pending_of(ir::Var v);
  int external(Pending& g, ir::Var v);
  Group::Source source(Pending& g, ir::Var v);
  void flush(Pending* p);

  // Clusters: plan_cluster.cpp
  bool is_large(const ir::Type& t, bool varying) const;
  bool take_map(const ir::Eqn& e);
  bool take_reduction(const ir::Eqn& e);
  void remember_view(const ir::Eqn& e);
  Strided view_of(ir::Var v);
  Cluster* cluster_of(int root);
  Cluster& open_cluster(const Dims& domain, bool varying);
  bool join(Cluster& c, const ir::Eqn& e, const std::vector<Strided>& operands);
  bool join_reduction(Cluster& c, const ir::Eqn& e, const Strided& x);
  bool prepare_operands(Cluster& c, const std::vector<Strided>& operands, const std::vector<int>& dims,
                        const ir::Eqn& e, std::vector<int>& nodes);
  void close(Cluster* c);

  // Contractions: plan_dense.cpp
  struct PendingContraction {
    const ir::Eqn* eqn;  // the product
    Strided a, b;
    std::vector<int> place;  // where each dimension of the product goes
    bool varying;
  };
  bool take_contraction(const ir::Eqn& e);
  PendingContraction* sole_contraction(const ir::Eqn& e);
  bool transpose_contraction(const ir::Eqn& e);
  bool sum_contraction(const ir::Eqn& e);
  void flush_contraction(int root);

  // Other steps
  void kernel(const ir::Eqn& e);
  void collective(const ir::Eqn& e);
  void control(const ir::Eqn& e);
  bool take_loop(const ir::Eqn& e, i64 repeats);  // plan_loop.cpp

  const std::shared_ptr<const ir::Program> shared_;
  const ir::Program& program_;
  const i64 from_;  // elements from which work is compiled
  Plan plan_;
  std::vector<Step> steps_;
  std::vector<int> uses_;
  std::unordered_map<int, PendingContraction> contractions_;  // root value -> the product that makes it
  std::map<std::pair<i64, bool>, std::unique_ptr<Pending>> pending_;
  std::unordered_map<int, const ir::Eqn*> makers_;  // root value -> what makes it, while it is not stored
  std::unordered_map<int, const ir::Eqn*> views_;   // root value -> the transpose, slice or reverse, likewise
  std::unordered_map<int, Strided> view_;           // of makers and views
  std::unordered_map<int, Pending*> in_group_;      // root value -> its pending group
  Open clusters_;                                   // oldest first
};

bool is_maker(const ir::Op* op);
KernelFn kernel_of(const ir::Op* op);

}  // namespace uni::native
