#include "check.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/text.hpp"
#include "execute.hpp"
#include "noise.hpp"
#include "ops/list.hpp"
#include "ops/simplify.hpp"
#include "runtime/pool.hpp"
#include "spmd/localize.hpp"
#include <unisono/error.hpp>

namespace uni::random_programs {

namespace {
using base::cat;
using Finding = std::optional<std::string>;

std::string text(Number x, Dtype dtype) {
  std::ostringstream out;
  out.precision(17);
  out << x.real();
  if (is_complex(dtype)) out << (std::signbit(x.imag()) ? "" : "+") << x.imag() << "i";
  return out.str();
}

Finding check_text(const ir::Program& p) {
  const std::string printed = ir::print(p);
  const ir::Program parsed = ir::parse(printed, ops::find_op);
  if (ir::print(parsed) != printed) return "the program printed, parsed and printed again differs";
  if (ir::fingerprint(parsed) != ir::fingerprint(p)) return "the program printed and parsed has another fingerprint";
  ir::verify(parsed);
  return {};
}

Finding same_bits(const std::vector<Value>& a, const std::vector<Value>& b, const char* what) {
  for (std::size_t r = 0; r < a.size(); ++r)
    if (a[r] != b[r]) return cat("output ", r, ": ", what);
  return {};
}

// The results of undisturbed and disturbed runs of the reference backend.
class Expected {
 public:
  Expected(const runtime::LocalProgram& program, const Case& c, std::vector<Value> want)
      : program_(program), case_(c), want_(std::move(want)) {}

  void run(int times) {
    for (int k = 0; k < times; ++k)
      runs_.push_back(disturbed_run(program_, case_, Random(mix(case_.seed) + runs_.size())));
  }
  Finding compare(const std::vector<Value>& got, Tally* tally) const {
    for (std::size_t r = 0; r < got.size(); ++r) {
      i64 all = 0, open = 0;
      for (std::size_t d = 0; d < got[r].size(); ++d) {
        const Block &a = got[r][d], &b = want_[r][d];
        if (a.dtype != b.dtype || a.shape != b.shape) return cat("output ", r, " has another type");
        all += a.count();
        for (i64 i = 0; i < a.count(); ++i)
          if (Finding f = element(a.get(i), b.get(i), r, d, i, open)) return f;
      }
      if (tally) tally->outputs += 1;
      if (tally && all > 0) tally->open += static_cast<double>(open) / static_cast<double>(all);
    }
    return {};
  }

 private:
  static bool equal(long double a, long double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  }
  Finding element(Number got, Number want, std::size_t r, std::size_t d, i64 i, i64& opened) const {
    // Complex numbers are off as a whole, not part by part.
    bool moves = false, open = false;
    long double far = 0;
    for (const std::vector<Value>& run : runs_) {
      const Number other = run[r][d].get(i);
      for (const auto& [x, y] : {std::pair{other.real(), want.real()}, std::pair{other.imag(), want.imag()}}) {
        if (equal(x, y)) continue;
        moves = true;
        open = open || !std::isfinite(x) || !std::isfinite(y);
        if (!open) far = std::fmax(far, std::fabs(x - y));
      }
    }
    const Dtype dtype = want_[r][d].dtype;
    if (open || (moves && !is_inexact(dtype))) {
      ++opened;
      return {};
    }
    const auto fits = [&](long double x, long double y) {
      return equal(x, y) || (moves && std::fabs(x - y) <= 3 * far);
    };
    if (fits(got.real(), want.real()) && fits(got.imag(), want.imag())) return {};
    return cat("output ", r, " device ", d, " element ", i, ": native ", text(got, dtype), ", reference ",
               text(want, dtype), ", ",
               moves ? cat("at most ", text(3 * far, Dtype::f64), " off by rounding") : "exactly");
  }

  const runtime::LocalProgram& program_;
  const Case& case_;
  std::vector<Value> want_;
  std::vector<std::vector<Value>> runs_;
};

Finding check_native(const runtime::LocalProgram& local, const Case& c, const std::vector<Value>& want, Tally* tally) {
  setenv("UNISONO_COMPILE_FROM", std::to_string(c.compile_from).c_str(), 1);
  const auto executable = runtime::native_client().compile(local);
  const auto on = [&](int threads, bool donate) {
    runtime::set_thread_count(threads);
    return execute(*executable, local, c, donate);
  };
  const Execution one = on(1, false), two = on(2, false), donated = on(2, true);
  if (!one.kept || !two.kept || !donated.kept) return "the native backend changed an argument that was not donated";
  if (Finding f = same_bits(one.results, two.results, "1 and 2 threads give different bits")) return f;
  if (Finding f = same_bits(one.results, donated.results, "donated arguments change the bits")) return f;
  Expected expected(local, c, want);
  expected.run(5);
  if (!expected.compare(one.results, tally)) return {};
  // Rare movements show in more runs.
  expected.run(60);
  return expected.compare(one.results, nullptr);
}

Finding check_all(const Case& c, Tally* tally) {
  const ir::Program whole = whole_program(c);
  ir::verify(whole);
  if (Finding f = check_text(whole)) return f;
  const runtime::LocalProgram plain = spmd::localize(ops::inline_calls(whole));
  const runtime::LocalProgram local = spmd::localize(ops::simplify(whole));
  const auto by_reference = [&](const runtime::LocalProgram& p) {
    return execute(*runtime::reference_client().compile(p), p, c, false);
  };
  const Execution want = by_reference(plain), simplified = by_reference(local);
  if (!want.kept) return "the reference backend changed an argument";
  if (Finding f = same_bits(want.results, simplified.results, "the simplified program gives other bits")) return f;
  return check_native(local, c, want.results, tally);
}
}  // namespace

Finding finding(const Case& c, Tally* tally) {
  try {
    return check_all(c, tally);
  } catch (const std::exception& e) {
    return cat("throws ", e.what());
  }
}

std::string describe(const Case& c) {
  std::ostringstream out;
  out << "seed " << c.seed << ", compiled from " << c.compile_from << " elements\n"
      << ir::print(whole_program(c)) << "\n";
  for (std::size_t i = 0; i < c.args.size(); ++i)
    for (std::size_t d = 0; d < (c.split[i] ? c.args[i].size() : 1); ++d) {
      const Block& b = c.args[i][d];
      out << "argument " << i << " device " << d << (c.donate[i] ? " (donated)" : "") << ":";
      for (i64 k = 0; k < std::min<i64>(b.count(), 12); ++k) out << " " << text(b.get(k), b.dtype);
      out << (b.count() > 12 ? " ...\n" : "\n");
    }
  return out.str();
}

}  // namespace uni::random_programs
