// The reader of the text form. Tokens are matched in place; white space is skipped before each.
#pragma once
#include <string>
#include <string_view>

#include "ir/program.hpp"

namespace uni::ir {

class Reader {
 public:
  Reader(std::string_view text, FindOp find) : text_(text), find_(find) {}
  bool accept(std::string_view token);
  void expect(std::string_view token);
  bool at_end();
  std::string_view word();    // letters, digits, _ and .
  std::string_view number();  // what a number may consist of
  std::string quoted();
  FindOp find() const { return find_; }
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void skip();
  std::string_view text_;
  std::size_t at_ = 0;
  FindOp find_;
};

Program read_program(Reader& in);

}  // namespace uni::ir
