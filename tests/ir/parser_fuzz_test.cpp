// Damaged text gives a program or a uni::Error, never anything else; so does verifying what was read.
#include <random>

#include "ir/programs.hpp"

namespace uni::testing_ir {

namespace {
// Whether the text was read as a program. Fails the test for an exception that is not the library's.
bool survives(const std::string& text) {
  try {
    const ir::Program p = parse(text);
    const std::string again = ir::print(p);
    EXPECT_EQ(reprinted(again), again);
    ir::verify(p);
    return true;
  } catch (const Error&) {
    return false;
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what() << "\n" << text;
    return false;
  }
}

TEST(ParserFuzz, TextCutAtEveryByte) {
  for (const Named& n : traced_programs()) {
    const std::string text = ir::print(*n.program);
    for (std::size_t length = 0; length < text.size(); ++length)
      EXPECT_FALSE(survives(text.substr(0, length))) << text.substr(0, length);
  }
}

TEST(ParserFuzz, ChangedBytes) {
  constexpr std::string_view likely = "0123456789-+.,:=#*\"\\(){}[] \nvfiube/Vnone";
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (const Named& n : traced_programs()) {
    const std::string text = ir::print(*n.program);
    int read = 0;
    for (int round = 0; round < 1500; ++round) {
      std::string changed = text;
      for (std::size_t k = below(3); k < 3; ++k) {
        const std::size_t at = below(changed.size());
        if (below(4) == 0)
          changed.erase(at, 1 + below(4));
        else if (below(4) == 0)
          changed.insert(at, text.substr(below(text.size()), 1 + below(20)));
        else
          changed[at] = below(3) == 0 ? static_cast<char>(below(256)) : likely[below(likely.size())];
      }
      read += survives(changed);
    }
    EXPECT_GT(read, 0) << n.name;
  }
}
}  // namespace

}  // namespace uni::testing_ir
