/* What libunisono_jit offers. A caller gets the table by the symbol unisono_jit. */
#ifndef UNISONO_JIT_INTERFACE_H
#define UNISONO_JIT_INTERFACE_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UNISONO_JIT_VERSION = 1 };

typedef struct UnisonoJit {
  int version;
  /* Compiles the text of an LLVM module for a processor ("x86-64-v3") with features ("+avx2,+fma") and loads it.
     The addresses of `count` named functions are written to `addresses`. Returns null, or what went wrong, to be freed
     with free_text. May be called from several threads at once. Code stays loaded until the process ends. */
  char* (*compile)(const char* text, size_t size, const char* cpu, const char* features, const char* const* names,
                   size_t count, void** addresses);
  void (*free_text)(char* text);
} UnisonoJit;

const UnisonoJit* unisono_jit(void);

#ifdef __cplusplus
}
#endif
#endif
