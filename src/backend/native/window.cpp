// Windows: sums, maxima, and the choice of the first maximum.
#include <limits>

#include "backend/native/pointwise_math.hpp"
#include "backend/native/walk.hpp"
#include "ops/contract.hpp"

namespace uni::native {

namespace {
// The positions in x that window number `k` covers, padding left out.
class WindowWalk {
 public:
  WindowWalk(const Dims& x, const Dims& windows, const ops::Window& w)
      : x_(x), windows_(windows), w_(w), step_(row_strides(x)), low_(step_.size()), high_(step_.size()), at_(step_.size()) {}
  template <class Fn>
  void each(i64 k, const Fn& fn) {
    for (std::size_t d = step_.size(); d-- > 0;) {
      const int axis = static_cast<int>(d);
      const i64 first = k % windows_[axis] * w_.stride[axis] - w_.low[axis];
      k /= windows_[axis];
      low_[d] = std::max<i64>(0, first);
      high_[d] = std::min(x_[axis], first + w_.size[axis]);
      if (low_[d] >= high_[d]) return;
    }
    at_ = low_;
    while (true) {
      i64 position = 0;
      for (std::size_t d = 0; d < step_.size(); ++d) position += at_[d] * step_[d];
      fn(position);
      std::size_t d = step_.size();
      while (d-- > 0) {
        if (++at_[d] < high_[d]) break;
        at_[d] = low_[d];
        if (d == 0) return;
      }
      if (step_.empty()) return;
    }
  }

 private:
  const Dims &x_, &windows_;
  const ops::Window& w_;
  const std::vector<i64> step_;
  std::vector<i64> low_, high_, at_;
};

template <class Init, class Join>
void window_reduce(const KernelArgs& k, const Init& init, const Join& join) {
  const auto& w = k.params.as<ops::Window>();
  dispatch(k.in[0].type->dtype, [&]<class T>(T) {
    using W = Work<T>;
    if constexpr (std::is_invocable_v<Join, W, W>) {
      chunked(k.out[0].count(), w.size.count() * static_cast<i64>(sizeof(T)), [&](i64 begin, i64 end) {
        WindowWalk walk(k.in[0].shape(), k.out[0].shape(), w);
        for (i64 o = begin; o < end; ++o) {
          W run = init(W{});
          walk.each(o, [&](i64 at) { run = join(run, static_cast<W>(k.in[0].as<T>()[at])); });
          k.out[0].as<T>()[o] = T(run);
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
      WindowWalk walk(x.shape(), windows, w);
      for (std::size_t o = 0; o < best.size(); ++o) {
        i64& b = best[o];
        walk.each(static_cast<i64>(o), [&](i64 at) {
          if (b < 0) {
            b = at;
            return;
          }
          const auto old = static_cast<Work<T>>(x.as<T>()[b]), now = static_cast<Work<T>>(x.as<T>()[at]);
          if (old == old && (now != now || now > old)) b = at;
        });
      }
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
      std::vector<W> sums(static_cast<std::size_t>(k.out[0].count()), W{});
      for (std::size_t o = 0; o < best.size(); ++o)
        if (best[o] >= 0) {
          W& s = sums[static_cast<std::size_t>(best[o])];
          s = plus(s, static_cast<W>(k.in[0].as<T>()[o]));
        }
      for (std::size_t i = 0; i < sums.size(); ++i) k.out[0].as<T>()[i] = T(sums[i]);
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
