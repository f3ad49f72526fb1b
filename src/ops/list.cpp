#include "ops/list.hpp"

#include <map>

#include "ops/call.hpp"
#include "ops/collectives.hpp"
#include "ops/contract.hpp"
#include "ops/control.hpp"
#include "ops/custom.hpp"
#include "ops/elementwise.hpp"
#include "ops/linalg.hpp"
#include "ops/random.hpp"
#include "ops/shard_map.hpp"
#include "ops/structural.hpp"

namespace uni::ops {

std::vector<const Primitive*> all_rows() {
  std::vector<const Primitive*> rows;
  for (const auto family :
       {elementwise_rows(), structural_rows(), contract_rows(), linalg_rows(), random_rows(), collective_rows()})
    rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

std::vector<const core::HigherOrder*> all_higher_order() {
  return {&call, &custom_jvp, &custom_vjp, &custom_linear, &shard_map, &cond, &while_loop, &scan};
}

const ir::Op* find_op(std::string_view name) {
  static const std::map<std::string_view, const ir::Op*> by_name = [] {
    std::map<std::string_view, const ir::Op*> map;
    for (const Primitive* p : all_rows()) map.emplace(p->name, p);
    for (const core::HigherOrder* h : all_higher_order()) map.emplace(h->name, h);
    return map;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

}  // namespace uni::ops
