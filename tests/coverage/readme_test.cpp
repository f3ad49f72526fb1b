// Every block of C++ in the README is part of an example that is compiled.
#include <fstream>
#include <sstream>

namespace {
std::string read(const std::string& path) {
  std::ifstream file(std::string(UNISONO_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Readme, BlocksArePartOfTheExample) {
  const std::string readme = read("README.md"), example = read("examples/first_steps.cpp");
  const std::string open = "```cpp\n", close = "```";
  int blocks = 0;
  for (std::size_t at = readme.find(open); at != std::string::npos; at = readme.find(open, at)) {
    at += open.size();
    const std::size_t end = readme.find(close, at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_NE(example.find(readme.substr(at, end - at)), std::string::npos) << readme.substr(at, end - at);
    ++blocks;
    at = end + close.size();
  }
  EXPECT_EQ(blocks, 2);
}
}  // namespace
