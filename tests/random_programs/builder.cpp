#include "builder.hpp"

#include <algorithm>
#include <cmath>

#include "execute.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/error.hpp>

namespace uni::random_programs {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
constexpr Dtype all_dtypes[] = {Dtype::f32, Dtype::f32, Dtype::f32,  Dtype::f32,  Dtype::f64, Dtype::f64,
                                Dtype::f16, Dtype::f16, Dtype::bf16, Dtype::bf16, Dtype::c64, Dtype::c128,
                                Dtype::i32, Dtype::i32, Dtype::i64,  Dtype::i8,   Dtype::i16, Dtype::u8,
                                Dtype::u16, Dtype::u32, Dtype::u64,  Dtype::b8,   Dtype::b8,  Dtype::key};

Mesh drawn_mesh(Random& random) {
  switch (random.number(0, 15)) {
    case 0:
      return Mesh({{"i", 2}}, {0, 1});
    case 1:
      return Mesh({{"i", 3}}, {0, 1, 2});
    case 2:
      return Mesh({{"i", 2}, {"j", 2}}, {0, 1, 2, 3});
    default:
      return Mesh({}, {0});
  }
}

// Mostly infinite, NaN or so large that what follows is, too.
bool says_little(const Value& value) {
  i64 all = 0, lost = 0;
  for (const Block& b : value) {
    if (!is_inexact(b.dtype)) return false;
    const long double bound = b.dtype == Dtype::f16 ? 500 : 1e5L;
    for (i64 i = 0; i < b.count(); ++i, ++all)
      if (const Number x = b.get(i); !(std::fabs(x.real()) < bound && std::fabs(x.imag()) < bound)) ++lost;
  }
  return lost * 4 > all;
}
}  // namespace

Builder::Builder(std::uint64_t seed) : random(seed) {
  case_.seed = seed;
  case_.mesh = drawn_mesh(random);
  large = random.chance(8);
  case_.compile_from = random.chance(60) ? 0 : i64{1} << 14;
  constexpr i64 small_sizes[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 13, 16, 17, 33, 67, 130},
                large_sizes[] = {64, 100, 129, 256, 301, 4097, 40000};
  // Few dtypes and sizes, so that much goes together.
  all_.assign(std::begin(all_dtypes), std::end(all_dtypes));
  if (random.chance(60))
    for (i64 n = random.number(1, 3); n > 0; --n) dtypes_.push_back(random.of(all_dtypes));
  const i64 different = random.number(1, 3);
  for (i64 k = 0; k < different; ++k) {
    i64 size = large ? random.of(large_sizes) : random.of(small_sizes);
    if (size == 0 && random.chance(50)) size = 6;
    sizes_.push_back(size);
  }
}

i64 Builder::size() { return random.chance(8) ? random.number(large ? 1 : 0, 4) : random.of(sizes_); }
Dims Builder::shape(int rank) {
  Dims out;
  const i64 most = large ? 200000 : 3000;
  for (int d = 0; d < rank; ++d) out.push_back(size());
  while (out.count() > most) out.erase(0);
  return out;
}
Dtype Builder::dtype() { return random.of(dtypes_.empty() || random.chance(5) ? all_ : dtypes_); }
std::vector<int> Builder::some_axes(int rank) {
  std::vector<int> out;
  for (int d = 0; d < rank; ++d)
    if (random.chance(50)) out.push_back(d);
  return out;
}
std::vector<int> Builder::permutation(int rank) {
  std::vector<int> out;
  for (int d = 0; d < rank; ++d) out.insert(out.begin() + random.number(0, d), d);
  return out;
}

ir::Var Builder::find(const std::function<bool(const ir::Type&)>& wanted) {
  std::vector<ir::Var> all;
  for (ir::Var v = 0; v < static_cast<ir::Var>(case_.body.types.size()); ++v)
    if (wanted(type(v))) all.push_back(v);
  if (all.empty()) return -1;
  const i64 last = static_cast<i64>(all.size()) - 1;
  return all[at(random.chance(60) ? std::max<i64>(0, last - random.number(0, 2)) : random.number(0, last))];
}
ir::Var Builder::any() {
  const ir::Var v = random.chance(15) ? -1 : find([](const ir::Type&) { return true; });
  return v >= 0 ? v : input(dtype(), shape(static_cast<int>(random.number(0, 4))));
}
ir::Var Builder::of(Dtype dtype, Dims shape) {
  if (random.chance(75))
    if (const ir::Var v = find([&](const ir::Type& t) { return t.dtype == dtype && t.shape == shape; }); v >= 0)
      return v;
  const ir::Var v = made(dtype, shape);
  return v >= 0 ? v : input(dtype, shape);
}
ir::Var Builder::made(Dtype dtype, Dims shape) {
  switch (random.number(0, 5)) {
    case 0: {  // a broadcast of what fits the last dimensions
      const auto fits = [&](const ir::Type& t) {
        if (t.dtype != dtype || t.shape.rank() > shape.rank() || t.shape == shape) return false;
        for (int d = 1; d <= t.shape.rank(); ++d)
          if (t.shape[-d] != 1 && t.shape[-d] != shape[-d]) return false;
        return true;
      };
      const ir::Var x = find(fits);
      if (x < 0) return -1;
      ops::BroadcastInDim p{shape, {}};
      for (int d = shape.rank() - type(x).shape.rank(); d < shape.rank(); ++d) p.dims.push_back(d);
      return add(ops::broadcast_in_dim, {x}, p);
    }
    case 1: {
      const ir::Var x = find([&](const ir::Type& t) { return t.shape == shape && t.dtype != dtype; });
      return x < 0 || dtype == Dtype::key || type(x).dtype == Dtype::key ? -1
                                                                         : add(ops::convert, {x}, ops::Convert{dtype});
    }
    case 2: {
      const ir::Scalar value = is_inexact(dtype)
                                   ? ir::Scalar::of_double(dtype, 0.25 * static_cast<double>(random.number(-9, 9)))
                                   : ir::Scalar::of_int(dtype, random.number(0, is_bool(dtype) ? 1 : 5));
      return add(ops::full, {}, ops::Full{value, shape, random.chance(10)});
    }
    case 3:
      if (shape.empty() || is_bool(dtype) || dtype == Dtype::key) return -1;
      return add(ops::iota, {}, ops::Iota{dtype, shape, static_cast<int>(random.number(0, shape.rank() - 1))});
    default:
      return -1;
  }
}
ir::Var Builder::input(Dtype dtype, Dims shape) {
  const ir::Var v = case_.body.add({dtype, shape, false, {}});
  inputs_.push_back(v);
  const bool split = mesh().device_count() > 1 && shape.rank() > 0 && random.chance(70);
  Value value;
  for (i64 d = 0; d < mesh().device_count(); ++d)
    value.push_back(split || d == 0 ? drawn(random, dtype, shape) : value[0]);
  values_.push_back(value);
  case_.args.push_back(std::move(value));
  case_.split.push_back(split);
  case_.donate.push_back(random.chance(30));
  return v;
}

bool Builder::accepts(const ir::Op& op, const ir::Types& in, const ir::Params& params) const {
  try {
    const i64 most = large ? 200000 : 3000;
    for (const ir::Type& t : ir::infer(op, in, params))
      if (t.count() > most || t.shape.rank() > 5) return false;
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}
ir::Var Builder::add(const ir::Op& op, const std::vector<ir::Var>& in, ir::Params params) {
  ir::Types types;
  for (ir::Var v : in) types.push_back(type(v));
  if (!accepts(op, types, params)) return -1;
  const std::size_t before = values_.size();
  const ir::Var first = append(op, in, std::move(params));
  if (std::none_of(values_.begin() + static_cast<i64>(before), values_.end(), says_little) || random.chance(5))
    return first;
  values_.resize(before);
  case_.body.types.resize(before);
  case_.body.eqns.pop_back();
  return -1;
}
ir::Var Builder::append(const ir::Op& op, const std::vector<ir::Var>& in, ir::Params params) {
  ir::Types types;
  std::vector<const Value*> operands;
  for (ir::Var v : in) {
    types.push_back(type(v));
    operands.push_back(&values_[at(v)]);
  }
  ir::Eqn e{&op, in, {}, std::move(params), {}};
  for (const ir::Type& t : ir::infer(op, types, e.params)) e.out.push_back(case_.body.add(t));
  for (Value& v : step(mesh(), e, case_.body, operands)) values_.push_back(std::move(v));
  case_.body.eqns.push_back(std::move(e));
  return case_.body.eqns.back().out[0];
}

// What nobody uses, and some of what is used. On several devices results have a dimension that they are split over.
void Builder::add_outputs() {
  std::vector<int> uses(case_.body.types.size(), 0);
  for (const ir::Eqn& e : case_.body.eqns)
    for (ir::Var v : e.in) ++uses[at(v)];
  std::vector<ir::Var>& out = case_.body.outputs;
  const auto count = static_cast<ir::Var>(uses.size());
  for (ir::Var v = 0; v < count; ++v)
    if (is_input(v)) uses[at(v)] = -1;
  for (ir::Var v = 0; v < count; ++v)
    if (uses[at(v)] >= 0 && random.chance(uses[at(v)] == 0 ? 90 : 15))
      out.insert(out.begin() + random.number(0, static_cast<i64>(out.size())), v);
  if (out.empty()) out.push_back(count - 1);
  if (random.chance(10)) out.push_back(out[0]);
  if (random.chance(10) && !inputs_.empty()) out.push_back(random.of(inputs_));
  if (mesh().device_count() == 1) return;
  for (ir::Var& v : out)
    if (type(v).shape.empty()) v = append(ops::reshape, {v}, ops::Reshape{{1}});
}
bool Builder::is_input(ir::Var v) const { return std::find(inputs_.begin(), inputs_.end(), v) != inputs_.end(); }
void Builder::inputs_first() {
  ir::Program& p = case_.body;
  std::vector<ir::Var> order = inputs_, renamed(p.types.size());
  for (ir::Var v = 0; v < static_cast<ir::Var>(p.types.size()); ++v)
    if (!is_input(v)) order.push_back(v);
  ir::Types types;
  for (ir::Var v : order) {
    renamed[at(v)] = static_cast<ir::Var>(types.size());
    types.push_back(p.types[at(v)]);
  }
  p.types = std::move(types);
  p.inputs = static_cast<int>(inputs_.size());
  for (ir::Eqn& e : p.eqns)
    for (std::vector<ir::Var>* vars : {&e.in, &e.out})
      for (ir::Var& v : *vars) v = renamed[at(v)];
  for (ir::Var& v : p.outputs) v = renamed[at(v)];
}
void Builder::add_calls() {
  i64 count = static_cast<i64>(equations());
  while (count > 0 && random.chance(35)) {
    const i64 begin = random.number(0, count - 1), end = random.number(begin + 1, count);
    case_.calls.emplace_back(at(begin), at(end));
    count -= end - begin - 1;
  }
}
Case Builder::finish() {
  if (case_.body.types.empty()) any();
  add_outputs();
  inputs_first();
  case_ = cleaned(case_);
  case_.calls.clear();
  add_calls();
  return std::move(case_);
}

namespace {
struct Family {
  const std::vector<Drawer>& (*drawers)();
  int weight;
};
const Drawer& drawn_row(Builder& b) {
  const Family families[] = {{elementwise_drawers, 48},
                             {structural_drawers, 24},
                             {contract_drawers, 22},
                             {random_drawers, 4},
                             {collective_drawers, b.mesh().device_count() > 1 ? 25 : 0}};
  int sum = 0;
  for (const Family& f : families) sum += f.weight;
  i64 n = b.random.number(0, sum - 1);
  for (const Family& f : families) {
    if (n < f.weight) return b.random.of(f.drawers());
    n -= f.weight;
  }
  return families[0].drawers()[0];
}
}  // namespace

Case drawn_case(std::uint64_t seed) {
  Builder b(seed);
  const auto wanted = static_cast<std::size_t>(b.random.number(1, b.large ? 10 : b.random.chance(30) ? 60 : 16));
  for (int attempt = 0; attempt < 300 && b.equations() < wanted; ++attempt) {
    const Drawer& d = drawn_row(b);
    d.draw(b, *d.op);
  }
  return b.finish();
}

}  // namespace uni::random_programs
