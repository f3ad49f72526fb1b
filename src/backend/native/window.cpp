// Windows: sums, maxima, and the choice of the first maximum.
#include <limits>
#include <memory>

#include "backend/native/pointwise_math.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
// Windows by lines: all windows along the innermost dimension that they move in, times the elements behind it that they
// do not reach along (channels). Every position of the window then is a loop over neighbours.
class WindowLines {
 public:
  WindowLines(const Dims& x, const Dims& windows, const ops::Window& w)
      : x_(x), windows_(windows), w_(w), step_(row_strides(x)) {
    int axis = x.rank() - 1;
    if (axis >= 0 && w.size[axis] == 1 && w.stride[axis] == 1 && w.low[axis] == 0 && windows[axis] == x[axis])
      inner_ = x[axis--];
    if (axis >= 0) along_ = {x[axis], windows[axis], w.size[axis], w.stride[axis], w.low[axis]};
    outer_ = static_cast<std::size_t>(std::max(axis, 0));
    length = along_.windows * inner_;
    lines = length ? windows.count() / length : 0;
    low_.resize(outer_);
    high_.resize(outer_);
    at_.resize(outer_);
  }
  i64 lines = 0, length = 1;  // windows per line

  // fn(first element of x, first window of the line, how many) for what line k's windows see, position by position of
  // the window, padding left out.
  template <class Fn>
  void each(i64 k, const Fn& fn) {
    for (std::size_t d = outer_; d-- > 0;) {
      const int axis = static_cast<int>(d);
      const i64 first = k % windows_[axis] * w_.stride[axis] - w_.low[axis];
      k /= windows_[axis];
      low_[d] = std::max<i64>(0, first);
      high_[d] = std::min(x_[axis], first + w_.size[axis]);
      if (low_[d] >= high_[d]) return;
    }
    std::copy(low_.begin(), low_.end(), at_.begin());
    while (true) {
      i64 base = 0;
      for (std::size_t d = 0; d < outer_; ++d) base += at_[d] * step_[d];
      for (i64 shift = along_.first_shift(); shift < along_.last_shift(); ++shift) along(base, shift, fn);
      std::size_t d = outer_;
      while (d > 0 && ++at_[d - 1] == high_[d - 1]) {
        --d;
        at_[d] = low_[d];
      }
      if (d == 0) return;
    }
  }

 private:
  // Window o reads position o * stride + shift.
  template <class Fn>
  void along(i64 base, i64 shift, const Fn& fn) const {
    const i64 stride = along_.stride;
    const i64 begin = shift < 0 ? -shift / stride + (-shift % stride != 0) : 0;
    const i64 end = shift >= along_.x ? 0 : std::min(along_.windows, (along_.x - 1 - shift) / stride + 1);
    if (begin >= end) return;
    const i64 from = base + (begin * stride + shift) * inner_;
    if (stride == 1) return fn(from, begin * inner_, (end - begin) * inner_);
    for (i64 o = begin; o < end; ++o) fn(from + (o - begin) * stride * inner_, o * inner_, inner_);
  }

  struct Along {
    i64 x = 1, windows = 1, size = 1, stride = 1, low = 0;
    // Only these let a window meet an element; the size of the window may be far larger than x.
    i64 first_shift() const { return std::max(-low, -(windows - 1) * stride); }
    i64 last_shift() const { return std::min(size - low, x); }
  };
  const Dims &x_, &windows_;
  const ops::Window& w_;
  const std::vector<i64> step_;
  Along along_;
  i64 inner_ = 1;
  std::size_t outer_ = 0;
  std::vector<i64> low_, high_, at_;
};

// How many elements one window meets at most: its size may be as large as the padding allows.
i64 elements_met(const Dims& x, const ops::Window& w) {
  i64 count = 1;
  for (int d = 0; d < x.rank(); ++d) count *= std::min(x[d], w.size[d]);
  return count;
}

template <class Init, class Join>
void window_reduce(const KernelArgs& k, const Init& init, const Join& join) {
  const auto& w = k.params.as<ops::Window>();
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    using W = Work<T>;
    if constexpr (std::is_invocable_v<Join, W, W>) {
      const WindowLines shape(k.in[0].shape(), k.out[0].shape(), w);
      chunked(shape.lines, shape.length * elements_met(k.in[0].shape(), w) * static_cast<i64>(sizeof(T)),
              [&](i64 begin, i64 end) {
                WindowLines walk(k.in[0].shape(), k.out[0].shape(), w);
                const std::unique_ptr<W[]> run(new W[static_cast<std::size_t>(walk.length)]);
                for (i64 line = begin; line < end; ++line) {
                  std::fill_n(run.get(), walk.length, init(W{}));
                  walk.each(line, [&](i64 from, i64 to, i64 n) {
                    const T* x = k.in[0].as<T>() + from;
                    W* r = run.get() + to;
                    for (i64 i = 0; i < n; ++i) r[i] = join(r[i], static_cast<W>(x[i]));
                  });
                  T* y = k.out[0].as<T>() + line * walk.length;
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
      const WindowLines shape(x.shape(), windows, w);
      chunked(shape.lines, shape.length * elements_met(x.shape(), w) * 8, [&](i64 begin, i64 end) {
        WindowLines walk(x.shape(), windows, w);
        const std::unique_ptr<W[]> most(new W[static_cast<std::size_t>(walk.length)]());
        for (i64 line = begin; line < end; ++line) {
          i64* best_of_line = best.data() + line * walk.length;
          walk.each(line, [&](i64 from, i64 to, i64 n) {
            const T* now = x.as<T>() + from;
            W* m = most.get() + to;
            i64* b = best_of_line + to;
            for (i64 i = 0; i < n; ++i) {
              const W v = static_cast<W>(now[i]), old = m[i];
              const bool better = b[i] < 0 || (old == old && (v != v || v > old));
              m[i] = better ? v : old;
              b[i] = better ? from + i : b[i];
            }
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
