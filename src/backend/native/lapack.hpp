// The routines of LAPACK that kernels call, by element type. OpenBLAS carries them. Lengths of text arguments stand
// at the end, as Fortran compilers pass them.
#pragma once
#include <cstddef>

#include "backend/native/kernel.hpp"

extern "C" {
#define UNISONO_DECLARE(letter, T)                                                                   \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t); \
  void letter##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);     \
  void letter##gelqf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* size, int* info);
#define UNISONO_DECLARE_MAKER(name, T)                                                                              \
  void name(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work, const int* size, \
            int* info);

UNISONO_DECLARE(s, float)
UNISONO_DECLARE(d, double)
UNISONO_DECLARE(c, uni::native::C64)
UNISONO_DECLARE(z, uni::native::C128)
UNISONO_DECLARE_MAKER(sorglq_, float)
UNISONO_DECLARE_MAKER(dorglq_, double)
UNISONO_DECLARE_MAKER(cunglq_, uni::native::C64)
UNISONO_DECLARE_MAKER(zunglq_, uni::native::C128)
#undef UNISONO_DECLARE
#undef UNISONO_DECLARE_MAKER
}

namespace uni::native {

template <class T>
struct Lapack;
#define UNISONO_ROUTINES(T, letter, orthogonal)             \
  template <>                                               \
  struct Lapack<T> {                                        \
    static constexpr auto potrf = letter##potrf_;           \
    static constexpr auto getrf = letter##getrf_;           \
    static constexpr auto gelqf = letter##gelqf_;           \
    static constexpr auto orglq = letter##orthogonal##glq_; \
  };
UNISONO_ROUTINES(float, s, or)
UNISONO_ROUTINES(double, d, or)
UNISONO_ROUTINES(C64, c, un)
UNISONO_ROUTINES(C128, z, un)
#undef UNISONO_ROUTINES

}  // namespace uni::native
