#include "ir/program.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/text.hpp"
#include <unisono/error.hpp>

namespace uni::ir {

static std::size_t index(Var v) { return static_cast<std::size_t>(v); }

Types Program::output_types() const {
  Types out;
  for (Var v : outputs) out.push_back(types[index(v)]);
  return out;
}

Effect effects(const Program& program) {
  Effect all = Effect::none;
  for (const Eqn& e : program.eqns) {
    all = all | e.op->traits.effect;
    for (const ProgramPtr& p : e.params.programs()) all = all | effects(*p);
  }
  return all;
}

static Effect effects_of(const Eqn& e) {
  Effect all = e.op->traits.effect;
  for (const ProgramPtr& p : e.params.programs()) all = all | effects(*p);
  return all;
}

namespace {
[[noreturn]] void invalid(const Program& p, const std::string& what) {
  throw InternalError(base::cat("invalid program: ", what, "\n", print(p, {.locations = true})));
}

void verify_eqn(const Program& p, const Eqn& e, std::vector<char>& known) {
  Types in;
  for (Var v : e.in) {
    if (v < 0 || index(v) >= p.types.size() || !known[index(v)])
      invalid(p, base::cat(e.op->name, " uses v", v, " before its definition"));
    in.push_back(p.types[index(v)]);
  }
  const Types out = infer(*e.op, in, e.params);
  if (out.size() != e.out.size())
    invalid(p, base::cat(e.op->name, " has ", e.out.size(), " results, its type rule gives ", out.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Var v = e.out[i];
    if (v < 0 || index(v) >= p.types.size() || known[index(v)])
      invalid(p, base::cat(e.op->name, " defines v", v, " again or out of range"));
    if (!(p.types[index(v)] == out[i]))
      invalid(p, base::cat(e.op->name, " gives ", to_string(out[i]), ", v", v, " is declared ",
                           to_string(p.types[index(v)])));
    known[index(v)] = 1;
  }
}
}  // namespace

void verify(const Program& p) {
  if (p.inputs < 0 || index(p.inputs) > p.types.size()) invalid(p, "more inputs than variables");
  std::vector<char> known(p.types.size(), 0);
  for (Var v = 0; v < p.inputs; ++v) known[index(v)] = 1;
  for (const Eqn& e : p.eqns) {
    for (const ProgramPtr& nested : e.params.programs()) verify(*nested);
    verify_eqn(p, e, known);
  }
  for (Var v : p.outputs)
    if (v < 0 || index(v) >= p.types.size() || !known[index(v)]) invalid(p, base::cat("output v", v, " is undefined"));
}

Program run_pass(std::string_view name, Program (*pass)(const Program&), const Program& program) {
  static const char* const printed = std::getenv("UNISONO_PRINT_PASSES");
  const bool show =
      printed && (std::string_view(printed) == "all" || std::string_view(printed).find(name) != std::string_view::npos);
  if (show) std::fputs(base::cat("before ", name, ":\n", print(program), "\n").c_str(), stderr);
  Program out = pass(program);
  if (show) std::fputs(base::cat("after ", name, ":\n", print(out), "\n").c_str(), stderr);
  try {
    verify(out);
  } catch (const Error& e) {
    throw InternalError(base::cat("pass ", name, ": ", e.what()));
  }
  return out;
}

Program compact(const Program& p) {
  Program out;
  std::vector<Var> renamed(p.types.size(), -1);
  out.inputs = p.inputs;
  for (Var v = 0; v < p.inputs; ++v) renamed[index(v)] = out.add(p.types[index(v)]);
  for (const Eqn& e : p.eqns) {
    Eqn copy = e;
    for (Var& v : copy.in) v = renamed[index(v)];
    for (Var& v : copy.out) {
      renamed[index(v)] = out.add(p.types[index(v)]);
      v = renamed[index(v)];
    }
    out.eqns.push_back(std::move(copy));
  }
  for (Var v : p.outputs) out.outputs.push_back(renamed[index(v)]);
  return out;
}

Program remove_dead_code(const Program& p) {
  std::vector<char> used(p.types.size(), 0);
  for (Var v : p.outputs) used[index(v)] = 1;
  std::vector<char> keep(p.eqns.size(), 0);
  for (std::size_t i = p.eqns.size(); i-- > 0;) {
    const Eqn& e = p.eqns[i];
    bool live = effects_of(e) != Effect::none;
    for (Var v : e.out) live = live || used[index(v)];
    if (!live) continue;
    keep[i] = 1;
    for (Var v : e.in) used[index(v)] = 1;
  }
  Program out = p;
  out.eqns.clear();
  for (std::size_t i = 0; i < p.eqns.size(); ++i)
    if (keep[i]) out.eqns.push_back(p.eqns[i]);
  return compact(out);
}

Program merge_common_subexpressions(const Program& p) {
  Program out = p;
  out.eqns.clear();
  std::vector<Var> same(p.types.size());
  for (std::size_t v = 0; v < same.size(); ++v) same[v] = static_cast<Var>(v);
  std::map<std::string, std::size_t> seen;  // text of op, operands and parameters -> equation
  for (const Eqn& e : p.eqns) {
    Eqn copy = e;
    std::string text(e.op->name);
    for (Var& v : copy.in) {
      v = same[index(v)];
      text += base::cat(" ", v);
    }
    text += e.params.text();
    const auto [it, fresh] = seen.try_emplace(text, out.eqns.size());
    if (fresh || effects_of(e) != Effect::none) {
      out.eqns.push_back(std::move(copy));
      continue;
    }
    for (std::size_t i = 0; i < e.out.size(); ++i) same[index(e.out[i])] = out.eqns[it->second].out[i];
  }
  for (Var& v : out.outputs) v = same[index(v)];
  return compact(out);
}

std::string fingerprint(const Program& program) {
  // Two runs of 64-bit FNV-1a with different starts over the canonical text.
  const std::string text = print(compact(program));
  std::string out;
  for (std::uint64_t hash : {14695981039346656037ull, 1099511628211ull * 31 + 7}) {
    for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(hash >> shift) & 15];
  }
  return out;
}

}  // namespace uni::ir
