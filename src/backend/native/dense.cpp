#include "backend/native/dense_store.hpp"

#include <algorithm>

#include "backend/codegen/target.hpp"
#include "backend/native/kernel.hpp"
#include "runtime/pool.hpp"

namespace uni::native {

namespace {
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
using Loops = Contraction::Loops;
using Stride = i64 ContractionLoop::*;

// Drops loops of one round, orders the others by falling strides, joins those that are one.
Loops tidy(Loops loops, Stride order, std::initializer_list<Stride> used) {
  std::erase_if(loops, [](const ContractionLoop& l) { return l.extent == 1; });
  std::stable_sort(loops.begin(), loops.end(), [&](const ContractionLoop& x, const ContractionLoop& y) {
    return std::abs(x.*order) > std::abs(y.*order);
  });
  for (std::size_t i = 1; i < loops.size();) {
    ContractionLoop &outer = loops[i - 1], inner = loops[i];
    const auto follows = [&](Stride s) { return outer.*s == inner.*s * inner.extent; };
    if (!std::all_of(used.begin(), used.end(), follows)) {
      ++i;
      continue;
    }
    inner.extent *= outer.extent;
    outer = inner;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return loops;
}
// Offsets of all indices of the loops.
Loops offsets(std::span<const ContractionLoop> loops) {
  Loops out{{}};
  for (const ContractionLoop& l : loops) {
    Loops next;
    for (const ContractionLoop& o : out)
      for (i64 i = 0; i < l.extent; ++i) next.push_back({1, o.a + i * l.a, o.b + i * l.b, o.c + i * l.c});
    out = std::move(next);
  }
  return out;
}
DenseAxis axis(const Loops& loops, Stride x, Stride y) {
  DenseAxis r;
  if (loops.empty()) return r;
  for (const ContractionLoop& l : loops) r.count *= l.extent;
  const ContractionLoop& inner = loops.back();
  r.run = inner.extent;
  r.x_step = inner.*x;
  r.y_step = inner.*y;
  r.starts.clear();
  for (const ContractionLoop& o : offsets({loops.data(), loops.size() - 1})) r.starts.push_back({o.*x, o.*y});
  return r;
}
// Whether all elements are neighbours by the second stride.
bool neighbours(const DenseAxis& axis) {
  if (axis.run > 1 && axis.y_step != 1) return false;
  for (std::size_t i = 0; i < axis.starts.size(); ++i)
    if (axis.starts[i].y != static_cast<i64>(i) * axis.run) return false;
  return true;
}
bool has_unit(const Loops& loops) {
  return std::any_of(loops.begin(), loops.end(), [](const ContractionLoop& l) { return l.extent > 1 && l.c == 1; });
}
bool is_f32_or_less(Dtype d) { return d == Dtype::f32 || d == Dtype::bf16 || d == Dtype::f16; }
}  // namespace

const DenseIsa* dense_isa() {
  static const DenseIsa* const isa = []() -> const DenseIsa* {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c"))
      return nullptr;
    return codegen::target().vector_bits == 512 ? &dense_avx512 : &dense_avx2;
  }();
  return isa;
}

Dense::Dense(Contraction c)
    : isa_(is_f32_or_less(c.dtype) ? dense_isa() : nullptr), dtype_(c.dtype), item_(itemsize(c.dtype)) {
  swapped_ = has_unit(c.m) && !has_unit(c.n);
  if (swapped_) {
    std::swap(c.m, c.n);
    std::swap(c.a_offset, c.b_offset);
    for (Loops* loops : {&c.batch, &c.m, &c.n, &c.k})
      for (ContractionLoop& l : *loops) std::swap(l.a, l.b);
  }
  a_offset_ = c.a_offset;
  b_offset_ = c.b_offset;
  using L = ContractionLoop;
  m_ = axis(tidy(c.m, &L::c, {&L::a, &L::c}), &L::a, &L::c);
  n_ = axis(tidy(c.n, &L::c, {&L::b, &L::c}), &L::b, &L::c);
  k_ = axis(tidy(c.k, &L::a, {&L::a, &L::b}), &L::a, &L::b);
  batch_ = offsets(c.batch);
  by_rows_ = m_.x_step != 1 || (k_.x_step == 1 && k_.run >= m_.run);
  in_place_ = isa_ && dtype_ == Dtype::f32 && neighbours(n_);
  choose_tiles();
}

// They depend on the sizes only.
void Dense::choose_tiles() {
  constexpr i64 most_rows = 256, most_columns = 512, enough_tiles = 4, part_k = 8 * DenseIsa::block_k, most_parts = 8;
  const i64 rows = std::max<i64>(1, m_.count), columns = std::max<i64>(1, n_.count);
  const i64 row_unit = isa_ ? isa_->rows : 1, column_unit = isa_ ? isa_->columns : 16;
  i64 down = std::max<i64>(1, (rows + most_rows / 2) / most_rows);
  i64 across = std::max<i64>(1, (columns + most_columns / 2) / most_columns);
  const bool few = static_cast<i64>(batch_.size()) * down * across < enough_tiles;
  // Long products of few results: tiles of fewer rows would read the operands again and again.
  if (few && isa_ && batch_.size() == 1 && rows * columns <= most_rows * most_rows)
    parts_ = std::clamp<i64>(k_.count / part_k, 1, most_parts);
  if (few && parts_ == 1) (columns / 2 >= rows ? across : down) = enough_tiles;
  const auto size = [](i64 n, i64 parts, i64 unit) { return ((n + parts - 1) / parts + unit - 1) / unit * unit; };
  tile_rows_ = size(rows, down, row_unit);
  tile_columns_ = size(columns, across, column_unit);
  down_ = (rows + tile_rows_ - 1) / tile_rows_;
  across_ = (columns + tile_columns_ - 1) / tile_columns_;
}

void Dense::run(const std::byte* a, const std::byte* b, std::byte* c, std::byte* scratch) const {
  if (swapped_) std::swap(a, b);
  const i64 batches = static_cast<i64>(batch_.size());
  if (m_.count * n_.count * batches == 0) return;
  if (k_.count == 0) return zero(c);
  auto* const partial = reinterpret_cast<float*>(scratch);
  const i64 part_k = (k_.count + parts_ - 1) / parts_;
  const auto job = [&](i64 job) {
    const i64 part = job % parts_, j = job / parts_;
    const ContractionLoop& z = batch_[at(j / (down_ * across_))];
    const i64 row = j / across_ % down_ * tile_rows_, column = j % across_ * tile_columns_;
    const Tile t{row,
                 std::min(tile_rows_, m_.count - row),
                 column,
                 std::min(tile_columns_, n_.count - column),
                 part * part_k,
                 std::min((part + 1) * part_k, k_.count),
                 a + (a_offset_ + z.a) * item_,
                 b + (b_offset_ + z.b) * item_,
                 c + z.c * item_,
                 parts_ == 1 ? nullptr : partial + part * m_.count * n_.count};
    isa_ ? float_tile(t) : other_tile(t);
  };
  const i64 jobs = batches * down_ * across_ * parts_;
  constexpr i64 too_little_to_share = 1 << 17;  // multiplications
  if (m_.count * n_.count * k_.count * batches < too_little_to_share) {
    for (i64 j = 0; j < jobs; ++j) job(j);
  } else {
    runtime::parallel_for(jobs, job);
  }
  if (parts_ > 1) add_parts(partial, c);
}

void Dense::add_parts(const float* partial, std::byte* c) const {
  const i64 all = m_.count * n_.count;
  runtime::parallel_for(down_, [&](i64 j) {
    const i64 first = j * tile_rows_, rows = std::min(tile_rows_, m_.count - first);
    std::vector<float> sums(at(rows * n_.count));
    std::vector<const float*> row(at(rows));
    for (i64 r = 0; r < rows; ++r) row[at(r)] = sums.data() + r * n_.count;
    for (i64 part = 0; part < parts_; ++part) {
      const float* x = partial + part * all + first * n_.count;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += x[i];
    }
    dispatch(dtype_, [&]<class T>(T) {
      if constexpr (std::is_same_v<T, float> || is_small_float<T>)
        store({first, rows, 0, n_.count, 0, 0, nullptr, nullptr, c, nullptr}, row.data(), reinterpret_cast<T*>(c));
    });
  });
}

void Dense::zero(std::byte* c) const {
  for (const ContractionLoop& z : batch_)
    m_.runs(0, m_.count, [&](i64, i64 rows, i64, i64 to_m) {
      n_.runs(0, n_.count, [&](i64, i64 columns, i64, i64 to_n) {
        for (i64 r = 0; r < rows; ++r)
          for (i64 q = 0; q < columns; ++q)
            std::memset(c + (z.c + to_m + r * m_.y_step + to_n + q * n_.y_step) * item_, 0, at(item_));
      });
    });
}

}  // namespace uni::native
