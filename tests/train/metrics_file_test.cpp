// JSON lines: numbers come back exactly, nothing waits in a buffer, errors say what and where.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include <unisono/error.hpp>
#include <unisono/train.hpp>

namespace {
using nlohmann::json;
using uni::train::MetricsFile;

class Metrics : public testing::Test {
 protected:
  ~Metrics() override { std::filesystem::remove(path_); }
  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    std::ifstream in(path_);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("unisono_metrics_" + std::to_string(getpid()))).string();
};

TEST_F(Metrics, NumbersReadBackExactly) {
  const double values[] = {
      0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 60000, 9007199254740993.0, std::numeric_limits<double>::max(), -2.5e-8};
  {
    MetricsFile file(path_);
    for (double v : values) file.write({{"step", 1}, {"value", v}});
  }
  const auto all = lines();
  ASSERT_EQ(all.size(), std::size(values));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(json::parse(all[i])["value"].get<double>(), values[i]) << all[i];
  EXPECT_EQ(all[0], R"({"step": 1, "value": 0.1})");
}

TEST_F(Metrics, WhatJsonCannotSayIsNull) {
  MetricsFile(path_).write({{"loss", std::nan("")}, {"bound", -INFINITY}});
  EXPECT_EQ(lines(), (std::vector<std::string>{R"({"loss": null, "bound": null})"}));
}

TEST_F(Metrics, NamesAreQuoted) {
  const std::string name = "a \"b\" \\ \n\t c \xc3\xa9";
  MetricsFile(path_).write({{name, 1}});
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(json::parse(lines()[0]), (json{{name, 1}}));
}

TEST_F(Metrics, EmptyLine) {
  MetricsFile(path_).write({});
  EXPECT_EQ(lines(), std::vector<std::string>{"{}"});
}

TEST_F(Metrics, AKilledProcessLosesNothingThatWasWritten) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    MetricsFile file(path_);
    for (int step = 0; step < 1000; ++step) file.write({{"step", static_cast<double>(step)}});
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto all = lines();
  ASSERT_EQ(all.size(), 1000u);
  EXPECT_EQ(json::parse(all.back())["step"], 999);
}

TEST_F(Metrics, AnEmptyPathWritesNothing) { EXPECT_NO_THROW(MetricsFile("").write({{"step", 1}})); }

TEST_F(Metrics, ErrorsSayWhatAndWhere) {
  const auto message = [](const std::string& path) {
    try {
      MetricsFile(path).write({{"step", 1}});
    } catch (const uni::ExecutionError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("/no/such/folder/m.jsonl"),
            "MetricsFile: cannot open the file: No such file or directory\n    in /no/such/folder/m.jsonl");
  EXPECT_EQ(message("/dev/full"), "MetricsFile: cannot write the file: No space left on device\n    in /dev/full");
}
}  // namespace
