// Powers, chains of products, the exponential, block diagonals.
#include <cmath>
#include <limits>

#include "api/fail.hpp"
#include "api/linalg_helpers.hpp"
#include "ops/axes.hpp"
#include "ops/contract.hpp"
#include "ops/elementwise.hpp"
#include "ops/structural.hpp"
#include <unisono/products.hpp>
#include <unisono/shaping.hpp>

namespace uni::linalg {

using namespace api;
using base::cat;

Array matrix_power(In x, i64 n) {
  const core::At at(x.where());
  Array square = square_operand("linalg::matrix_power", x);
  if (n < 0) square = inv(square);
  Array out;
  for (auto left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); left > 0; left >>= 1) {
    if (left & 1) out = out.defined() ? lax::batch_matmul(out, square) : square;
    if (left > 1) square = lax::batch_matmul(square, square);
  }
  return out.defined() ? out : lax::identity(square.dtype(), square.shape());
}

namespace {
// Where to cut each chain [first, last] so that it takes the fewest multiplications.
class Chain {
 public:
  explicit Chain(const Arrays& parts) : parts_(parts), cost_(parts.size() * parts.size(), 0), cut_(cost_.size(), 0) {
    const std::size_t n = parts.size();
    for (std::size_t length = 2; length <= n; ++length)
      for (std::size_t first = 0; first + length <= n; ++first) {
        const std::size_t end = first + length - 1;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t cut = first; cut < end; ++cut) {
          const double cost =
              cost_[first * n + cut] + cost_[(cut + 1) * n + end] + size(first, -2) * size(cut, -1) * size(end, -1);
          if (cost >= best) continue;
          best = cost;
          cut_[first * n + end] = cut;
        }
        cost_[first * n + end] = best;
      }
  }
  Array product(std::size_t first, std::size_t end) const {
    if (first == end) return parts_[first];
    const std::size_t cut = cut_[first * parts_.size() + end];
    return matmul(product(first, cut), product(cut + 1, end));
  }

 private:
  double size(std::size_t i, int axis) const { return static_cast<double>(parts_[i].shape(axis)); }
  const Arrays& parts_;
  std::vector<double> cost_;
  std::vector<std::size_t> cut_;
};

// Approximations to exp(a) = (v - u)^-1 (v + u) of the highest order that a dtype needs, good up to a 1-norm
// (Higham 2005). Coefficients by power.
struct Pade {
  double norm;
  std::vector<double> coefficients;
};
const Pade& pade(Dtype dtype) {
  static const Pade narrow{3.925724783138660, {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}};
  static const Pade wide{5.371920351148152,
                         {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
                          10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}};
  return real_part(dtype) == Dtype::f32 ? narrow : wide;
}
Array approximation(const Array& a, const std::vector<double>& coefficients) {
  const Array square = lax::batch_matmul(a, a);
  Array power = lax::identity(a.dtype(), a.shape()), u, v;
  for (std::size_t i = 0; i < coefficients.size(); i += 2) {
    if (i > 0) power = i == 2 ? square : lax::batch_matmul(power, square);
    const auto add = [&](const Array& sum, double c) {
      const Array term = lax::mul(power, lax::full_like(power, c));
      return sum.defined() ? lax::add(sum, term) : term;
    };
    v = add(v, coefficients[i]);
    u = add(u, coefficients[i + 1]);
  }
  u = lax::batch_matmul(a, u);
  return lax::solve(lax::sub(v, u), lax::add(v, u));
}
}  // namespace

Array multi_dot(const Arrays& parts, Location where) {
  const core::At at(where);
  if (parts.empty()) fail<ShapeError>("linalg::multi_dot: no matrices");
  Arrays chain = parts;
  const bool row = parts.front().rank() == 1, column = parts.size() > 1 && parts.back().rank() == 1;
  if (parts.size() > 1 && row) chain.front() = lax::expand_dims(parts.front(), 0);
  if (column) chain.back() = lax::expand_dims(parts.back(), 1);
  for (std::size_t i = 0; i < parts.size() && parts.size() > 1; ++i) {
    if (chain[i].rank() != 2)
      fail<ShapeError>(
          cat("linalg::multi_dot: part ", i, " is ", ir::to_string(core::type_of(parts[i])), ", not a matrix"));
    if (i > 0 && chain[i - 1].shape(1) != chain[i].shape(0))
      fail<ShapeError>(cat("linalg::multi_dot: parts ", i - 1, " and ", i, ", ",
                           ir::to_string(core::type_of(parts[i - 1])), " and ", ir::to_string(core::type_of(parts[i])),
                           ", do not fit"));
  }
  Array out = Chain(chain).product(0, chain.size() - 1);
  if (column) out = lax::squeeze(out, 1);
  return parts.size() > 1 && row ? lax::squeeze(out, 0) : out;
}

Array expm(In x) {
  const core::At at(x.where());
  Array a = square_operand("linalg::expm", x);
  if (a.size() == 0) return a;
  constexpr int most = 16;
  const Pade& p = pade(a.dtype());
  const Array norm = lax::stop_gradient(matrix_norm(a, {.ord = 1}));
  const auto beyond = [&](int halvings) {
    const Array large = lax::gt(norm, lax::full_like(norm, std::ldexp(p.norm, halvings)));
    return lax::broadcast_in_dim(large, a.shape(), ops::axis_range(0, norm.rank()));
  };
  for (int i = 0; i < most; ++i) a = lax::select(beyond(i), lax::mul(a, lax::full_like(a, 0.5)), a);
  Array out = approximation(a, p.coefficients);
  for (int i = 0; i < most; ++i) out = lax::select(beyond(i), lax::batch_matmul(out, out), out);
  return lax::select(beyond(most), lax::full_like(out, std::numeric_limits<double>::quiet_NaN()), out);
}

Array block_diag(const Arrays& parts, Location where) {
  const core::At at(where);
  if (parts.empty()) fail<ShapeError>("linalg::block_diag: no matrices");
  i64 columns = 0;
  Arrays blocks;
  for (const Array& part : parts) {
    if (part.rank() > 2)
      fail<ShapeError>(cat("linalg::block_diag: ", ir::to_string(core::type_of(part)), " has more than two axes"));
    blocks.push_back(part.rank() == 2 ? part : lax::reshape(part, {1, part.size()}));
    columns += blocks.back().shape(1);
  }
  i64 before = 0;
  for (Array& block : blocks) {
    const i64 own = block.shape(1);
    const Array zero = lax::full(0, block.dtype(), {});
    block = lax::pad(block, zero, {0, before}, {0, columns - before - own}, {0, 0});
    before += own;
  }
  return concatenate(blocks, {.axis = 0});
}

}  // namespace uni::linalg
