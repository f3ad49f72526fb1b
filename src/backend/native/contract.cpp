// Dot products and convolution over matrix products.
#include <memory>

#include "backend/native/gemm.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
template <class T>
inline constexpr bool by_blas = std::is_floating_point_v<T> || is_complex_like<T>;

// A buffer of plain elements that is not initialised.
template <class T>
struct Scratch {
  std::unique_ptr<T[]> data;
  explicit Scratch(i64 n) : data(new T[static_cast<std::size_t>(std::max<i64>(n, 1))]) {}
};

// One side of a dot product as [batch, rows, inner] or, transposed, [batch, inner, rows].
struct Side {
  const std::byte* data = nullptr;
  std::vector<std::byte> copy;
  i64 batch = 1, rows = 1, inner = 1;
  bool transposed = false;
};
bool consecutive(const std::vector<int>& dims, int first) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != first + static_cast<int>(i)) return false;
  return true;
}
Side side(const View& x, const std::vector<int>& batch, const std::vector<int>& contract) {
  Side s;
  std::vector<int> free;
  for (int d = 0; d < x.shape().rank(); ++d)
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contract.begin(), contract.end(), d) == contract.end())
      free.push_back(d);
  for (int d : batch) s.batch *= x.shape()[d];
  for (int d : contract) s.inner *= x.shape()[d];
  for (int d : free) s.rows *= x.shape()[d];
  const int b = static_cast<int>(batch.size()), f = static_cast<int>(free.size()),
            c = static_cast<int>(contract.size());
  s.data = x.data;
  if (consecutive(batch, 0) && consecutive(free, b) && consecutive(contract, b + f)) return s;
  if (consecutive(batch, 0) && consecutive(contract, b) && consecutive(free, b + c)) {
    s.transposed = true;
    return s;
  }
  const std::vector<i64> from = row_strides(x.shape());
  Dims shape;
  std::vector<i64> stride;
  for (const std::vector<int>* group : {&batch, static_cast<const std::vector<int>*>(&free), &contract})
    for (int d : *group) {
      shape.push_back(x.shape()[d]);
      stride.push_back(from[static_cast<std::size_t>(d)]);
    }
  s.copy.resize(static_cast<std::size_t>(x.type->bytes()));
  copy_strided(s.copy.data(), shape, x.data, 0, stride, itemsize(x.type->dtype));
  s.data = s.copy.data();
  return s;
}

// Tiles of equal size, about 256 by 256, at least four where the result is big enough. They depend on the sizes only.
struct Tiles {
  i64 rows, columns;
  Tiles(i64 m, i64 n, i64 batch) {
    i64 down = std::max<i64>(1, (m + 128) / 256), across = std::max<i64>(1, (n + 128) / 256);
    if (batch * down * across < 4) (n >= m ? across : down) = 4;
    rows = even(m, down);
    columns = even(n, across);
  }

 private:
  // Multiples of 16, the width of a vector of floats.
  static i64 even(i64 size, i64 parts) { return std::max<i64>(16, ((size + parts - 1) / parts + 15) / 16 * 16); }
};
template <class T>
void blas_dot(const Side& l, const Side& r, const T* a, const T* b, T* c) {
  const i64 m = l.rows, n = r.rows, k = l.inner;
  if (l.batch * m * n == 0) return;
  const Tiles t(m, n, l.batch);
  const i64 across = (n + t.columns - 1) / t.columns, down = (m + t.rows - 1) / t.rows;
  const auto job = [&](i64 j) {
    const i64 batch = j / (across * down), row = j / across % down * t.rows, column = j % across * t.columns;
    const T *lhs = a + batch * m * k, *rhs = b + batch * n * k;
    const Matrix A{l.transposed ? lhs + row : lhs + row * k, l.transposed ? m : k, l.transposed};
    const Matrix B{r.transposed ? rhs + column : rhs + column * k, r.transposed ? n : k, !r.transposed};
    gemm<T>(std::min(t.rows, m - row), std::min(t.columns, n - column), k, A, B, c + batch * m * n + row * n + column,
            n);
  };
  const i64 jobs = l.batch * across * down;
  if (2 * m * n * k * l.batch < (1 << 18)) {  // too little work to share
    for (i64 j = 0; j < jobs; ++j) job(j);
    return;
  }
  runtime::parallel_for(jobs, job);
}
// Integers: rows times columns, in order.
template <class T>
void plain_dot(const Side& l, const Side& r, const T* a, const T* b, T* c) {
  const i64 m = l.rows, n = r.rows, k = l.inner;
  for (i64 batch = 0; batch < l.batch; ++batch)
    for (i64 i = 0; i < m; ++i)
      for (i64 j = 0; j < n; ++j) {
        T sum{};
        for (i64 q = 0; q < k; ++q)
          sum = plus(sum, times(a[batch * m * k + (l.transposed ? q * m + i : i * k + q)],
                                b[batch * n * k + (r.transposed ? q * n + j : j * k + q)]));
        *c++ = sum;
      }
}
template <class T>
Scratch<float> widened(const std::byte* data, i64 n) {
  Scratch<float> out(n);
  const T* x = reinterpret_cast<const T*>(data);
  for (i64 i = 0; i < n; ++i) out.data[static_cast<std::size_t>(i)] = x[i];
  return out;
}
template <class T>
void narrow(const float* x, T* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = T(x[i]);
}

void dot(const KernelArgs& k) {
  const auto& p = k.params.as<ops::DotGeneral>();
  const Side l = side(k.in[0], p.lhs_batch, p.lhs_contract), r = side(k.in[1], p.rhs_batch, p.rhs_contract);
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (by_blas<T>) {
      blas_dot(l, r, reinterpret_cast<const T*>(l.data), reinterpret_cast<const T*>(r.data), k.out[0].as<T>());
    } else if constexpr (is_small_float<T>) {
      const Scratch<float> a = widened<T>(l.data, k.in[0].count()), b = widened<T>(r.data, k.in[1].count());
      const Scratch<float> c(k.out[0].count());
      blas_dot(l, r, a.data.get(), b.data.get(), c.data.get());
      narrow(c.data.get(), k.out[0].as<T>(), k.out[0].count());
    } else if constexpr (is_int_like<T>) {
      plain_dot(l, r, reinterpret_cast<const T*>(l.data), reinterpret_cast<const T*>(r.data), k.out[0].as<T>());
    }
  });
}

// ---- convolution: tiles of output positions are gathered into rows of a matrix (im2col) and multiplied by the kernel
struct ConvShape {
  const ops::Conv& p;
  const Dims &x, &w, &y;
  int spatial;
  i64 window, channels, features, groups, group_features, positions;
  ConvShape(const ops::Conv& params, const Dims& in, const Dims& kernel, const Dims& out)
      : p(params), x(in), w(kernel), y(out), spatial(in.rank() - 2) {
    window = Dims(w.begin(), w.begin() + spatial).count();
    channels = w[spatial];
    features = w[spatial + 1];
    groups = std::max(p.groups, p.batch_groups);
    group_features = features / groups;
    positions = Dims(y.begin(), y.end() - 1).count();
  }
};
// Fills one row: what output position `o` (of group g) sees, kernel position by kernel position.
template <class T>
class RowGather {
 public:
  RowGather(const ConvShape& s, const T* x)
      : s_(s),
        x_(x),
        stride_(row_strides(s.x)),
        last_(static_cast<std::size_t>(s.spatial) - 1),
        at_(static_cast<std::size_t>(s.spatial) + 1),
        kernel_(static_cast<std::size_t>(s.spatial)) {}

  // Rows of the output positions [begin, begin + n).
  void rows(i64 begin, i64 n, i64 g, T* out) {
    const i64 depth = s_.window * s_.channels;
    constexpr i64 few_channels = 8;
    if (s_.spatial == 0 || s_.channels >= few_channels || s_.p.input_dilation[s_.spatial - 1] != 1) {
      for (i64 i = 0; i < n; ++i) row(begin + i, g, out + i * depth);
      return;
    }
    const i64 length = s_.y[s_.spatial];
    for (i64 done = 0; done < n;) {
      const i64 run = std::min(n - done, length - (begin + done) % length);
      columns(begin + done, run, g, out + done * depth, depth);
      done += run;
    }
  }

 private:
  void start(i64 o, i64 g) {
    for (int d = s_.spatial; d >= 0; --d) {
      at_[static_cast<std::size_t>(d)] = o % s_.y[d];
      o /= s_.y[d];
    }
    const i64 image = s_.p.batch_groups > 1 ? g * s_.y[0] + at_[0] : at_[0];
    base_ = image * stride_[0] + (s_.p.groups > 1 ? g * s_.channels : 0);
    std::fill(kernel_.begin(), kernel_.end(), 0);
  }
  // The next kernel position in all dimensions but the innermost.
  void advance() {
    for (int d = s_.spatial - 2; d >= 0; --d) {
      if (++kernel_[static_cast<std::size_t>(d)] < s_.w[d]) return;
      kernel_[static_cast<std::size_t>(d)] = 0;
    }
  }
  void row(i64 o, i64 g, T* row) {
    start(o, g);
    if (s_.spatial == 0) return copy(base_, 1, row);
    const i64 width = s_.w[s_.spatial - 1];
    for (i64 k = 0; k < s_.window; k += width, row += width * s_.channels, advance()) line(row);
  }
  // A run of output positions along the innermost dimension, column by column: for few channels.
  void columns(i64 o, i64 run, i64 g, T* rows, i64 depth) {
    start(o, g);
    const int d = s_.spatial - 1;
    const i64 width = s_.w[d], c = s_.channels, stride = s_.p.stride[d], step = stride_[last_ + 1];
    const i64 start_at = at_[last_ + 1];
    for (i64 k = 0; k < s_.window; k += width, advance()) {
      const i64 from = line_start();
      for (i64 q = 0; q < width; ++q) {
        T* column = rows + (k + q) * c;
        const i64 first = start_at * stride + q * s_.p.kernel_dilation[d] - s_.p.low[d];
        for (i64 i = 0; i < run; ++i) {
          const i64 at = first + i * stride;
          const bool inside = from >= 0 && at >= 0 && at < s_.x[d + 1];
          const T* source = x_ + (inside ? from + at * step : 0);
          for (i64 j = 0; j < c; ++j) column[i * depth + j] = inside ? source[j] : T{};
        }
      }
    }
  }
  // Where a kernel position of one dimension reads, -1 for padding and gaps.
  i64 source(int d, i64 kernel) const {
    const i64 i =
        at_[static_cast<std::size_t>(d) + 1] * s_.p.stride[d] + kernel * s_.p.kernel_dilation[d] - s_.p.low[d];
    const i64 gap = s_.p.input_dilation[d];
    if (i < 0) return -1;
    if (gap == 1) return i < s_.x[d + 1] ? i : -1;
    return i % gap == 0 && i / gap < s_.x[d + 1] ? i / gap : -1;
  }
  void copy(i64 from, i64 positions, T* to) const {
    const i64 n = positions * s_.channels;
    if (n < 16) {
      for (i64 i = 0; i < n; ++i) to[i] = x_[from + i];
      return;
    }
    std::memcpy(static_cast<void*>(to), x_ + from, static_cast<std::size_t>(n) * sizeof(T));
  }
  // Where the current kernel position's line of x begins, -1 when it lies in the padding.
  i64 line_start() const {
    i64 from = base_;
    for (int d = 0; d + 1 < s_.spatial; ++d) {
      const i64 i = source(d, kernel_[static_cast<std::size_t>(d)]);
      if (i < 0) return -1;
      from += i * stride_[static_cast<std::size_t>(d) + 1];
    }
    return from;
  }
  // All kernel positions of the innermost dimension: neighbours in x unless something lies between them.
  void line(T* row) const {
    const int d = static_cast<int>(last_);
    const i64 width = s_.w[d], c = s_.channels;
    const i64 from = line_start();
    if (from < 0) {
      std::fill_n(row, width * c, T{});
      return;
    }
    const i64 step = stride_[last_ + 1];
    if (s_.p.input_dilation[d] == 1 && s_.p.kernel_dilation[d] == 1 && step == c) {
      const i64 first = at_[last_ + 1] * s_.p.stride[d] - s_.p.low[d];
      const i64 begin = std::clamp<i64>(-first, 0, width), end = std::clamp<i64>(s_.x[d + 1] - first, begin, width);
      std::fill_n(row, begin * c, T{});
      copy(from + (first + begin) * step, end - begin, row + begin * c);
      std::fill_n(row + end * c, (width - end) * c, T{});
      return;
    }
    for (i64 k = 0; k < width; ++k) {
      const i64 i = source(d, k);
      if (i < 0)
        std::fill_n(row + k * c, c, T{});
      else
        copy(from + i * step, 1, row + k * c);
    }
  }

  const ConvShape& s_;
  const T* x_;
  const std::vector<i64> stride_;
  const std::size_t last_;
  std::vector<i64> at_, kernel_;
  i64 base_ = 0;
};
template <class T>
void blas_conv(const ConvShape& s, const T* x, const T* w, T* y) {
  const i64 depth = s.window * s.channels;
  constexpr i64 tile_bytes = 1 << 19;
  const i64 tile = std::clamp<i64>(tile_bytes / std::max<i64>(1, depth * static_cast<i64>(sizeof(T))), 32, 1024);
  const i64 tiles = (s.positions + tile - 1) / tile;
  runtime::parallel_for(tiles * s.groups, [&](i64 job) {
    const i64 g = job / tiles, begin = job % tiles * tile, n = std::min(tile, s.positions - begin);
    const Scratch<T> rows(n * depth);
    RowGather<T> gather(s, x);
    gather.rows(begin, n, g, rows.data.get());
    gemm<T>(n, s.group_features, depth, {rows.data.get(), depth, false}, {w + g * s.group_features, s.features, false},
            y + begin * s.features + g * s.group_features, s.features);
  });
}
void conv(const KernelArgs& k) {
  const ConvShape s(k.params.as<ops::Conv>(), k.in[0].shape(), k.in[1].shape(), k.out[0].shape());
  if (k.out[0].count() == 0) return;
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    if constexpr (by_blas<T>) {
      blas_conv(s, k.in[0].as<T>(), k.in[1].as<T>(), k.out[0].as<T>());
    } else if constexpr (is_small_float<T>) {
      const Scratch<float> x = widened<T>(k.in[0].data, k.in[0].count()), w = widened<T>(k.in[1].data, k.in[1].count());
      const Scratch<float> y(k.out[0].count());
      blas_conv(s, x.data.get(), w.data.get(), y.data.get());
      narrow(y.data.get(), k.out[0].as<T>(), k.out[0].count());
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::dot_general, dot}, {&ops::conv, conv}};
}  // namespace

std::span<const KernelEntry> contract_kernels() { return entries; }

}  // namespace uni::native
