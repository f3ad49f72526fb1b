#include <set>

#include "base/text.hpp"
#include "ir/parser.hpp"
#include "ir/program.hpp"
#include <unisono/error.hpp>

namespace uni::ir {

static std::string var(Var v) { return "v" + std::to_string(v); }

// "v1: f32[2]". Programs that the verifier refused are printed too.
static void append_definition(std::string& out, const Program& p, Var v) {
  out += var(v) + ": ";
  if (v < 0 || static_cast<std::size_t>(v) >= p.types.size())
    out += "?";
  else
    append(out, p.types[static_cast<std::size_t>(v)]);
}

std::string print(const Program& p, const PrintOptions& options) {
  std::string out = "program(";
  for (Var v = 0; v < p.inputs; ++v) {
    if (v) out += ", ";
    append_definition(out, p, v);
  }
  out += ") {\n";
  for (const Eqn& e : p.eqns) {
    out += "  ";
    for (std::size_t i = 0; i < e.out.size(); ++i) {
      if (i) out += ", ";
      append_definition(out, p, e.out[i]);
    }
    out += base::cat(e.out.empty() ? "" : " ", "= ", e.op->name, e.params.text());
    out += '(';
    for (std::size_t i = 0; i < e.in.size(); ++i) out += base::cat(i ? ", " : "", var(e.in[i]));
    out += ')';
    if (options.locations && e.where.line()) {
      std::string_view file = e.where.file_name();
      out += base::cat("  // ", file.substr(file.rfind('/') + 1), ":", e.where.line());
    }
    out += '\n';
  }
  out += "  return";
  for (Var v : p.outputs) out += " " + var(v);
  return out + "\n}";
}

void Reader::skip() {
  while (at_ < text_.size()) {
    if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      break;
    }
  }
  token_ = at_;
}

bool Reader::accept(std::string_view token) {
  skip();
  if (text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

void Reader::expect(std::string_view token) {
  if (!accept(token)) fail_expecting(base::cat("\"", token, "\""));
}

void Reader::fail_expecting(std::string_view what) const {
  if (at_ == text_.size()) fail(base::cat("expected ", what, ", the text ends"));
  const std::string_view found = text_.substr(at_, 12);
  fail(base::cat("expected ", what, ", found \"", found.substr(0, found.find('\n')), "\""));
}

void Reader::enter_program() {
  constexpr int most = 200;
  if (++depth_ > most) fail(base::cat("programs are nested more than ", most, " deep"));
}

bool Reader::at_end() {
  skip();
  return at_ == text_.size();
}

static std::string_view take_while(std::string_view text, std::size_t& at, bool (*accept)(char)) {
  const std::size_t begin = at;
  while (at < text.size() && accept(text[at])) ++at;
  return text.substr(begin, at - begin);
}

std::string_view Reader::word() {
  skip();
  return take_while(text_, at_, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  });
}

std::string_view Reader::number() {
  skip();
  const std::string_view found = take_while(text_, at_, [](char c) {
    return (c >= '0' && c <= '9') || std::string_view("-+.einfa").find(c) != std::string_view::npos;
  });
  if (found.empty()) fail_expecting("a number");
  return found;
}

std::string Reader::quoted() {
  expect("\"");
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\\') ++at_;
    if (at_ < text_.size()) out += text_[at_++];
  }
  expect("\"");
  return out;
}

void Reader::fail(const std::string& message) const {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < token_; ++i) {
    column = text_[i] == '\n' ? 1 : column + 1;
    line += text_[i] == '\n';
  }
  throw Error(base::cat("program text, line ", line, ", column ", column, ": ", message));
}

static Var read_var(Reader& in) {
  in.expect("v");
  int v = -1;
  read(in, v);
  return v;
}

static Var defined(Reader& in, const std::set<Var>& known, Var v) {
  if (!known.contains(v)) in.fail(base::cat("v", v, " is used before it is defined"));
  return v;
}

static void define(Reader& in, Program& p, std::set<Var>& known, Var v) {
  // A bound by what the text could define keeps short texts from taking much memory.
  if (v < 0 || static_cast<std::size_t>(v) > in.text_size())
    in.fail(base::cat("v", v, " is no variable of a text of ", in.text_size(), " characters"));
  if (!known.insert(v).second) in.fail(base::cat("v", v, " is defined twice"));
  if (p.types.size() <= static_cast<std::size_t>(v)) p.types.resize(static_cast<std::size_t>(v) + 1);
  in.expect(":");
  read(in, p.types[static_cast<std::size_t>(v)]);
}

static void read_eqn(Reader& in, Program& p, std::set<Var>& known) {
  Eqn e;
  while (!in.accept("=")) {
    if (!e.out.empty()) in.expect(",");
    const Var v = read_var(in);
    define(in, p, known, v);
    e.out.push_back(v);
  }
  const std::string_view name = in.word();
  e.op = in.find()(name);
  if (!e.op) in.fail(base::cat("unknown operation \"", name, "\""));
  e.params = e.op->read(in);
  in.expect("(");
  while (!in.accept(")")) {
    if (!e.in.empty()) in.expect(",");
    e.in.push_back(defined(in, known, read_var(in)));
  }
  p.eqns.push_back(std::move(e));
}

Program read_program(Reader& in) {
  Program p;
  std::set<Var> known;
  in.enter_program();
  in.expect("program(");
  while (!in.accept(")")) {
    if (p.inputs) in.expect(",");
    const Var v = read_var(in);
    if (v != p.inputs) in.fail(base::cat("input ", p.inputs, " is named v", v));
    define(in, p, known, v);
    ++p.inputs;
  }
  in.expect("{");
  while (!in.accept("return")) read_eqn(in, p, known);
  while (!in.accept("}")) p.outputs.push_back(defined(in, known, read_var(in)));
  in.leave_program();
  return p;
}

Program parse(std::string_view text, FindOp find) {
  Reader in(text, find);
  Program p = read_program(in);
  if (!in.at_end()) in.fail("text after the program's end");
  return p;
}

}  // namespace uni::ir
