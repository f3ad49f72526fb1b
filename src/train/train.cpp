#include <unisono/train.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::train {

using base::cat;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

namespace {
constexpr const char* erase_rest = "\033[K";

std::string fixed(double value, int digits) {
  char text[400];  // the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string duration(double left) {
  const auto two_digits = [](i64 n) { return cat(n < 10 ? "0" : "", n); };
  const i64 s = static_cast<i64>(std::ceil(std::min(left, 1e9)));
  if (s < 60) return cat(s, "s");
  if (s < 3600) return cat(s / 60, "m", two_digits(s % 60), "s");
  return cat(s / 3600, "h", two_digits(s / 60 % 60), "m");
}

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

[[noreturn]] void fail(const char* verb, const std::string& path) {
  throw ExecutionError(cat("MetricsFile: cannot ", verb, " the file: ", std::strerror(errno), "\n    in ", path));
}
}  // namespace

Progress::Progress(std::string label, i64 steps, i64 examples_per_step)
    : Progress(std::move(label), steps, examples_per_step, Options{}) {}

Progress::Progress(std::string label, i64 steps, i64 examples_per_step, const Options& options)
    : label_(std::move(label)),
      steps_(steps),
      examples_per_step_(examples_per_step),
      terminal_(isatty(STDOUT_FILENO) != 0),
      interval_(options.interval.value_or(terminal_ ? 0.2 : 5.0)),
      begin_(seconds()),
      shown_(begin_) {}

Progress::~Progress() {
  if (open_) std::fputc('\n', stdout);
}

double Progress::steps_per_second(double now) const {
  return now > begin_ ? static_cast<double>(done_ - first_) / (now - begin_) : 0.0;
}

std::string Progress::text(double loss, double now) const {
  const double rate = steps_per_second(now);
  std::string out = cat(label_, "  step ", done_, "/", steps_, "  loss ", fixed(loss, 4));
  if (rate > 0)
    out += cat("  ", fixed(rate * static_cast<double>(examples_per_step_), 0), " examples/s  ETA ",
               duration(static_cast<double>(std::max<i64>(steps_ - done_, 0)) / rate));
  return out;
}

void Progress::step(i64 done, double loss) {
  const double now = seconds();
  if (done_ == 0 && done < steps_) {
    first_ = done;
    begin_ = now;
  }
  done_ = done;
  if (now - shown_ < interval_) return;
  shown_ = now;
  if (terminal_) {
    std::fputs(cat("\r", text(loss, now), erase_rest).c_str(), stdout);
    open_ = true;
  } else {
    std::fputs(cat(text(loss, now), "\n").c_str(), stdout);
  }
  std::fflush(stdout);
}

double Progress::finish() {
  if (open_) std::fputs(cat("\r", erase_rest).c_str(), stdout);
  open_ = false;
  return steps_per_second(seconds()) * static_cast<double>(examples_per_step_);
}

MetricsFile::MetricsFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_ = std::fopen(path.c_str(), "w");
  if (!file_) fail("open", path);
}

MetricsFile::~MetricsFile() {
  if (file_) std::fclose(static_cast<std::FILE*>(file_));
}

void MetricsFile::write(std::initializer_list<Field> fields) {
  if (!file_) return;
  std::string line = "{";
  for (const Field& f : fields) {
    line += cat(line.size() > 1 ? ", " : "", quoted(f.name), ": ");
    line += std::isfinite(f.value) ? cat(f.value) : "null";
  }
  line += "}\n";
  auto* file = static_cast<std::FILE*>(file_);
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0) fail("write", path_);
}

}  // namespace uni::train
