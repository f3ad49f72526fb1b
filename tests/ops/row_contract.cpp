#include "row_contract.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "row_values.hpp"
#include <unisono/error.hpp>

namespace uni::contract {

using base::cat;
using core::Operand;
using core::Primitive;
using core::Type;
using core::Types;

namespace {
Arrays draw_all(const Sample& s, int lane = 0) {
  Arrays out;
  for (std::size_t i = 0; i < s.operands.size(); ++i) out.push_back(draw(s.operands[i], s.seed * 31 + i, lane));
  return out;
}
Types operand_types(const Sample& s) {
  Types out;
  for (const OperandSpec& o : s.operands) out.push_back({o.dtype, o.shape, false, {}});
  return out;
}
std::vector<std::size_t> inexact_operands(const Sample& s) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < s.operands.size(); ++i)
    if (is_inexact(s.operands[i].dtype)) out.push_back(i);
  return out;
}
bool same_type(const Type& a, const Type& b) { return a.dtype == b.dtype && a.shape == b.shape; }

// Each alone, and all together.
std::vector<std::vector<std::size_t>> each_and_all(const std::vector<std::size_t>& items) {
  std::vector<std::vector<std::size_t>> sets;
  for (const std::size_t i : items) sets.push_back({i});
  if (items.size() > 1) sets.push_back(items);
  return sets;
}
std::vector<std::size_t> all_operands(const Sample& s) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < s.operands.size(); ++i) out.push_back(i);
  return out;
}
bool in(const std::vector<std::size_t>& set, std::size_t i) {
  return std::find(set.begin(), set.end(), i) != set.end();
}
std::string text(const std::vector<std::size_t>& set) {
  std::vector<std::string> items;
  for (const std::size_t i : set) items.push_back(cat(i));
  return cat("operands {", base::listing(items), "}");
}
}  // namespace

std::string describe(const Sample& s) {
  std::string out = cat(s.row->name, s.params.text(), " (");
  for (std::size_t i = 0; i < s.operands.size(); ++i)
    out += cat(i ? ", " : "", ir::to_string({s.operands[i].dtype, s.operands[i].shape, false, {}}));
  return out + ")";
}

const char* name(SlotKind slot) {
  constexpr const char* names[] = {"type", "jvp", "transpose", "batch", "shard", "expand"};
  return names[static_cast<int>(slot)];
}

bool filled(const Primitive& row, SlotKind slot) {
  switch (slot) {
    case SlotKind::type:
      return row.type != nullptr;
    case SlotKind::jvp:
      return row.jvp.fn != nullptr;
    case SlotKind::transpose:
      return row.transpose.fn != nullptr;
    case SlotKind::batch:
      return row.batch.fn != nullptr;
    case SlotKind::shard:
      return row.shard.fn != nullptr;
    case SlotKind::expand:
      return row.expand.fn != nullptr;
  }
  return false;
}

Finding check_type(const Primitive& row, const Sample& s) {
  Types types = operand_types(s);
  const Types ruled = ir::infer(row, types, s.params);
  const Arrays out = core::bind(*s.row, draw_all(s), s.params);
  if (ruled.size() != out.size()) return cat("type: ", ruled.size(), " results, evaluation gives ", out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const runtime::BufferPtr buffer = core::whole_buffer(out[i]);
    const Type got{buffer->dtype(), buffer->shape(), false, {}};
    if (!same_type(ruled[i], got))
      return cat("type: result ", i, " is ", ir::to_string(ruled[i]), ", evaluation gives ", ir::to_string(got));
  }
  const auto survives = [&](std::span<const Type> in) {
    try {
      ir::infer(row, in, s.params);
    } catch (const InternalError&) {
      return false;
    } catch (const Error&) {
    }
    return true;
  };
  if (!types.empty() && !survives(std::span(types).first(types.size() - 1))) return "type: an operand too few";
  types.push_back({});
  if (!survives(types)) return "type: an operand too many";
  return {};
}

namespace {
struct Step {
  long double size, tolerance;
};
// Results of fewer bits need longer steps; rows that mix widths are linear.
Step step_for(Dtype result) {
  switch (real_part(result)) {
    case Dtype::f64:
      return {1e-6L, 2e-6L};
    case Dtype::f32:
      return {1e-2L, 2e-3L};
    default:
      return {0.25L, 0.1L};
  }
}

bool all_wide(const Sample& s, const std::vector<std::size_t>& active) {
  return std::all_of(active.begin(), active.end(),
                     [&](std::size_t i) { return real_part(s.operands[i].dtype) == Dtype::f64; });
}

Values finite_difference(const Sample& s, const Arrays& x, const Arrays& t, std::size_t result, Step step) {
  Arrays plus = x, minus = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!t[i].defined()) continue;
    plus[i] = axpy(x[i], t[i], step.size);
    minus[i] = axpy(x[i], t[i], -step.size);
  }
  Values high = read(core::bind(*s.row, plus, s.params)[result]);
  const Values low = read(core::bind(*s.row, minus, s.params)[result]);
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = (high[i] - low[i]) / (2 * step.size);
  return high;
}

Finding check_tangent(const Sample& s, const Arrays& x, const Arrays& t, const core::Jvp& jvp, std::size_t result) {
  const Array& tangent = jvp.tangent[result];
  const Type& type = core::type_of(jvp.out[result]);
  if (tangent.defined() && !is_inexact(type.dtype)) return "an integer result has a tangent";
  if (tangent.defined() && !same_type(core::type_of(tangent), type))
    return cat("tangent ", ir::to_string(core::type_of(tangent)), " of result ", ir::to_string(type));
  if (!is_inexact(type.dtype)) return {};
  const Values got = tangent.defined() ? read(tangent) : Values(static_cast<std::size_t>(type.count()));
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i].defined()) active.push_back(i);
  if (s.stopped) return difference(got, Values(got.size()), 0);
  if (!all_wide(s, active)) return {};
  const Step step = step_for(type.dtype);
  return difference(got, finite_difference(s, x, t, result, step), step.tolerance);
}
}  // namespace

Finding check_jvp(const Primitive& row, const Sample& s) {
  if (!row.jvp.fn) return {};
  const Arrays x = draw_all(s);
  const Arrays want = core::bind(*s.row, x, s.params);
  for (const auto& active : each_and_all(inexact_operands(s))) {
    Arrays t(x.size());
    for (const std::size_t i : active) t[i] = draw_direction(core::type_of(x[i]), s.seed * 17 + i);
    const core::Jvp jvp = row.jvp.fn(x, t, s.params);
    const std::string where = cat("jvp along ", text(active), ": ");
    if (jvp.out.size() != want.size() || jvp.tangent.size() != want.size()) return where + "number of results";
    for (std::size_t r = 0; r < want.size(); ++r) {
      if (const Finding f = difference(jvp.out[r], want[r], tolerance(core::type_of(want[r]).dtype)))
        return cat(where, "result ", r, ": ", *f);
      if (const Finding f = check_tangent(s, x, t, jvp, r)) return cat(where, "tangent ", r, ": ", *f);
    }
  }
  return {};
}

namespace {
struct LinearProblem {
  std::vector<Operand> operands;
  Arrays direction;  // of linear operands, empty for known ones
  Arrays image;      // what the linear map makes of it
};

LinearProblem linear_problem(const Sample& s, const std::vector<std::size_t>& linear) {
  LinearProblem p;
  Arrays at = draw_all(s), origin = at;
  p.direction.resize(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Type type = core::type_of(at[i]);
    if (!in(linear, i)) {
      p.operands.push_back({at[i], type});
      continue;
    }
    p.operands.push_back({Array(), type});
    at[i] = p.direction[i] = draw_direction(type, s.seed * 13 + i);
    origin[i] = make(type.dtype, type.shape, Values(static_cast<std::size_t>(type.count())));
  }
  const Arrays there = core::bind(*s.row, at, s.params), here = core::bind(*s.row, origin, s.params);
  for (std::size_t r = 0; r < there.size(); ++r) p.image.push_back(axpy(there[r], here[r], -1));
  return p;
}

Finding check_cotangents(const Primitive& row, const Sample& s, const LinearProblem& p, const Arrays& ct) {
  const Arrays back = row.transpose.fn(ct, p.operands, s.params);
  if (back.size() != p.operands.size()) return cat(back.size(), " cotangents for ", p.operands.size(), " operands");
  long double left = 0, right = 0, size = 0, tol = 1e-10L;
  for (std::size_t r = 0; r < ct.size(); ++r) {
    if (!ct[r].defined()) continue;
    left += dot(ct[r], p.image[r]);
    size += static_cast<long double>(core::type_of(ct[r]).count());
    tol = std::max(tol, tolerance(core::type_of(ct[r]).dtype));
  }
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (!back[i].defined()) continue;
    if (!p.operands[i].linear()) return cat("known operand ", i, " has a cotangent");
    if (!same_type(core::type_of(back[i]), p.operands[i].type))
      return cat("cotangent ", ir::to_string(core::type_of(back[i])), " of operand ",
                 ir::to_string(p.operands[i].type));
    right += dot(back[i], p.direction[i]);
    tol = std::max(tol, tolerance(p.operands[i].type.dtype));
  }
  if (std::abs(left - right) <= tol * (1 + size + std::abs(left))) return {};
  return cat("<ct, J t> is ", static_cast<double>(left), ", <J^T ct, t> is ", static_cast<double>(right));
}
}  // namespace

Finding check_transpose(const Primitive& row, const Sample& s) {
  const std::vector<std::size_t> inexact = inexact_operands(s);
  if (!row.transpose.fn || inexact.empty()) return {};
  const auto sets = s.linear.empty() ? std::vector<std::vector<std::size_t>>{inexact} : s.linear;
  for (const auto& linear : sets) {
    if (!std::all_of(linear.begin(), linear.end(), [&](std::size_t i) { return in(inexact, i); })) continue;
    const LinearProblem p = linear_problem(s, linear);
    std::vector<std::size_t> results;
    for (std::size_t r = 0; r < p.image.size(); ++r)
      if (is_inexact(core::type_of(p.image[r]).dtype)) results.push_back(r);
    for (const auto& active : each_and_all(results)) {
      Arrays ct(p.image.size());
      for (const std::size_t r : active) ct[r] = draw_direction(core::type_of(p.image[r]), s.seed * 7 + r);
      if (const Finding f = check_cotangents(row, s, p, ct)) return cat("transpose in ", text(linear), ": ", *f);
    }
  }
  return {};
}

namespace {
Array lane_of(const Array& batched, int lane, const Type& type) {
  std::vector<i64> start(static_cast<std::size_t>(type.shape.rank()) + 1, 0);
  start[0] = lane;
  Dims size = type.shape;
  size.insert(0, 1);
  return make(type.dtype, type.shape, read(block(batched, start, size)));
}

Finding check_lanes(const Primitive& row, const Sample& s, const std::vector<std::size_t>& batched, int lanes) {
  const Types types = operand_types(s);
  const Types results = ir::infer(*s.row, types, s.params);
  std::vector<Arrays> per_lane;
  for (int l = 0; l < lanes; ++l) {
    per_lane.push_back(draw_all(s));
    const Arrays moved = draw_all(s, l);
    for (const std::size_t i : batched) per_lane.back()[i] = moved[i];
  }
  Arrays operands = draw_all(s);
  core::BatchArgs args;
  args.batched.assign(types.size(), false);
  for (const std::size_t i : batched) {
    std::vector<Array> all;
    for (const Arrays& lane : per_lane) all.push_back(lane[i]);
    operands[i] = stack(all, types[i]);
    args.batched[i] = true;
  }
  args.in = operands;
  args.size = lanes;
  const core::Batch batch = row.batch.fn(args, s.params);
  if (batch.out.size() != results.size() || batch.batched.size() != results.size()) return "number of results";
  for (std::size_t r = 0; r < results.size(); ++r) {
    Type want = results[r];
    if (batch.batched[r]) want.shape.insert(0, lanes);
    const Type& got = core::type_of(batch.out[r]);
    if (!same_type(got, want))
      return cat("result ", r, " is ", ir::to_string(got), " instead of ", ir::to_string(want));
  }
  for (int l = 0; l < lanes; ++l) {
    const Arrays want = core::bind(*s.row, per_lane[static_cast<std::size_t>(l)], s.params);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const Array got = batch.batched[r] ? lane_of(batch.out[r], l, results[r]) : batch.out[r];
      if (const Finding f = difference(got, want[r], tolerance(results[r].dtype)))
        return cat("lane ", l, ", result ", r, ": ", *f);
    }
  }
  return {};
}
}  // namespace

Finding check_batch(const Primitive& row, const Sample& s) {
  if (!row.batch.fn) return {};
  auto sets = each_and_all(all_operands(s));
  if (sets.empty()) sets.push_back({});
  for (const auto& batched : sets)
    for (const int lanes : {3, 1, 0})
      if (const Finding f = check_lanes(row, s, batched, lanes))
        return cat("batch of ", lanes, " over ", text(batched), ": ", *f);
  return {};
}

Finding check_expand(const Primitive& row, const Sample& s) {
  if (!row.expand.fn) return {};
  const Arrays x = draw_all(s);
  const Arrays want = core::bind(*s.row, x, s.params), got = row.expand.fn(x, s.params);
  if (got.size() != want.size()) return "expand: number of results";
  for (std::size_t r = 0; r < want.size(); ++r)
    if (const Finding f = difference(got[r], want[r], tolerance(core::type_of(want[r]).dtype)))
      return cat("expand: result ", r, ": ", *f);
  return {};
}

Finding check(SlotKind slot, const Primitive& row, const Sample& sample) {
  constexpr Finding (*checks[])(const Primitive&, const Sample&) = {check_type,  check_jvp,   check_transpose,
                                                                    check_batch, check_shard, check_expand};
  try {
    return checks[static_cast<int>(slot)](row, sample);
  } catch (const Error& e) {
    return cat(name(slot), ": ", e.what());
  }
}

namespace {
std::vector<std::vector<Sample> (*)()>& families() {
  static std::vector<std::vector<Sample> (*)()> all;
  return all;
}
}  // namespace

SampleFamily::SampleFamily(std::vector<Sample> (*make)()) { families().push_back(make); }

const std::vector<Sample>& all_samples() {
  static const std::vector<Sample> samples = [] {
    std::vector<Sample> all;
    for (const auto make : families())
      for (Sample& s : make()) all.push_back(std::move(s));
    return all;
  }();
  return samples;
}

std::vector<const Sample*> samples_of(const Primitive& row) {
  std::vector<const Sample*> out;
  for (const Sample& s : all_samples())
    if (s.row == &row) out.push_back(&s);
  return out;
}

}  // namespace uni::contract
