// Pieces for a training loop that stays the user's own: a progress line and a metrics file.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <unisono/dtype.hpp>

namespace uni::train {

// Seconds since some fixed moment, for measuring.
double seconds();

// A progress line with loss, examples per second and the time that is left. On a terminal one line is rewritten a few
// times a second; elsewhere a plain line is printed every few seconds.
class Progress {
 public:
  Progress(std::string label, i64 steps, i64 examples_per_step);
  ~Progress();
  Progress(const Progress&) = delete;
  // After step number `done` (1 .. steps).
  void step(i64 done, double loss);
  // Ends the line; gives the mean examples per second since the start.
  double finish();

 private:
  std::string text(i64 done, double loss, double now) const;
  std::string label_;
  i64 steps_, examples_per_step_, done_ = 0;
  double begin_, shown_;
  bool terminal_, open_ = false;
};

// A file of JSON lines. Every line is written as a whole and flushed, so that a killed process loses at most the last.
class MetricsFile {
 public:
  struct Field {
    std::string_view name;
    double value;
  };
  // An empty path: nothing is written. Throws ExecutionError when the file cannot be opened.
  explicit MetricsFile(const std::string& path);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  // One line; numbers are written so that they read back exactly, NaN and infinities as null.
  void write(std::initializer_list<Field> fields);

 private:
  void* file_ = nullptr;
  std::string path_;
};

}  // namespace uni::train
