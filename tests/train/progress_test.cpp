// The progress line: plain lines into files, one rewritten line on a terminal, seldom enough.
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <unisono/train.hpp>

namespace {
using testing::MatchesRegex;
using uni::train::Progress;

template <class F>
std::string printed(F&& f) {
  testing::internal::CaptureStdout();
  f();
  return testing::internal::GetCapturedStdout();
}

TEST(Progress, PlainLinesOffATerminal) {
  const std::string out = printed([] {
    Progress progress("epoch 1/5", 3, 128, {.interval = 0});
    for (int step = 1; step <= 3; ++step) {
      usleep(2000);
      progress.step(step, 0.5 / step);
    }
    progress.finish();
  });
  EXPECT_THAT(out, MatchesRegex("epoch 1/5  step 1/3  loss 0.5000\n"
                                "epoch 1/5  step 2/3  loss 0.2500  [0-9]+ examples/s  ETA [0-9]+s\n"
                                "epoch 1/5  step 3/3  loss 0.1667  [0-9]+ examples/s  ETA 0s\n"));
}

TEST(Progress, PrintsSeldom) {
  EXPECT_EQ(printed([] {
              Progress progress("x", 100000, 1);
              for (int step = 1; step <= 100000; ++step) progress.step(step, 1);
            }),
            "");
  const std::string out = printed([] {
    Progress progress("x", 100, 1, {.interval = 0.02});
    for (int step = 1; step <= 100; ++step) {
      usleep(1000);
      progress.step(step, 1);
    }
  });
  const auto lines = std::count(out.begin(), out.end(), '\n');
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 50);
}

TEST(Progress, SpeedLeavesOutTheFirstStep) {
  Progress progress("x", 5, 10);
  usleep(300000);
  progress.step(1, 1);
  for (int step = 2; step <= 5; ++step) {
    usleep(1000);
    progress.step(step, 1);
  }
  EXPECT_GT(progress.finish(), 5 * 10 / 0.3);
}

TEST(Progress, SpeedOfASingleStep) {
  Progress progress("x", 1, 10);
  usleep(1000);
  progress.step(1, 1);
  const double rate = progress.finish();
  EXPECT_GT(rate, 0);
  EXPECT_LE(rate, 10 / 0.001);
}

TEST(Progress, OddNumbers) {
  const std::string out = printed([] {
    Progress progress("x", 2, 1, {.interval = 0});
    progress.step(1, std::nan(""));
    usleep(1000);
    progress.step(5, 1e308);
    progress.finish();
  });
  EXPECT_THAT(out,
              MatchesRegex("x  step 1/2  loss nan\nx  step 5/2  loss 1[0-9]+\\.0000  [0-9]+ examples/s  ETA 0s\n"));
  EXPECT_EQ(printed([] { EXPECT_EQ(Progress("x", 0, 1).finish(), 0.0); }), "");
}

TEST(Progress, RewritesOneLineOnATerminal) {
  int terminal = -1, slave = -1;
  ASSERT_EQ(openpty(&terminal, &slave, nullptr, nullptr, nullptr), 0);
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  dup2(slave, STDOUT_FILENO);
  {
    Progress progress("x", 2, 1, {.interval = 0});
    progress.step(1, 2);
    progress.finish();
  }
  {
    Progress left_by_an_exception("y", 2, 1, {.interval = 0});
    left_by_an_exception.step(1, 2);
  }
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  std::string text;
  for (pollfd ready{terminal, POLLIN, 0}; !text.ends_with('\n') && poll(&ready, 1, 5000) == 1;) {
    char piece[256];
    const ssize_t got = read(terminal, piece, sizeof piece);
    ASSERT_GT(got, 0);
    text.append(piece, static_cast<std::size_t>(got));
  }
  for (int fd : {terminal, slave, saved}) close(fd);
  EXPECT_EQ(text, "\rx  step 1/2  loss 2.0000\033[K\r\033[K\ry  step 1/2  loss 2.0000\033[K\r\n");
}
}  // namespace
