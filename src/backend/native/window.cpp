// Windows: sums, maxima, and the choice of the first maximum.
#include <limits>
#include <memory>

#include "backend/native/pointwise_math.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
// Windows by rows: where windows do not reach along the innermost dimension (channels), a row of them is worked on at
// once, position by position of the window; else a row is a single window.
class WindowRows {
 public:
  WindowRows(const Dims& x, const Dims& windows, const ops::Window& w)
      : x_(x), windows_(windows), w_(w), step_(row_strides(x)), dims_(step_.size()) {
    const int last = x.rank() - 1;
    if (last >= 0 && w.size[last] == 1 && w.stride[last] == 1 && w.low[last] == 0 && windows[last] == x[last]) {
      --dims_;
      length = x[last];
    }
    rows = length ? windows.count() / length : 0;
    low_.resize(dims_);
    high_.resize(dims_);
    at_.resize(dims_);
  }
  i64 rows = 0, length = 1;  // windows per row

  // fn(first element) for the positions of row k's windows, padding left out.
  template <class Fn>
  void each(i64 k, const Fn& fn) {
    for (std::size_t d = dims_; d-- > 0;) {
      const int axis = static_cast<int>(d);
      const i64 first = k % windows_[axis] * w_.stride[axis] - w_.low[axis];
      k /= windows_[axis];
      low_[d] = std::max<i64>(0, first);
      high_[d] = std::min(x_[axis], first + w_.size[axis]);
      if (low_[d] >= high_[d]) return;
    }
    std::copy(low_.begin(), low_.end(), at_.begin());
    while (true) {
      i64 position = 0;
      for (std::size_t d = 0; d < dims_; ++d) position += at_[d] * step_[d];
      fn(position);
      std::size_t d = dims_;
      while (d > 0 && ++at_[d - 1] == high_[d - 1]) {
        --d;
        at_[d] = low_[d];
      }
      if (d == 0) return;
    }
  }

 private:
  const Dims &x_, &windows_;
  const ops::Window& w_;
  const std::vector<i64> step_;
  std::size_t dims_;
  std::vector<i64> low_, high_, at_;
};

template <class Init, class Join>
void window_reduce(const KernelArgs& k, const Init& init, const Join& join) {
  const auto& w = k.params.as<ops::Window>();
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    using W = Work<T>;
    if constexpr (std::is_invocable_v<Join, W, W>) {
      const WindowRows shape(k.in[0].shape(), k.out[0].shape(), w);
      chunked(shape.rows, shape.length * w.size.count() * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
        WindowRows walk(k.in[0].shape(), k.out[0].shape(), w);
        const std::unique_ptr<W[]> run(new W[static_cast<std::size_t>(walk.length)]);
        for (i64 row = begin; row < end; ++row) {
          std::fill_n(run.get(), walk.length, init(W{}));
          walk.each(row, [&](i64 at) {
            const T* x = k.in[0].as<T>() + at;
            for (i64 i = 0; i < walk.length; ++i) run[i] = join(run[i], static_cast<W>(x[i]));
          });
          T* y = k.out[0].as<T>() + row * walk.length;
          for (i64 i = 0; i < walk.length; ++i) y[i] = T(run[i]);
        }
      });
    }
  });
}
void window_sum(const KernelArgs& k) {
  window_reduce(
      k, []<class T>(T) { return T{}; },
      []<class T>(T a, T b) requires(!std::is_same_v<T, bool> && !std::is_same_v<T, KeyWords>) { return plus(a, b); });
}
void window_max(const KernelArgs& k) {
  window_reduce(
      k,
      []<class T>(T) {
        if constexpr (std::is_floating_point_v<T>)
          return -std::numeric_limits<T>::infinity();
        else
          return std::numeric_limits<T>::lowest();
      },
      []<class T>(T a, T b) requires(std::is_arithmetic_v<T>) { return max_of(a, b); });
}

// The first maximal position of each window, -1 for windows of padding only.
std::vector<i64> winners(const View& x, const Dims& windows, const ops::Window& w) {
  std::vector<i64> best(static_cast<std::size_t>(windows.count()), -1);
  dispatch(x.type->dtype, [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<Work<T>>) {
      using W = Work<T>;
      const WindowRows shape(x.shape(), windows, w);
      chunked(shape.rows, shape.length * w.size.count() * 8, [&](i64 begin, i64 end) {
        WindowRows walk(x.shape(), windows, w);
        const std::unique_ptr<W[]> most(new W[static_cast<std::size_t>(walk.length)]());
        for (i64 row = begin; row < end; ++row) {
          i64* b = best.data() + row * walk.length;
          bool first = true;
          walk.each(row, [&](i64 at) {
            const T* now = x.as<T>() + at;
            for (i64 i = 0; i < walk.length; ++i) {
              const W v = static_cast<W>(now[i]), old = most[i];
              const bool better = first || (old == old && (v != v || v > old));
              most[i] = better ? v : old;
              b[i] = better ? at + i : b[i];
            }
            first = false;
          });
        }
      });
    }
  });
  return best;
}
void window_gather(const KernelArgs& k) {
  const std::vector<i64> best = winners(k.in[1], k.out[0].shape(), k.params.as<ops::Window>());
  dispatch(k.out[0].type->dtype, [&]<class T>(T) {
    for (std::size_t o = 0; o < best.size(); ++o) k.out[0].as<T>()[o] = best[o] < 0 ? T{} : k.in[0].as<T>()[best[o]];
  });
}
void window_scatter(const KernelArgs& k) {
  const std::vector<i64> best = winners(k.in[1], k.in[0].shape(), k.params.as<ops::Window>());
  dispatch(k.out[0].type->dtype, [&]<class T>(T) {
    using W = Work<T>;
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, KeyWords>) {
      std::vector<W> wide;
      W* sums = nullptr;
      if constexpr (std::is_same_v<T, W>) {
        sums = k.out[0].as<T>();
        std::fill_n(sums, k.out[0].count(), W{});
      } else {
        wide.resize(static_cast<std::size_t>(k.out[0].count()), W{});
        sums = wide.data();
      }
      for (std::size_t o = 0; o < best.size(); ++o)
        if (best[o] >= 0) sums[best[o]] = plus(sums[best[o]], static_cast<W>(k.in[0].as<T>()[o]));
      if constexpr (!std::is_same_v<T, W>)
        for (i64 i = 0; i < k.out[0].count(); ++i) k.out[0].as<T>()[i] = T(sums[i]);
    }
  });
}

constexpr KernelEntry entries[] = {{&ops::reduce_window_sum, window_sum},
                                   {&ops::reduce_window_max, window_max},
                                   {&ops::window_gather_max, window_gather},
                                   {&ops::window_scatter_max, window_scatter}};
}  // namespace

std::span<const KernelEntry> window_kernels() { return entries; }

}  // namespace uni::native
