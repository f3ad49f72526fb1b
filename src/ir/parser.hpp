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
  std::string_view number();  // what a number may consist of; not empty
  std::string quoted();
  FindOp find() const { return find_; }
  std::size_t text_size() const { return text_.size(); }
  // Programs inside programs: limited, so that no text exhausts the stack.
  void enter_program();
  void leave_program() { --depth_; }
  // Throws Error with line and column of the last token.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void skip();
  [[noreturn]] void fail_expecting(std::string_view what) const;
  std::string_view text_;
  std::size_t at_ = 0, token_ = 0;
  int depth_ = 0;
  FindOp find_;
};

Program read_program(Reader& in);

}  // namespace uni::ir
