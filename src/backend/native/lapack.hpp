// The routines of LAPACK that kernels call, by element type. OpenBLAS carries them. Lengths of text arguments stand
// at the end, as Fortran compilers pass them.
#pragma once
#include <cstddef>

#include "backend/native/kernel.hpp"

#define UNISONO_LAPACK(letter, T)                                                                    \
  extern "C" {                                                                                       \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t); \
  }                                                                                                  \
  template <>                                                                                        \
  struct Lapack<T> {                                                                                 \
    static constexpr auto potrf = letter##potrf_;                                                    \
  };

namespace uni::native {

template <class T>
struct Lapack;
UNISONO_LAPACK(s, float)
UNISONO_LAPACK(d, double)
UNISONO_LAPACK(c, C64)
UNISONO_LAPACK(z, C128)

}  // namespace uni::native

#undef UNISONO_LAPACK
