// Building messages: cat(...) joins anything that prints.
#pragma once
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <unisono/shape.hpp>

namespace uni::base {

void append(std::string& out, std::string_view text);
void append_quoted(std::string& out, std::string_view text);  // in double quotes, \" and \\ for such characters inside
void append(std::string& out, const Dims& dims);              // "(2, 3)"
void append(std::string& out, double value);                  // shortest text that reads back as the same value
void append(std::string& out, long long value);
void append(std::string& out, unsigned long long value);
template <class T>
requires std::is_arithmetic_v<T>
void append(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>)
    append(out, static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool>)
    append(out, std::string_view(value ? "true" : "false"));
  else if constexpr (std::is_same_v<T, char>)
    out.push_back(value);
  else if constexpr (std::is_signed_v<T>)
    append(out, static_cast<long long>(value));
  else
    append(out, static_cast<unsigned long long>(value));
}
inline void append(std::string& out, const char* text) { append(out, std::string_view(text)); }
inline void append(std::string& out, const std::string& text) { append(out, std::string_view(text)); }
inline void append(std::string& out, Dtype dtype) { append(out, name(dtype)); }

template <class... T>
std::string cat(const T&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}
// "1 argument", "2 arguments", "3 entries"
std::string counted(std::size_t count, std::string_view noun);
// "a, b and c"
std::string listing(const std::vector<std::string>& items);
// The candidate nearest to `word` when it is a likely misspelling, else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// "; did you mean "model"?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
// "\n    in loss (mnist.cpp:31)"; the function name is shortened to its unqualified name.
std::string at(const std::source_location& where);

// The type named F in a compiler's name of a function template, at most 80 characters.
std::string callable_name(std::string_view pretty_function);

}  // namespace uni::base
