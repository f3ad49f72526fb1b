// The loops of a kernel. Stack slots hold counters and accumulators; LLVM turns them into registers.
#include <algorithm>
#include <map>

#include "backend/codegen/loop.hpp"
#include "backend/codegen/maps.hpp"
#include "backend/codegen/memory.hpp"
#include "backend/codegen/pointwise.hpp"
#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::codegen {

using base::cat;

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Which columns a body works on: at `column`, so many lanes, all of them or those of a mask.
struct Body {
  std::string column;
  std::string mask;  // empty: all lanes
  int unroll = 0;    // which accumulator
  std::vector<Val> made;
};

class LoopEmitter {
 public:
  explicit LoopEmitter(const Loop& loop) : l_(loop), lanes_(choose_lanes()) { analyse(); }

  KernelText run() {
    std::string prologue;
    for (int a = 0; a < l_.arguments; ++a) {
      prologue += cat("  %q", a, " = getelementptr ptr, ptr %args, i64 ", a, "\n");
      prologue += cat("  %p", a, " = load ptr, ptr %q", a, "\n");
    }
    begin_folds();
    if (l_.flat()) {
      row();
    } else {
      counted("%r0", "%r1", 1, [&](const std::string& r) {
        row_index_ = r;
        row();
      });
    }
    end_folds();
    KernelText out;
    out.text = cat("(ptr %args, i64 %r0, i64 %r1, i64 %c0, i64 %c1, i64 %chunk) #0 {\nentry:\n", w_.entry, prologue,
                   "  br label %start\nstart:\n", w_.body, "  ret void\n}\n");
    for (const std::string& d : w_.declarations) out.declarations += d + "\n";
    return out;
  }

 private:
  // 64-byte vectors of the widest element on every processor, so that all of them add in the same order.
  int choose_lanes() const {
    int widest = 4;
    for (const Node& n : l_.nodes) widest = std::max(widest, std::min(8, static_cast<int>(itemsize(n.dtype))));
    return 64 / widest;
  }

  const Node& node(int n) const { return l_.nodes[at(n)]; }
  i64 column_stride(const Access& a) const { return a.strides.back(); }

  // ---- analysis: what varies along columns, in which pass a value is complete, what is kept between passes
  void analyse() {
    const std::size_t n = l_.nodes.size();
    by_row_.resize(n, false);
    level_.resize(n, 0);
    first_.resize(n, -1);
    scratch_.resize(n);
    scalars_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Node& x = l_.nodes[i];
      bool constant_in_row = x.kind != Node::Kind::load && x.kind != Node::Kind::iota;
      if (!constant_in_row) constant_in_row = column_stride(x.access) == 0;
      for (int k : x.in) {
        constant_in_row = constant_in_row && by_row_[at(k)];
        level_[i] = std::max(level_[i], level_[at(k)]);
      }
      if (x.kind == Node::Kind::reduce) {
        constant_in_row = true;
        ++level_[i];
      }
      by_row_[i] = constant_in_row;
      levels_ = std::max(levels_, level_[i]);
    }
    for (int level = 0; level <= levels_; ++level)
      for (int root : roots(level)) reach(root, level);
  }
  // What a pass computes along the columns.
  std::vector<int> roots(int level) const {
    std::vector<int> out;
    for (const Store& s : l_.stores)
      if (level_[at(s.node)] == level && !row_store(s)) out.push_back(s.node);
    for (const Fold& f : l_.folds)
      if (level_[at(f.node)] == level && f.per_column) out.push_back(f.node);
    for (std::size_t i = 0; i < l_.nodes.size(); ++i)
      if (l_.nodes[i].kind == Node::Kind::reduce && level_[i] == level + 1) out.push_back(l_.nodes[i].in[0]);
    return out;
  }
  // A value of one element per row. A value per row may also be stored along the columns.
  bool row_store(const Store& s) const { return by_row_[at(s.node)] && column_stride(s.access) == 0; }

  // Values that a later pass needs again are computed again when that is cheap, else kept in the row's scratch memory.
  void reach(int n, int level) {
    if (by_row_[at(n)] || node(n).kind == Node::Kind::load) return;
    if (first_[at(n)] >= 0 && first_[at(n)] < level) {
      if (!scratch_[at(n)].empty()) return;
      constexpr i64 room = 1 << 16;  // bytes of stack in all
      const i64 bytes = (l_.columns + lanes_) * 8;
      if (!l_.flat() && cost(n) > 6 && scratch_bytes_ + bytes <= room) {
        scratch_bytes_ += bytes;
        scratch_[at(n)] = w_.slot(*kind_of(node(n).dtype), 1, (l_.columns + lanes_ - 1) / lanes_ * lanes_);
        return;
      }
    }
    if (first_[at(n)] < 0) first_[at(n)] = level;
    for (int k : node(n).in) reach(k, level);
  }
  int cost(int n) const {
    if (by_row_[at(n)]) return 0;
    const Node& x = node(n);
    int sum = x.kind == Node::Kind::map ? (x.call.run ? 100 : cost_of(*x.op)) : 1;
    for (int k : x.in) sum += cost(k);
    return std::min(sum, 1000);
  }

  // ---- control flow
  template <class Fn>
  void counted(const std::string& begin, const std::string& end, i64 step, const Fn& fn) {
    codegen::counted(w_, begin, end, step, fn);
  }
  Val number(i64 v) { return w_.literal_bits(static_cast<std::uint64_t>(v), Kind::i64, 1); }
  Val named(const std::string& name, Kind kind = Kind::i64, int lanes = 1) { return {&w_, name, kind, lanes}; }

  // ---- rows
  void row() {
    // Positions along the row dimensions, the last one fastest.
    position_.assign(l_.rows.size(), number(0));
    if (!l_.flat() && !l_.rows.empty()) {
      Val rest = named(row_index_);
      for (std::size_t d = l_.rows.size(); d-- > 0;) {
        if (d == 0) {
          position_[0] = rest;
          break;
        }
        const Val size = number(l_.rows[d]);
        position_[d] = w_.value(Kind::i64, 1, cat("urem i64 ", rest.name, ", ", size.name));
        rest = w_.value(Kind::i64, 1, cat("udiv i64 ", rest.name, ", ", size.name));
      }
    }
    row_places_.clear();
    for (Val& v : scalars_) v = Val{};
    for (int level = 0; level <= levels_; ++level) {
      if (!roots(level).empty()) columns(level);
      finish_reductions(level + 1);
    }
    // As in `body`: all is read before anything is written.
    for (const Store& s : l_.stores)
      if (row_store(s)) scalar(s.node);
    for (const Fold& f : l_.folds)
      if (!f.per_column) scalar(f.node);
    for (const Store& s : l_.stores)
      if (row_store(s)) write(place(s.argument, s.access, node(s.node).dtype), scalar(s.node), node(s.node).dtype, "");
    for (std::size_t f = 0; f < l_.folds.size(); ++f)
      if (!l_.folds[f].per_column) {
        const Fold& fold = l_.folds[f];
        const Kind kind = *kind_of(node(fold.node).dtype);
        const std::string type = Writer::type(kind, 1);
        const Val sum = w_.value(kind, 1, cat("load ", type, ", ptr ", fold_slot_[f]));
        const Val next = combine(*fold.op, node(fold.node).dtype, sum, scalar(fold.node));
        w_.line(cat("store ", type, " ", next.name, ", ptr ", fold_slot_[f]));
      }
  }

  // offset + sum(position * stride) over the row dimensions
  Val row_offset(const Access& a) {
    const auto known =
        std::find_if(row_places_.begin(), row_places_.end(), [&](const auto& p) { return p.first == a; });
    if (known != row_places_.end()) return known->second;
    Val sum = number(a.offset);
    for (std::size_t d = 0; d < l_.rows.size(); ++d)
      if (a.strides[d] != 0) sum = sum + position_[d] * number(a.strides[d]);
    row_places_.emplace_back(a, sum);
    return sum;
  }
  std::string place(int argument, const Access& a, Dtype dtype) {
    return w_
        .value(Kind::i64, 1,
               cat("getelementptr ", memory_type(dtype), ", ptr %p", argument, ", i64 ", row_offset(a).name))
        .name;
  }

  // A value that is constant along the columns.
  Val scalar(int n) {
    if (!scalars_[at(n)].name.empty()) return scalars_[at(n)];
    const Node& x = node(n);
    Val v;
    switch (x.kind) {
      case Node::Kind::constant:
        v = literal(w_, x.value, x.dtype, 1);
        break;
      case Node::Kind::load:
        v = read(w_, place(x.argument, x.access, x.dtype), x.dtype, 1, "");
        break;
      case Node::Kind::iota:
        v = counter(row_offset(x.access), x.dtype);
        break;
      case Node::Kind::map: {
        std::vector<Val> in;
        for (int k : x.in) in.push_back(scalar(k));
        v = map(x, in);
        break;
      }
      case Node::Kind::reduce:
        throw InternalError("codegen: a reduction is used before its pass");
    }
    return scalars_[at(n)] = v;
  }
  Val map(const Node& x, const std::vector<Val>& in) {
    std::vector<Dtype> dtypes;
    for (int k : x.in) dtypes.push_back(node(k).dtype);
    return codegen::map({*x.op, *x.params, dtypes, x.dtype, x.call}, in);
  }

  // Lanes column, column + 1, ... times a stride, as vector of i64.
  Val lane_offsets(const std::string& column, i64 stride) {
    std::string lanes;
    for (int k = 0; k < lanes_; ++k) lanes += cat(k ? ", " : "<", "i64 ", k * stride);
    const Val first = named(column) * number(stride);
    return w_.splat(first, lanes_) + named(lanes + ">", Kind::i64, lanes_);
  }
  // ---- columns
  void columns(int level) {
    begin_reductions(level + 1);
    // What is constant along the row is prepared in front of the loop.
    bases_.clear();
    splats_.clear();
    prepared_ = level;
    for (int root : roots(level)) prepare(root, level);
    for (std::size_t s = 0; s < l_.stores.size(); ++s)
      if (in_pass(l_.stores[s], level))
        bases_[-1 - static_cast<int>(s)] =
            place(l_.stores[s].argument, l_.stores[s].access, node(l_.stores[s].node).dtype);
    if (l_.flat()) {
      const Val count = named("%c1") - named("%c0");
      const Val main = count & number(-lanes_);
      const Val end = named("%c0") + main;
      counted("%c0", end.name, lanes_, [&](const std::string& c) { body(level, {c, "", 0, {}}); });
      const Val rest = count - main;
      const std::string tail = w_.label(), done = w_.label();
      w_.branch(compare("sgt", rest, number(0)), tail, done);
      w_.begin(tail);
      const Val mask = compare("slt", lane_offsets("0", 1), w_.splat(rest, lanes_));
      body(level, {end.name, mask.name, 0, {}});
      w_.jump(done);
      w_.begin(done);
      return;
    }
    const i64 whole = l_.columns / lanes_ * lanes_, rest = l_.columns - whole;
    if (l_.has_row_reduction()) {
      const i64 unroll = whole >= 8 * lanes_ ? unroll_of(level) : 1;
      const i64 unrolled = whole / (unroll * lanes_) * unroll * lanes_;
      if (unrolled > 0)
        counted("0", cat(unrolled), unroll * lanes_, [&](const std::string& c) {
          for (int u = 0; u < unroll; ++u) body(level, {u ? (named(c) + number(u * lanes_)).name : c, "", u, {}});
        });
      if (whole > unrolled)
        counted(cat(unrolled), cat(whole), lanes_, [&](const std::string& c) { body(level, {c, "", 0, {}}); });
      if (rest) body(level, {cat(whole), first_lanes(rest), 0, {}});
      return;
    }
    if (whole > 0) {
      const Val end = rest ? w_.intrinsic("smin", Kind::i64, {named("%c1"), number(whole)}) : named("%c1");
      counted("%c0", end.name, lanes_, [&](const std::string& c) { body(level, {c, "", 0, {}}); });
    }
    if (rest == 0) return;
    const std::string tail = w_.label(), done = w_.label();
    w_.branch(compare("eq", named("%c1"), number(l_.columns)), tail, done);
    w_.begin(tail);
    body(level, {cat(whole), first_lanes(rest), 0, {}});
    w_.jump(done);
    w_.begin(done);
  }
  std::string first_lanes(i64 n) const {
    std::string mask;
    for (int k = 0; k < lanes_; ++k) mask += cat(k ? ", " : "<", "i1 ", k < n ? "true" : "false");
    return mask + ">";
  }
  bool in_pass(const Store& s, int level) const { return !row_store(s) && level_[at(s.node)] == level; }
  // Sums of little else wait for each other; several at once do not.
  i64 unroll_of(int level) const {
    int work = 0;
    for (int root : roots(level)) work += cost(root);
    return work <= 8 ? 4 : 1;
  }

  void prepare(int n, int level) {
    if (by_row_[at(n)]) {
      if (!splats_.contains(n)) splats_[n] = w_.splat(scalar(n), lanes_);
      return;
    }
    if (kept_before(n, level)) return;
    const Node& x = node(n);
    if (x.kind == Node::Kind::load && !bases_.contains(n)) bases_[n] = place(x.argument, x.access, x.dtype);
    if (x.kind == Node::Kind::iota) row_offset(x.access);
    for (int k : x.in) prepare(k, level);
  }
  bool kept_before(int n, int level) const { return !scratch_[at(n)].empty() && first_[at(n)] < level; }

  Val vector(int n, int level, Body& b) {
    if (by_row_[at(n)]) return splats_.at(n);
    if (!b.made[at(n)].name.empty()) return b.made[at(n)];
    const Node& x = node(n);
    const Kind kind = *kind_of(x.dtype);
    const auto scratch_place = [&] {
      return w_
          .value(Kind::i64, 1,
                 cat("getelementptr ", Writer::type(kind, 1), ", ptr ", scratch_[at(n)], ", i64 ", b.column))
          .name;
    };
    Val v;
    if (kept_before(n, level)) {
      v = w_.value(kind, lanes_, cat("load ", Writer::type(kind, lanes_), ", ptr ", scratch_place(), ", align 8"));
    } else if (x.kind == Node::Kind::load) {
      const i64 stride = column_stride(x.access);
      if (stride != 1) {
        v = gather(bases_.at(n), x.dtype, lane_offsets(b.column, stride), b.mask);
      } else {
        const Val p = w_.value(Kind::i64, 1,
                               cat("getelementptr ", memory_type(x.dtype), ", ptr ", bases_.at(n), ", i64 ", b.column));
        v = read(w_, p.name, x.dtype, lanes_, b.mask);
      }
    } else if (x.kind == Node::Kind::iota) {
      v = counter(w_.splat(row_offset(x.access), lanes_) + lane_offsets(b.column, column_stride(x.access)), x.dtype);
    } else {
      std::vector<Val> in;
      for (int k : x.in) in.push_back(vector(k, level, b));
      v = map(x, in);
    }
    if (!scratch_[at(n)].empty() && first_[at(n)] == level)
      w_.line(cat("store ", Writer::type(kind, lanes_), " ", v.name, ", ptr ", scratch_place(), ", align 8"));
    return b.made[at(n)] = v;
  }

  // Everything is read before anything is written: results may lie where operands lie.
  void body(int level, Body b) {
    b.made.resize(l_.nodes.size());
    for (int root : roots(level)) vector(root, level, b);
    for (std::size_t i = 0; i < l_.nodes.size(); ++i)
      if (l_.nodes[i].kind == Node::Kind::reduce && level_[i] == level + 1) accumulate(static_cast<int>(i), level, b);
    for (std::size_t f = 0; f < l_.folds.size(); ++f)
      if (l_.folds[f].per_column && level_[at(l_.folds[f].node)] == level) fold(f, level, b);
    for (std::size_t s = 0; s < l_.stores.size(); ++s) {
      const Store& store = l_.stores[s];
      if (!in_pass(store, level)) continue;
      const Dtype dtype = node(store.node).dtype;
      const Val p = w_.value(
          Kind::i64, 1,
          cat("getelementptr ", memory_type(dtype), ", ptr ", bases_.at(-1 - static_cast<int>(s)), ", i64 ", b.column));
      write(p.name, vector(store.node, level, b), dtype, b.mask, l_.stream && b.mask.empty());
    }
  }

  // ---- reductions along the columns
  static constexpr int most_unrolled = 4;
  void begin_reductions(int level) {
    for (std::size_t i = 0; i < l_.nodes.size(); ++i) {
      const Node& x = l_.nodes[i];
      if (x.kind != Node::Kind::reduce || level_[i] != level) continue;
      const Kind kind = *kind_of(x.dtype);
      auto& slots = sum_slots_[static_cast<int>(i)];
      for (int u = 0; u < most_unrolled; ++u) {
        if (static_cast<int>(slots.size()) <= u) slots.push_back(w_.slot(kind, lanes_));
        w_.line(cat("store ", Writer::type(kind, lanes_), " ", neutral(*x.op, x.dtype, w_, lanes_).name, ", ptr ",
                    slots[at(u)]));
      }
    }
  }
  Val masked(const Val& v, const ir::Op& op, Dtype dtype, const Body& b) {
    if (b.mask.empty()) return v;
    return select(named(b.mask, Kind::i1, lanes_), v, neutral(op, dtype, w_, lanes_));
  }
  void accumulate(int n, int level, Body& b) {
    const Node& x = node(n);
    const Kind kind = *kind_of(x.dtype);
    const std::string type = Writer::type(kind, lanes_), slot = sum_slots_.at(n)[at(b.unroll)];
    const Val v = masked(vector(x.in[0], level, b), *x.op, x.dtype, b);
    const Val sum = w_.value(kind, lanes_, cat("load ", type, ", ptr ", slot));
    w_.line(cat("store ", type, " ", combine(*x.op, x.dtype, sum, v).name, ", ptr ", slot));
  }
  void finish_reductions(int level) {
    for (std::size_t i = 0; i < l_.nodes.size(); ++i) {
      const Node& x = l_.nodes[i];
      if (x.kind != Node::Kind::reduce || level_[i] != level) continue;
      const Kind kind = *kind_of(x.dtype);
      std::vector<Val> parts;
      for (const std::string& slot : sum_slots_.at(static_cast<int>(i)))
        parts.push_back(w_.value(kind, lanes_, cat("load ", Writer::type(kind, lanes_), ", ptr ", slot)));
      const auto join = [&](const Val& a, const Val& b) { return combine(*x.op, x.dtype, a, b); };
      const Val all = join(join(parts[0], parts[1]), join(parts[2], parts[3]));
      scalars_[i] = rounded(across(all, *x.op, x.dtype), x.dtype);
    }
  }
  // ---- folds over the rows of a chunk
  void begin_folds() {
    for (const Fold& f : l_.folds) {
      const Dtype dtype = node(f.node).dtype;
      const Kind kind = *kind_of(dtype);
      if (!f.per_column) {
        fold_slot_.push_back(w_.slot(kind, 1));
        w_.line(
            cat("store ", Writer::type(kind, 1), " ", neutral(*f.op, dtype, w_, 1).name, ", ptr ", fold_slot_.back()));
        continue;
      }
      const Val first = named("%chunk") * number(l_.columns);
      fold_slot_.push_back(
          w_.value(Kind::i64, 1,
                   cat("getelementptr ", memory_type(dtype), ", ptr %p", f.argument, ", i64 ", first.name))
              .name);
      const std::string base = fold_slot_.back();
      counted(l_.has_row_reduction() ? "0" : "%c0", l_.has_row_reduction() ? cat(l_.columns) : "%c1", 1,
              [&](const std::string& c) {
                const Val p =
                    w_.value(Kind::i64, 1, cat("getelementptr ", memory_type(dtype), ", ptr ", base, ", i64 ", c));
                write(p.name, neutral(*f.op, dtype, w_, 1), dtype, "");
              });
    }
  }
  void fold(std::size_t f, int level, Body& b) {
    const Fold& x = l_.folds[f];
    const Dtype dtype = node(x.node).dtype;
    const Val p =
        w_.value(Kind::i64, 1, cat("getelementptr ", memory_type(dtype), ", ptr ", fold_slot_[f], ", i64 ", b.column));
    const Val sum = read(w_, p.name, dtype, lanes_, b.mask);
    write(p.name, combine(*x.op, dtype, sum, vector(x.node, level, b)), dtype, b.mask);
  }
  void end_folds() {
    for (std::size_t f = 0; f < l_.folds.size(); ++f) {
      const Fold& x = l_.folds[f];
      if (x.per_column) continue;
      const Dtype dtype = node(x.node).dtype;
      const Kind kind = *kind_of(dtype);
      const Val sum = w_.value(kind, 1, cat("load ", Writer::type(kind, 1), ", ptr ", fold_slot_[f]));
      const Val p =
          w_.value(Kind::i64, 1, cat("getelementptr ", memory_type(dtype), ", ptr %p", x.argument, ", i64 %chunk"));
      write(p.name, sum, dtype, "");
    }
  }

  const Loop& l_;
  Writer w_;
  const int lanes_;
  std::vector<bool> by_row_;          // constant along the columns
  std::vector<int> level_, first_;    // pass in which a value can be complete; pass that computes it first
  std::vector<std::string> scratch_;  // a row of it, kept between passes
  i64 scratch_bytes_ = 0;
  int levels_ = 0, prepared_ = 0;
  std::string row_index_;
  std::vector<Val> position_, scalars_;
  std::vector<std::pair<Access, Val>> row_places_;
  std::map<int, std::string> bases_;  // of loads; of stores by -1 - index
  std::map<int, Val> splats_;
  std::map<int, std::vector<std::string>> sum_slots_;
  std::vector<std::string> fold_slot_;
};
}  // namespace

KernelText emit(const Loop& loop) { return LoopEmitter(loop).run(); }
bool can_emit(Dtype dtype) { return kind_of(dtype).has_value(); }
bool can_emit(const ir::Op& op, const ir::Params& params, std::span<const Dtype> in, Dtype out) {
  return find_emitter(op, params, in, out) != nullptr;
}

}  // namespace uni::codegen
