// Control flow, device by device: where devices disagree, a program runs on all of them and each keeps what is its own.
#include <algorithm>
#include <cstring>

#include "backend/reference/eval.hpp"
#include "base/text.hpp"
#include "ops/control.hpp"
#include <unisono/error.hpp>

namespace uni::reference {

namespace {
using runtime::BufferPtr;
using runtime::Shards;
using Values = std::vector<Shards>;

template <class T>
T scalar(const BufferPtr& b) {
  T value;
  std::memcpy(&value, b->data(), sizeof(T));
  return value;
}
Values range(const Values& all, i64 begin, i64 count) { return {all.begin() + begin, all.begin() + begin + count}; }
void append(Values& to, const Values& more) { to.insert(to.end(), more.begin(), more.end()); }

Values run_cond(const ir::Eqn& e, const Mesh& mesh, const Values& in, std::span<const Nested> branches) {
  const auto last = static_cast<std::int32_t>(branches.size()) - 1;
  const Values operands(in.begin() + 1, in.end());
  std::vector<i64> index;
  for (const BufferPtr& b : in[0]) index.push_back(std::clamp(scalar<std::int32_t>(b), 0, last));
  ops::Agreement(e, mesh).check(index);
  Values out;
  for (std::int32_t k = 0; k <= last; ++k) {
    if (std::find(index.begin(), index.end(), k) == index.end()) continue;
    const Values results = branches[static_cast<std::size_t>(k)](operands);
    if (out.empty()) out = results;
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t d = 0; d < index.size(); ++d)
        if (index[d] == k) out[i][d] = results[i][d];
  }
  return out;
}

Values run_while(const ir::Eqn& e, const Mesh& mesh, const Values& in, std::span<const Nested> programs) {
  const auto& p = e.params.as<ops::WhileParams>();
  const ops::Agreement agreement(e, mesh);
  const Values of_cond = range(in, 0, p.cond_consts), of_body = range(in, p.cond_consts, p.body_consts);
  Values carry(in.begin() + p.cond_consts + p.body_consts, in.end());
  for (;;) {
    Values args = of_cond;
    append(args, carry);
    std::vector<i64> running;
    const Shards flags = programs[0](args)[0];
    for (const BufferPtr& b : flags) running.push_back(scalar<bool>(b));
    if (std::find(running.begin(), running.end(), 1) == running.end()) return carry;
    agreement.check(running);
    args = of_body;
    append(args, carry);
    const Values next = programs[1](args);
    for (std::size_t i = 0; i < carry.size(); ++i)
      for (std::size_t d = 0; d < running.size(); ++d)
        if (running[d]) carry[i][d] = next[i][d];
  }
}

BufferPtr slice(const BufferPtr& whole, i64 index, const ir::Type& type) {
  return detail::make_handle<runtime::Buffer>(whole->storage(), whole->offset() + index * type.bytes(), type.dtype,
                                              type.shape, whole->device());
}

Values run_scan(const ops::ScanParams& p, const Values& in, const Nested& body, const Values& out) {
  const i64 first_x = p.consts + p.carry;
  const ir::Types types = p.body->output_types();
  Values carry = range(in, p.consts, p.carry);
  for (i64 step = 0; step < p.length; ++step) {
    const i64 index = p.reverse ? p.length - 1 - step : step;
    Values args = range(in, 0, p.consts);
    append(args, carry);
    for (std::size_t i = static_cast<std::size_t>(first_x); i < in.size(); ++i) {
      Shards x;
      for (const BufferPtr& b : in[i]) x.push_back(slice(b, index, p.body->types[i]));
      args.push_back(std::move(x));
    }
    const Values results = body(args);
    carry = range(results, 0, p.carry);
    for (std::size_t i = carry.size(); i < results.size(); ++i)
      for (std::size_t d = 0; d < results[i].size(); ++d) {
        const BufferPtr y = slice(out[i][d], index, types[i]);
        std::memcpy(y->data(), results[i][d]->data(), static_cast<std::size_t>(y->bytes()));
      }
  }
  append(carry, Values(out.begin() + p.carry, out.end()));
  return carry;
}
}  // namespace

Values run_control(const ir::Eqn& e, const Mesh& mesh, const Values& in, std::span<const Nested> programs,
                   const Values& out) {
  if (e.op == &ops::cond) return run_cond(e, mesh, in, programs);
  if (e.op == &ops::while_loop) return run_while(e, mesh, in, programs);
  if (e.op == &ops::scan) return run_scan(e.params.as<ops::ScanParams>(), in, programs[0], out);
  throw InternalError(base::cat("reference: no evaluator for ", e.op->name));
}

}  // namespace uni::reference
