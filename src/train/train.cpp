#include <unisono/train.hpp>

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::train {

using base::cat;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {
constexpr double terminal_interval = 0.2, plain_interval = 5.0;

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
std::string clock_text(double left) {
  const i64 s = static_cast<i64>(std::ceil(left));
  return s >= 60 ? cat(s / 60, "m", s % 60 < 10 ? "0" : "", s % 60, "s") : cat(s, "s");
}
}  // namespace

Progress::Progress(std::string label, i64 steps, i64 examples_per_step)
    : label_(std::move(label)),
      steps_(steps),
      examples_per_step_(examples_per_step),
      begin_(seconds()),
      shown_(begin_),
      terminal_(isatty(STDOUT_FILENO) != 0) {}

Progress::~Progress() {
  if (open_) std::fputc('\n', stdout);
}

std::string Progress::text(i64 done, double loss, double now) const {
  const double rate = now > begin_ ? static_cast<double>(done) / (now - begin_) : 0.0;
  const double left = rate > 0 ? static_cast<double>(steps_ - done) / rate : 0.0;
  return cat(label_, "  step ", done, "/", steps_, "  loss ", fixed(loss, 4), "  ",
             fixed(rate * static_cast<double>(examples_per_step_), 0), " examples/s  ETA ", clock_text(left));
}

void Progress::step(i64 done, double loss) {
  done_ = done;
  const double now = seconds();
  if (now - shown_ < (terminal_ ? terminal_interval : plain_interval)) return;
  shown_ = now;
  if (terminal_) {
    std::fputs(cat("\r", text(done, loss, now), "\033[K").c_str(), stdout);
    open_ = true;
  } else {
    std::fputs(cat(text(done, loss, now), "\n").c_str(), stdout);
  }
  std::fflush(stdout);
}

double Progress::finish() {
  if (open_) std::fputs("\r\033[K", stdout);
  open_ = false;
  const double elapsed = seconds() - begin_;
  return elapsed > 0 ? static_cast<double>(done_ * examples_per_step_) / elapsed : 0.0;
}

MetricsFile::MetricsFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_ = std::fopen(path.c_str(), "w");
  if (!file_) throw ExecutionError(cat("metrics file ", path, " cannot be opened: ", std::strerror(errno)));
}

MetricsFile::~MetricsFile() {
  if (file_) std::fclose(static_cast<std::FILE*>(file_));
}

void MetricsFile::write(std::initializer_list<Field> fields) {
  if (!file_) return;
  std::string line = "{";
  for (const Field& f : fields) {
    line += cat(line.size() > 1 ? ", " : "", "\"", f.name, "\": ");
    if (std::isfinite(f.value))
      line += cat(f.value);
    else
      line += "null";
  }
  line += "}\n";
  auto* file = static_cast<std::FILE*>(file_);
  if (std::fwrite(line.data(), 1, line.size(), file) != line.size() || std::fflush(file) != 0)
    throw ExecutionError(cat("metrics file ", path_, " cannot be written: ", std::strerror(errno)));
}

}  // namespace uni::train
