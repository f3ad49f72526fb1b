// Pieces for a training loop that stays the user's own: a progress line and a metrics file.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <unisono/dtype.hpp>

namespace uni::train {

// Seconds since some fixed moment, for measuring.
double seconds();

// A progress line with loss, examples per second and the time that is left. On a terminal one line is rewritten a few
// times a second; elsewhere a plain line is printed every few seconds. The first step compiles, so speed counts from
// its end on.
class Progress {
 public:
  struct Options {
    std::optional<double> interval = {};  // seconds between lines; by default 0.2 on a terminal and 5 elsewhere
  };
  Progress(std::string label, i64 steps, i64 examples_per_step);
  Progress(std::string label, i64 steps, i64 examples_per_step, const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // After step number `done` (1 .. steps).
  void step(i64 done, double loss);
  // Takes the line from the terminal; gives the mean examples per second.
  double finish();

 private:
  double steps_per_second(double now) const;
  std::string text(double loss, double now) const;
  std::string label_;
  i64 steps_, examples_per_step_, done_ = 0, first_ = 0;
  bool terminal_, open_ = false;
  double interval_, begin_, shown_;
};

// A file of JSON lines. Every line is written as a whole and flushed, so that a killed process loses at most the last.
class MetricsFile {
 public:
  struct Field {
    std::string_view name;
    double value;
  };
  // Empties or makes the file; with an empty path nothing is written. Throws ExecutionError when it cannot be opened.
  explicit MetricsFile(const std::string& path);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  // One line; numbers are written so that they read back exactly, NaN and infinities as null. Throws ExecutionError
  // when the file does not take it.
  void write(std::initializer_list<Field> fields);

 private:
  void* file_ = nullptr;
  std::string path_;
};

}  // namespace uni::train
