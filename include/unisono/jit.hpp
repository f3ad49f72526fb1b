// jit: trace once per argument types, compile, run.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include <unisono/detail/edge.hpp>

namespace uni {

struct JitOptions {
  // Arguments whose arrays may be overwritten; they must be passed as rvalues and are gone afterwards.
  std::vector<int> donate = {};
};

namespace detail {
// What the library knows of the object that a traced function is: its bytes are searched for captured arrays.
struct CallableInfo {
  const void* object = nullptr;
  std::size_t bytes = 0;
  const char* name = "";
};
struct JitCall {
  FlatArguments args;
  CallableInfo callable;
  FlatFunction function;
  // After tracing: the result's structure.
  FunctionRef<std::shared_ptr<const void>()> prototype;
};
struct JitResult {
  Arrays leaves;
  std::shared_ptr<const void> prototype;
};
class JitCore;
std::shared_ptr<JitCore> make_jit_core(JitOptions options);
JitResult call_jit(JitCore& core, const JitCall& call);

template <class F>
const char* callable_name() {
  return __PRETTY_FUNCTION__;
}
}  // namespace detail

// A jitted function. Copies share the cache of traces. Call it from several threads freely.
template <class F>
class Jitted {
 public:
  UNISONO_CALLABLE;
  Jitted(F f, JitOptions options) : f_(std::move(f)), core_(detail::make_jit_core(std::move(options))) {}

  template <class... A>
  auto operator()(A&&... args) const {
    using Tuple = detail::ArgumentTuple<F, A...>;
    using Store = detail::StoredTuple<F, A...>;
    using Adapter = detail::Adapter<F, Tuple, Store>;
    using R = typename Adapter::R;
    const Store own(std::forward<A>(args)...);  // rvalues move in, so that donation sees their only handles
    const auto refs = detail::argument_refs(own);
    static constexpr std::array<std::uint8_t, sizeof...(A)> rvalues{!std::is_lvalue_reference_v<A&&>...};
    Adapter adapter(f_, own);
    // Named, because the call only refers to it.
    const auto prototype = [&]() -> std::shared_ptr<const void> { return adapter.prototype(); };
    const detail::JitCall call{{refs, rvalues}, {&f_, sizeof(F), detail::callable_name<F>()}, adapter, prototype};
    const detail::JitResult result = detail::call_jit(*core_, call);
    return Adapter::rebuild_from(*static_cast<const R*>(result.prototype.get()), result.leaves);
  }
  const F& function() const { return f_; }

 private:
  F f_;
  std::shared_ptr<detail::JitCore> core_;
};
// Traces f at the first call with arguments of a kind, compiles it, and runs the compiled program from then on. Numbers
// are traced where f accepts an Array, other values that are no Arrays are static: a new value means a new trace.
template <class F>
Jitted<F> jit(F f, JitOptions options = {}) {
  return {std::move(f), std::move(options)};
}

// Numbers for tests and reports.
struct JitStats {
  i64 traces = 0;    // functions traced by jit, in the process
  i64 compiles = 0;  // programs compiled, not found in the process-wide cache
  i64 launches = 0;  // compiled programs run by jit
};
JitStats jit_stats();

}  // namespace uni
