// Text of a module -> object in memory -> loaded code, through LLVM's C interface.
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "jit/interface.h"

namespace {
struct Problem {
  std::string text;
};
void check(LLVMErrorRef error) {
  if (!error) return;
  char* message = LLVMGetErrorMessage(error);
  Problem problem{message};
  LLVMDisposeErrorMessage(message);
  throw problem;
}
[[noreturn]] void fail(char* message) {
  Problem problem{message ? message : "unknown problem"};
  LLVMDisposeMessage(message);
  throw problem;
}

template <class T, void (*Dispose)(T)>
class Owned {
 public:
  explicit Owned(T p) : p_(p) {}
  Owned(const Owned&) = delete;
  ~Owned() {
    if (p_) Dispose(p_);
  }
  T get() const { return p_; }
  T release() {
    T p = p_;
    p_ = nullptr;
    return p;
  }

 private:
  T p_;
};

std::once_flag started;
std::string triple;
LLVMOrcLLJITRef session = nullptr;
std::string start_problem;

void start() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  char* t = LLVMGetDefaultTargetTriple();
  triple = t;
  LLVMDisposeMessage(t);
  try {
    check(LLVMOrcCreateLLJIT(&session, nullptr));
    LLVMOrcDefinitionGeneratorRef process = nullptr;  // memset and the like
    check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(session), nullptr,
                                                               nullptr));
    LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(session), process);
  } catch (const Problem& p) {
    start_problem = p.text;
  }
}

using Context = Owned<LLVMContextRef, LLVMContextDispose>;
using Machine = Owned<LLVMTargetMachineRef, LLVMDisposeTargetMachine>;
using Module = Owned<LLVMModuleRef, LLVMDisposeModule>;

LLVMMemoryBufferRef object_of(const char* text, size_t size, const char* cpu, const char* features) {
  const Context context(LLVMContextCreate());
  char* message = nullptr;
  LLVMTargetRef target = nullptr;
  if (LLVMGetTargetFromTriple(triple.c_str(), &target, &message)) fail(message);
  const Machine machine(LLVMCreateTargetMachine(target, triple.c_str(), cpu, features, LLVMCodeGenLevelDefault,
                                                LLVMRelocPIC, LLVMCodeModelJITDefault));
  LLVMModuleRef parsed = nullptr;
  if (LLVMParseIRInContext(context.get(), LLVMCreateMemoryBufferWithMemoryRangeCopy(text, size, "kernels"), &parsed,
                           &message))
    fail(message);
  const Module module(parsed);
  const Owned<LLVMPassBuilderOptionsRef, LLVMDisposePassBuilderOptions> options(LLVMCreatePassBuilderOptions());
  check(LLVMRunPasses(module.get(), "function(early-cse)", machine.get(), options.get()));
  LLVMMemoryBufferRef object = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(), LLVMObjectFile, &message, &object))
    fail(message);
  return object;
}

char* compile(const char* text, size_t size, const char* cpu, const char* features, const char* const* names,
              size_t count, void** addresses) {
  try {
    std::call_once(started, start);
    if (!start_problem.empty()) throw Problem{start_problem};
    LLVMMemoryBufferRef object = object_of(text, size, cpu, features);
    check(LLVMOrcLLJITAddObjectFile(session, LLVMOrcLLJITGetMainJITDylib(session), object));
    for (size_t i = 0; i < count; ++i) {
      LLVMOrcExecutorAddress address = 0;
      check(LLVMOrcLLJITLookup(session, &address, names[i]));
      addresses[i] = reinterpret_cast<void*>(address);
    }
    return nullptr;
  } catch (const Problem& p) {
    return strdup(p.text.c_str());
  }
}
void free_text(char* text) { std::free(text); }

const UnisonoJit table = {UNISONO_JIT_VERSION, compile, free_text};
}  // namespace

extern "C" __attribute__((visibility("default"))) const UnisonoJit* unisono_jit(void) { return &table; }
