// The one thread pool of the process. Work is cut into chunks that callers and workers claim from one word; a caller
// waits only for chunks that were claimed, never for a thread that has not started.
#pragma once
#include <unisono/detail/handle.hpp>
#include <unisono/dtype.hpp>

namespace uni::runtime {

// Runs body(chunk) for chunks 0 .. chunks-1 and returns when all are done. The caller works too; a call from inside a
// chunk runs in the calling thread. An exception of a chunk is thrown again here, after all claimed chunks ended.
void parallel_for(i64 chunks, detail::FunctionRef<void(i64)> body);

// Threads that work at once, the caller included: what the affinity mask allows, or UNISONO_THREADS, or what was set.
int thread_count();
void set_thread_count(int count);

}  // namespace uni::runtime
