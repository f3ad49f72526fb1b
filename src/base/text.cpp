#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace uni::base {

void append(std::string& out, std::string_view text) { out.append(text); }

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append(std::string& out, const Dims& dims) {
  out += '(';
  for (int i = 0; i < dims.rank(); ++i) {
    if (i) out += ", ";
    append(out, static_cast<long long>(dims[i]));
  }
  if (dims.rank() == 1) out += ',';
  out += ')';
}

void append(std::string& out, double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

void append(std::string& out, long long value) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

void append(std::string& out, unsigned long long value) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, result.ptr);
}

std::string counted(std::size_t count, std::string_view noun) {
  if (count == 1) return cat("1 ", noun);
  if (noun.ends_with('y')) return cat(count, " ", noun.substr(0, noun.size() - 1), "ies");
  return cat(count, " ", noun, "s");
}

std::string listing(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i) out += i + 1 == items.size() ? " and " : ", ";
    out += items[i];
  }
  return out;
}

// Edit distance with transpositions of neighbours counted once.
static std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::size_t best = word.size() / 3 + 2;
  std::string found;
  for (const std::string& c : candidates) {
    const std::size_t d = distance(word, c);
    if (d < best && d < std::max(word.size(), c.size())) {
      best = d;
      found = c;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : cat("; did you mean \"", found, "\"?");
}

// "auto f(int)::<lambda(int)>" -> "f", "uni::Array Mlp::operator()(...)" -> "Mlp::operator()".
static std::string short_function(std::string_view name) {
  const std::size_t paren =
      name.find('(', name.find("operator()") == std::string_view::npos ? 0 : name.find("operator()") + 10);
  std::string_view head = name.substr(0, paren);
  if (head.starts_with("<lambda") || head.find("(anonymous class)") != std::string_view::npos) return "a lambda";
  const std::size_t space = head.rfind(' ');
  if (space != std::string_view::npos) head = head.substr(space + 1);
  while (!head.empty() && (head.front() == '*' || head.front() == '&')) head.remove_prefix(1);
  return std::string(head);
}

std::string at(const std::source_location& where) {
  if (where.line() == 0) return "";
  std::string_view file = where.file_name();
  const std::size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file = file.substr(slash + 1);
  const std::string function = short_function(where.function_name());
  return cat("\n    in ", function, function.empty() ? "" : " ", "(", file, ":", where.line(), ")");
}

std::string callable_name(std::string_view pretty) {
  const std::size_t at = pretty.find("F = ");
  const std::string_view text = at == std::string_view::npos ? pretty : pretty.substr(at + 4);
  std::size_t end = 0;
  for (int depth = 0; end < text.size(); ++end) {
    const char c = text[end];
    const bool opens = c == '(' || c == '<' || c == '[' || c == '{';
    const bool closes = c == ')' || c == '>' || c == ']' || c == '}';
    if (depth == 0 && (c == ';' || closes)) break;
    depth += static_cast<int>(opens) - static_cast<int>(closes);
  }
  return std::string(text.substr(0, std::min<std::size_t>(end, 80)));
}

}  // namespace uni::base
