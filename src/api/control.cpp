#include "api/control.hpp"

#include <algorithm>

#include "api/fail.hpp"
#include "api/promote.hpp"
#include "ops/control.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"

namespace uni {

using base::cat;
using detail::FlatFunction;
using detail::Traced;
using detail::TreeRef;
using ir::Type;
using ir::Types;

namespace api {
TreeLeaves tree_leaves_of(const TreeRef& tree, std::string_view root) {
  std::vector<Array*> slots;
  detail::collect_leaves(tree, slots);
  TreeLeaves out;
  out.paths = detail::leaf_paths(tree, root);
  for (const Array* a : slots) out.values.push_back(*a);
  return out;
}

void check_predicate(std::string_view who, const Type& type) {
  if (!is_bool(type.dtype) || type.shape.rank() != 0)
    fail<DtypeError>(cat(who, ": the condition is ", ir::to_string(type), ", expected bool[]"));
}

Arrays call_user(FlatFunction f, std::span<const Array> in) {
  const core::WithLocation own_lines{Location{}};
  return f(in);
}

ir::ProgramPtr captured_first(const interp::Staged& staged, std::size_t inputs) {
  Types types = core::types_of(staged.captured);
  const Types own = staged.program->input_types();
  types.insert(types.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(inputs));
  const std::size_t captured = staged.captured.size();
  return ops::staged(
      [&](std::span<const Array> x) {
        return interp::interpret(*staged.program, ops::joined({x.subspan(captured), x.first(captured)}));
      },
      types);
}

namespace {
void check_structure(std::string_view who, const TreeRef& want, const TreeRef& got, std::string_view what) {
  std::string a, b;
  detail::append_structure(want, a);
  detail::append_structure(got, b);
  if (a != b) fail<TreeError>(cat(who, ": ", what, ": ", detail::explain_mismatch(want, got, "carry")));
}

// The dtype that both have when one of them is weak and yields.
std::optional<Dtype> common_dtype(std::string_view who, const Type& a, const Type& b) {
  if (a.dtype == b.dtype) return a.dtype;
  if (!a.weak && !b.weak) return std::nullopt;
  const ValueType both = promote(who, {a.dtype, a.weak}, {b.dtype, b.weak});
  return both.dtype;
}

// Results converted to these types, which the caller has found to be possible.
Array as(const Array& x, const Type& want) {
  const Type& t = core::type_of(x);
  return t.dtype == want.dtype ? x : lax::convert(x, want.dtype, want.weak);
}
}  // namespace

LoopBody stage_body(const LoopShape& shape, const Traced& body) {
  LoopBody out{nullptr, {}, shape.init.leaves};
  const std::vector<std::string> paths = detail::leaf_paths(shape.init.structure, "carry");
  const std::size_t first = shape.before.size(), carry = out.carry.size();
  for (;;) {
    Types types = shape.before;
    for (const Array& a : out.carry) types.push_back(core::type_of(a));
    types.insert(types.end(), shape.after.begin(), shape.after.end());
    std::vector<std::pair<std::size_t, Type>> changed;
    const auto call = [&](std::span<const Array> x) {
      Arrays results = call_user(body.call, x);
      check_structure(shape.who, shape.init.structure, body.result(), "the body changes the structure of the carry");
      for (std::size_t i = 0; i < carry; ++i) {
        const Type &want = types[first + i], &got = core::type_of(results[i]);
        const std::optional<Dtype> dtype = common_dtype(shape.who, want, got);
        if (!dtype || !(want.shape == got.shape) || (*dtype != want.dtype && !want.weak))
          fail<TreeError>(cat(shape.who, ": `", paths[i], "` is ", ir::to_string(want), ", the body makes ",
                              ir::to_string(got), " of it"));
        if (*dtype != want.dtype) changed.emplace_back(i, got);
        results[i] = as(results[i], want);
      }
      return results;
    };
    const interp::Staged staged = interp::stage(call, types, "loop");
    for (const auto& [i, type] : changed) out.carry[i] = lax::convert(out.carry[i], type.dtype, type.weak);
    if (!changed.empty()) continue;
    out.program = captured_first(staged, types.size());
    out.captured = staged.captured;
    return out;
  }
}
}  // namespace api

namespace detail {
namespace {
// Branches must agree on structure and types; a weak dtype yields.
Types common_results(std::string_view who, std::span<const Traced> branches, std::span<const interp::Staged> staged,
                     std::span<const std::string> structures, std::span<const std::vector<std::string>> paths) {
  Types common = staged[0].program->output_types();
  for (std::size_t k = 1; k < branches.size(); ++k) {
    if (structures[k] != structures[0])
      api::fail<TreeError>(cat(who, ": branches 0 and ", k, " return different structures"));
    const Types types = staged[k].program->output_types();
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::optional<Dtype> dtype = api::common_dtype(who, common[i], types[i]);
      if (!dtype || !(common[i].shape == types[i].shape))
        api::fail<TreeError>(cat(who, ": `", paths[0][i], "` is ", ir::to_string(common[i]), " in branch 0 and ",
                                 ir::to_string(types[i]), " in branch ", k));
      common[i].weak = common[i].weak && types[i].weak;
      common[i].dtype = *dtype;
    }
  }
  return common;
}

// One list of captured values for all branches: each branch takes (captured of all, arguments).
struct Merged {
  ops::CondParams params;
  Arrays captured;
};
Merged merge_branches(std::span<const interp::Staged> staged, const Types& args, const Types& results) {
  Merged out;
  std::vector<std::vector<std::size_t>> positions;
  for (const interp::Staged& s : staged) {
    positions.emplace_back();
    for (const Array& a : s.captured) {
      std::size_t i = 0;
      while (i < out.captured.size() && out.captured[i].node() != a.node()) ++i;
      if (i == out.captured.size()) out.captured.push_back(a);
      positions.back().push_back(i);
    }
  }
  Types types = core::types_of(out.captured);
  types.insert(types.end(), args.begin(), args.end());
  const std::size_t captured = out.captured.size();
  for (std::size_t k = 0; k < staged.size(); ++k)
    out.params.branches.push_back(ops::staged(
        [&](std::span<const Array> x) {
          Arrays in(x.begin() + static_cast<std::ptrdiff_t>(captured), x.end());
          for (const std::size_t i : positions[k]) in.push_back(x[i]);
          Arrays r = interp::interpret(*staged[k].program, in);
          for (std::size_t i = 0; i < r.size(); ++i) r[i] = api::as(r[i], results[i]);
          return r;
        },
        types));
  return out;
}

Array branch_index(std::string_view who, const In& chosen) {
  const Array index = api::as_array(who, chosen);
  const Type& t = core::type_of(index);
  if (who == "cond") {
    api::check_predicate(who, t);
  } else if (!is_integer(t.dtype) || t.shape.rank() != 0) {
    api::fail<DtypeError>(cat(who, ": the index is ", ir::to_string(t), ", expected an integer scalar"));
  }
  if (t.dtype == Dtype::i32 || is_bool(t.dtype)) return lax::convert(index, Dtype::i32);
  // Clamped first, so that a wide index does not wrap.
  const auto bound = [&](i64 v) { return lax::full_int(v, t.dtype, {}); };
  return lax::convert(lax::clamp(bound(0), index, bound(itemsize(t.dtype) == 1 ? 127 : 32767)), Dtype::i32);
}
}  // namespace

Arrays flat_cond(std::string_view who, const In& index, const TreeRef& args, std::span<const Traced> branches) {
  const core::At at(index.where());
  const Array chosen = branch_index(who, index);
  const api::TreeLeaves in = api::tree_leaves_of(args, "args");
  const Types types = core::types_of(in.values);
  std::vector<interp::Staged> staged;
  std::vector<std::string> structures;
  std::vector<std::vector<std::string>> paths;
  for (const Traced& b : branches) {
    const auto call = [&](std::span<const Array> x) { return api::call_user(b.call, x); };
    staged.push_back(interp::stage(call, types, "cond"));
    structures.emplace_back();
    append_structure(b.result(), structures.back());
    paths.push_back(leaf_paths(b.result(), "result"));
  }
  Merged merged = merge_branches(staged, types, common_results(who, branches, staged, structures, paths));
  return ops::bind_cond(std::move(merged.params),
                        ops::joined({std::span<const Array>(&chosen, 1), merged.captured, in.values}));
}

Arrays flat_while(const LoopStart& init, const Traced& cond, const Traced& body, Location where) {
  const core::At at(where);
  const api::LoopBody loop = api::stage_body({"while_loop", init, {}, {}}, body);
  const auto test = [&](std::span<const Array> x) {
    Arrays out = api::call_user(cond.call, x);
    api::check_predicate("while_loop", core::type_of(out[0]));
    return out;
  };
  const interp::Staged staged = interp::stage(test, core::types_of(loop.carry), "loop");
  return ops::bind_while({api::captured_first(staged, loop.carry.size()), loop.program,
                          static_cast<i64>(staged.captured.size()), static_cast<i64>(loop.captured.size())},
                         ops::joined({staged.captured, loop.captured, loop.carry}));
}

namespace {
// The common size of axis 0.
i64 scan_length(std::string_view who, const api::TreeLeaves& xs, const std::optional<i64>& given) {
  std::optional<i64> length = given;
  std::string from = "length";
  for (std::size_t i = 0; i < xs.values.size(); ++i) {
    const Type& t = core::type_of(xs.values[i]);
    if (t.shape.rank() == 0) api::fail<ShapeError>(cat(who, ": `", xs.paths[i], "` is a scalar, it has no axis 0"));
    if (length && *length != t.shape[0])
      api::fail<ShapeError>(
          cat(who, ": `", xs.paths[i], "` has ", t.shape[0], " steps along axis 0, ", from, " has ", *length));
    length = t.shape[0];
    from = cat("`", xs.paths[i], "`");
  }
  if (!length) api::fail<ShapeError>(cat(who, ": the number of steps is unknown"), "give .length");
  if (*length < 0) api::fail<ShapeError>(cat(who, ": length ", *length, " is negative"));
  return *length;
}

Array sliced(const Array& x, i64 begin, i64 end) { return lax::slice_axis(x, 0, begin, end); }
Array with_front(const Array& x, i64 n, i64 size) {  // [n * size, ...] -> [n, size, ...]
  Dims shape = x.shape();
  shape[0] = size;
  shape.insert(0, n);
  return lax::reshape(x, shape);
}
Array without_front(const Array& x) {
  Dims shape = x.shape();
  const i64 n = shape[0];
  shape.erase(0);
  shape[0] *= n;
  return lax::reshape(x, shape);
}
Array element(const Array& x, i64 i) { return lax::squeeze(sliced(x, i, i + 1), 0); }

Types element_types(const Arrays& xs) {
  Types types = core::types_of(xs);
  for (Type& t : types) t.shape.erase(0);
  return types;
}

Arrays bind_steps(const api::LoopBody& loop, const Arrays& carry, const Arrays& xs, i64 length, bool reverse) {
  return ops::bind_scan(
      {loop.program, static_cast<i64>(loop.captured.size()), static_cast<i64>(carry.size()), length, reverse},
      ops::joined({loop.captured, carry, xs}));
}

// `unroll` steps of the body as one.
api::LoopBody unrolled(const api::LoopBody& loop, i64 steps, bool reverse) {
  api::LoopBody out = loop;
  const std::size_t captured = loop.captured.size(), carry = loop.carry.size();
  Types types = loop.program->input_types();
  for (std::size_t i = captured + carry; i < types.size(); ++i) types[i].shape.insert(0, steps);
  const auto body = [&](std::span<const Array> v) {
    Arrays state(v.begin() + static_cast<std::ptrdiff_t>(captured),
                 v.begin() + static_cast<std::ptrdiff_t>(captured + carry));
    std::vector<Arrays> ys(loop.program->outputs.size() - carry, Arrays(static_cast<std::size_t>(steps)));
    for (i64 s = 0; s < steps; ++s) {
      const i64 at = reverse ? steps - 1 - s : s;
      Arrays in = ops::joined({v.first(captured), state});
      for (const Array& x : v.subspan(captured + carry)) in.push_back(element(x, at));
      const Arrays r = interp::interpret(*loop.program, in);
      state.assign(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(carry));
      for (std::size_t i = 0; i < ys.size(); ++i)
        ys[i][static_cast<std::size_t>(at)] = lax::expand_dims(r[carry + i], 0);
    }
    for (const Arrays& y : ys) state.push_back(lax::concatenate(y, 0));
    return state;
  };
  out.program = ops::staged(body, types);
  return out;
}

Arrays run_steps(const api::LoopBody& loop, const Arrays& xs, i64 length, bool reverse, i64 unroll) {
  const i64 turns = length / unroll, left = length % unroll;
  if (unroll == 1 || turns == 0) return bind_steps(loop, loop.carry, xs, length, reverse);
  Arrays blocks, rest;
  for (const Array& x : xs) {
    blocks.push_back(with_front(sliced(x, 0, length - left), turns, unroll));
    rest.push_back(sliced(x, length - left, length));
  }
  const api::LoopBody fast = unrolled(loop, unroll, reverse);
  const std::size_t carry = loop.carry.size();
  const auto carry_of = [&](const Arrays& r) {
    return Arrays(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(carry));
  };
  Arrays whole, tail;
  if (left && reverse) tail = bind_steps(loop, loop.carry, rest, left, reverse);
  whole = bind_steps(fast, tail.empty() ? loop.carry : carry_of(tail), blocks, turns, reverse);
  if (left && !reverse) tail = bind_steps(loop, carry_of(whole), rest, left, reverse);
  Arrays out = carry_of(left && !reverse ? tail : whole);
  for (std::size_t i = carry; i < whole.size(); ++i) {
    const Array flat = without_front(whole[i]);
    out.push_back(left ? lax::concatenate(Arrays{flat, tail[i]}, 0) : flat);
  }
  return out;
}
}  // namespace

Arrays flat_scan(const LoopStart& init, const TreeRef& xs, const Traced& body, const LoopRange& range, Location where) {
  const core::At at(where);
  const api::TreeLeaves x = api::tree_leaves_of(xs, "xs");
  const i64 length = scan_length("scan", x, range.length);
  if (range.unroll < 1) api::fail<ShapeError>(cat("scan: unroll ", range.unroll, " is less than 1"));
  const api::LoopBody loop = api::stage_body({"scan", init, {}, element_types(x.values)}, body);
  return run_steps(loop, x.values, length, range.reverse, range.unroll);
}

CounterBounds counter_bounds(const In& lower, const In& upper) {
  const core::At at(lower.where());
  const auto value_of = [](const In& bound, Array& value) -> std::optional<i64> {
    value = api::as_array("fori_loop", bound);
    if (!is_integer(value.dtype()) || value.rank() != 0)
      api::fail<DtypeError>(
          cat("fori_loop: a bound is ", ir::to_string(core::type_of(value)), ", expected an integer scalar"));
    if (bound.is_scalar()) return bound.scalar().i;
    return core::concrete(value) ? std::optional(value.item<i64>()) : std::nullopt;
  };
  CounterBounds out;
  const std::optional<i64> from = value_of(lower, out.lower), to = value_of(upper, out.upper);
  if (from && to) out.known = std::pair(*from, *to);
  const api::ValueType counter = api::promote("fori_loop", {lower, upper});
  out.lower = lax::convert(out.lower, counter.dtype, counter.weak);
  out.upper = lax::convert(out.upper, counter.dtype, counter.weak);
  return out;
}

Arrays flat_fori(const CounterBounds& bounds, const LoopStart& init, const Traced& body, Location where) {
  const core::At at(where);
  const Array &first = bounds.lower, &end = bounds.upper;
  const Type counter = core::type_of(first);
  const api::LoopBody loop = api::stage_body({"fori_loop", init, {counter}, {}}, body);
  const std::size_t captured = loop.captured.size(), carry = loop.carry.size();
  if (bounds.known) {
    const i64 begin = bounds.known->first, length = std::max<i64>(0, bounds.known->second - begin);
    Types types = loop.program->input_types();
    std::rotate(types.begin() + static_cast<std::ptrdiff_t>(captured),
                types.begin() + static_cast<std::ptrdiff_t>(captured + 1), types.end());
    const auto step = [&](std::span<const Array> v) {  // the counter comes last
      return interp::interpret(*loop.program, ops::joined({v.first(captured), v.last(1), v.subspan(captured, carry)}));
    };
    api::LoopBody known = loop;
    known.program = ops::staged(step, types);
    const Array counts = lax::add(lax::iota(counter.dtype, {length}, 0), lax::full_int(begin, counter.dtype, {length}));
    return bind_steps(known, loop.carry, {lax::convert(counts, counter.dtype, counter.weak)}, length, false);
  }
  // (upper, captured, i, carry) -> (i + 1, carry)
  Types types = loop.program->input_types();
  const auto step = [&](std::span<const Array> v) {
    Arrays next = interp::interpret(*loop.program, v);
    const Array& i = v[captured];
    next.insert(next.begin(), lax::add(i, lax::full_int(1, counter.dtype, {}, counter.weak)));
    return next;
  };
  Types of_cond{core::type_of(end)};
  of_cond.insert(of_cond.end(), types.begin() + static_cast<std::ptrdiff_t>(captured), types.end());
  const auto test = [&](std::span<const Array> v) -> Arrays { return {lax::lt(v[1], v[0])}; };
  Arrays out = ops::bind_while({ops::staged(test, of_cond), ops::staged(step, types), 1, static_cast<i64>(captured)},
                               ops::joined({Arrays{end}, loop.captured, Arrays{first}, loop.carry}));
  out.erase(out.begin());
  return out;
}

Pieces cut_leaves(const TreeRef& xs, i64 size, Location where) {
  const core::At at(where);
  const api::TreeLeaves x = api::tree_leaves_of(xs, "xs");
  if (size < 1) api::fail<ShapeError>(cat("map: batch_size ", size, " is less than 1"));
  const i64 length = scan_length("map", x, std::nullopt);
  Pieces out{{}, {}, length / size, length % size};
  for (const Array& a : x.values) {
    out.whole.push_back(with_front(sliced(a, 0, length - out.left), out.count, size));
    out.rest.push_back(sliced(a, length - out.left, length));
  }
  return out;
}
Arrays joined_leaves(const Arrays& whole, const Arrays& rest) {
  Arrays out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Array flat = without_front(whole[i]);
    out.push_back(rest.empty() ? flat : lax::concatenate(Arrays{flat, rest[i]}, 0));
  }
  return out;
}
}  // namespace detail

}  // namespace uni
