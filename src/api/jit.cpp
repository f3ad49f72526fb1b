#include <unisono/jit.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "base/thread_instance.hpp"
#include "interp/stage.hpp"
#include "ops/call.hpp"
#include "spmd/launch.hpp"
#include <unisono/error.hpp>

namespace uni::detail {

using base::cat;

namespace {
std::atomic<i64> traces{0}, launches{0};

bool check_every_trace() {
  static const bool on = [] {
    const char* text = std::getenv("UNISONO_CHECK_TRACE");
    return text && std::string_view(text) == "1";
  }();
  return on;
}

void warn_once(std::atomic_flag& told, const std::string& text) {
  if (!told.test_and_set()) std::fputs(("unisono: " + text + "\n").c_str(), stderr);
}

struct Entry {
  ir::ProgramPtr program;  // inputs: defined leaves, then captured
  Arrays captured;
  std::vector<bool> defined;  // result leaves that hold something
  std::shared_ptr<const void> prototype;
  Handle<spmd::Launchable> launchable;  // made when first evaluated
  runtime::Client* client = nullptr;    // it was made for
};
using EntryPtr = std::shared_ptr<Entry>;

void append_raw(std::string& out, i64 value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

// Types of the leaves and the axes in scope: what a trace depends on beside structure and static values.
void append_types(std::span<Array* const> leaves, std::string& out) {
  for (const Array* a : leaves) {
    if (!a->defined()) continue;
    const ir::Type& t = core::type_of(*a);
    out += static_cast<char>(t.dtype);
    out += t.weak ? 'w' : 's';
    append_raw(out, t.shape.rank());
    for (i64 s : t.shape) append_raw(out, s);
    for (const std::string& v : t.varying) (out += v) += ',';
  }
  for (const core::Axis& a : core::axis_env()) {
    (out += a.name) += static_cast<char>('0' + static_cast<int>(a.kind));
    append_raw(out, a.size);
  }
}

// The addresses of arrays' nodes that stand in some bytes.
bool holds(const char* bytes, std::size_t size, const Node* node) {
  for (std::size_t at = 0; at + sizeof node <= size; at += sizeof node)
    if (std::memcmp(bytes + at, &node, sizeof node) == 0) return true;
  return false;
}

// Copies memory that may not be there: a pipe refuses it without a signal. The plain system call, as address checkers
// would stop a write() from memory that belongs to no object of ours.
class Probe {
 public:
  Probe() { ok_ = pipe2(ends_, O_NONBLOCK | O_CLOEXEC) == 0; }
  Probe(const Probe&) = delete;
  ~Probe() {
    if (!ok_) return;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  std::size_t read(const void* from, char* to, std::size_t size) {
    const long written = ok_ ? ::syscall(SYS_write, ends_[1], from, size) : -1;
    return written > 0 && ::read(ends_[0], to, static_cast<std::size_t>(written)) == written
               ? static_cast<std::size_t>(written)
               : 0;
  }

 private:
  int ends_[2] = {-1, -1};
  bool ok_ = false;
};

// Whether something that the callable's bytes point to holds the array: then it may be another one at the next call.
bool pointed_to(const Arrays& captured, const CallableInfo& callable) {
  constexpr std::uintptr_t lowest = 0x10000, highest = std::uintptr_t{1} << 47;
  Probe probe;
  const char* bytes = static_cast<const char*>(callable.object);
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= callable.bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const bool node = std::any_of(captured.begin(), captured.end(),
                                  [&](const Array& a) { return reinterpret_cast<std::uintptr_t>(a.node()) == word; });
    if (node || word < lowest || word >= highest || word % alignof(Array) != 0) continue;
    alignas(Array) char there[256];
    const std::size_t size = probe.read(reinterpret_cast<const void*>(word), there, sizeof there);
    for (const Array& a : captured)
      if (holds(there, size, a.node())) return true;
  }
  return false;
}

// Whether every captured array is held by the callable's own bytes, that is, by value, and by nothing it points to.
bool captured_by_value(const Arrays& captured, const CallableInfo& callable) {
  for (const Array& a : captured)
    if (!holds(static_cast<const char*>(callable.object), callable.bytes, a.node())) return false;
  return captured.empty() || !pointed_to(captured, callable);
}

bool holds_tracers(const Arrays& captured) {
  for (const Array& a : captured)
    if (a.node()->is_tracer) return true;
  return false;
}

}  // namespace

class JitCore {
 public:
  explicit JitCore(JitOptions options) : options_(std::move(options)) {}

  JitResult call(const JitCall& call) {
    std::vector<Array*> leaves;
    std::vector<std::uint8_t> donate;
    for (std::size_t i = 0; i < call.args.trees.size(); ++i) {
      collect_leaves(call.args.trees[i], leaves);
      // Inside another trace there is nothing to donate yet.
      const bool traced = std::any_of(leaves.begin(), leaves.end(),
                                      [](const Array* a) { return a->defined() && a->node()->is_tracer; });
      donate.resize(leaves.size(), donated(i) && !traced ? 1 : 0);
      if (donated(i) && !call.args.rvalues[i] && !traced)
        throw ExecutionError(
            cat("jit: args[", i, "] is to be donated and was passed as an lvalue\nfix: pass std::move(...)"));
    }
    check_donations(call.args.trees.size());
    std::string key;
    for (const TreeRef& t : call.args.trees) append_structure(t, key);
    const std::size_t structure = key.size();
    append_types(leaves, key);

    EntryPtr entry = find(key);
    if (entry && check_every_trace()) recheck(call, leaves, *entry);
    if (!entry) entry = trace(call, leaves, key, structure);
    return run(*entry, leaves, donate, call);
  }

 private:
  bool donated(std::size_t argument) const {
    for (const int d : options_.donate)
      if (d == static_cast<int>(argument)) return true;
    return false;
  }
  void check_donations(std::size_t count) const {
    for (const int d : options_.donate)
      if (d < 0 || d >= static_cast<int>(count))
        throw ExecutionError(
            cat("jit: donate names argument ", d, ", the call has ", base::counted(count, "argument")));
  }

  EntryPtr find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (last_ && key == last_key_) return last_;
    const auto it = cache_.find(key);
    if (it == cache_.end()) return nullptr;
    last_key_ = key;
    return last_ = it->second;
  }

  EntryPtr stage(const JitCall& call, std::span<Array* const> leaves) {
    auto entry = std::make_shared<Entry>();
    ir::Types types;
    for (const Array* a : leaves)
      if (a->defined()) types.push_back(core::type_of(*a));
    const auto body = [&](std::span<const Array> in) {
      Arrays all;
      std::size_t next = 0;
      for (const Array* a : leaves) all.push_back(a->defined() ? in[next++] : Array());
      Arrays results = call.function(all), out;
      for (const Array& r : results) {
        entry->defined.push_back(r.defined());
        if (r.defined()) out.push_back(r);
      }
      return out;
    };
    ++traces;
    interp::Staged staged = interp::stage(body, types);
    entry->program = std::move(staged.program);
    entry->captured = std::move(staged.captured);
    entry->prototype = call.prototype();
    return entry;
  }

  EntryPtr trace(const JitCall& call, std::span<Array* const> leaves, const std::string& key, std::size_t structure) {
    const Running running(this, key);
    EntryPtr entry = stage(call, leaves);
    if (holds_tracers(entry->captured)) return entry;
    if (!captured_by_value(entry->captured, call.callable)) {
      if (by_reference_.exchange(true))  // the first time nothing was lost
        warn_once(by_reference_told_,
                  cat(base::callable_name(call.callable.name),
                      " uses arrays that it does not hold by value (by reference, pointer, global or container); it is "
                      "traced at every call. Pass them as arguments to avoid that."));
      return entry;
    }
    const std::lock_guard lock(mutex_);
    if (++static_values_[key.substr(structure)] == max_static_values)
      warn_once(static_told_,
                cat("jit: ", base::callable_name(call.callable.name), " was traced for ", max_static_values,
                    " different static values with the same array types; pass what changes as an Array"));
    cache_.insert_or_assign(key, entry);
    last_key_ = key;
    last_ = entry;
    return entry;
  }

  // UNISONO_CHECK_TRACE=1: a hit must trace to the same program.
  void recheck(const JitCall& call, std::span<Array* const> leaves, const Entry& entry) {
    const EntryPtr again = stage(call, leaves);
    if (ir::fingerprint(*again->program) == ir::fingerprint(*entry.program)) return;
    throw TraceError(cat("jit: ", base::callable_name(call.callable.name),
                         " traces to another program than before with the same argument types: it depends on state "
                         "outside its arguments"));
  }

  JitResult run(Entry& entry, std::span<Array* const> leaves, std::span<const std::uint8_t> donate,
                const JitCall& call) {
    Arrays args;
    std::vector<std::uint8_t> donate_inputs;
    args.reserve(leaves.size() + entry.captured.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i]->defined()) continue;
      args.push_back(*leaves[i]);
      donate_inputs.push_back(donate[i]);
      if (donate[i] && leaves[i]->node()->use_count() > 2) report_shared(call, i);
    }
    args.insert(args.end(), entry.captured.begin(), entry.captured.end());
    donate_inputs.resize(args.size(), 0);
    Arrays results;
    if (core::evaluating()) {
      ++launches;
      results = launchable(entry)->run(std::move(args), donate_inputs, "\n    donated to a jit function before");
    } else {
      results = ops::bind_body(ops::call, *entry.program, std::move(args), ops::CallParams{entry.program, "jit"});
    }
    JitResult out;
    std::size_t next = 0;
    for (const bool d : entry.defined) out.leaves.push_back(d ? results[next++] : Array());
    out.prototype = entry.prototype;
    return out;
  }

  Handle<spmd::Launchable> launchable(Entry& entry) {
    runtime::Client& client = runtime::default_client();
    const std::lock_guard lock(mutex_);
    if (!entry.launchable || entry.client != &client) {
      entry.launchable = spmd::compile(*entry.program);
      entry.client = &client;
    }
    return entry.launchable;
  }

  void report_shared(const JitCall& call, std::size_t leaf) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < call.args.trees.size(); ++i)
      for (std::string& p : leaf_paths(call.args.trees[i], cat("args[", i, "]"))) paths.push_back(std::move(p));
    warn_once(donation_told_, cat("jit: ", paths[leaf], " is to be donated but another handle holds it; it is copied"));
  }

  // Guards against a function that calls its own jit with the same argument types while it is being traced.
  struct Running {
    Running(JitCore* core, const std::string& key) {
      for (const auto& [c, k] : stack())
        if (c == core && k == key)
          throw TraceError(
              "jit: a function calls itself with the same argument types while it is being traced\nfix: use a loop");
      if (stack().size() == deepest)
        throw TraceError(cat("jit: ", deepest, " traces of jitted functions inside each other\nfix: use a loop"));
      stack().emplace_back(core, key);
    }
    ~Running() { stack().pop_back(); }
    static std::vector<std::pair<JitCore*, std::string>>& stack() {
      return base::thread_instance<std::vector<std::pair<JitCore*, std::string>>>();
    }
  };

  static constexpr std::size_t deepest = 600;
  static constexpr int max_static_values = 8;
  const JitOptions options_;
  std::mutex mutex_;
  std::unordered_map<std::string, EntryPtr> cache_;
  std::unordered_map<std::string, int> static_values_;
  std::string last_key_;
  EntryPtr last_;
  std::atomic<bool> by_reference_{false};
  std::atomic_flag by_reference_told_, static_told_, donation_told_;
};

std::shared_ptr<JitCore> make_jit_core(JitOptions options) { return std::make_shared<JitCore>(std::move(options)); }
JitResult call_jit(JitCore& core, const JitCall& call) { return core.call(call); }

}  // namespace uni::detail

namespace uni {
JitStats jit_stats() { return {detail::traces, spmd::compile_count(), detail::launches}; }
}  // namespace uni
