// The routines of LAPACK that kernels call, by element type. OpenBLAS carries them. Lengths of text arguments stand
// at the end, as Fortran compilers pass them.
#pragma once
#include <cstddef>
#include <limits>

#include "backend/native/kernel.hpp"

extern "C" {
#define UNISONO_COMMON(letter, T)                                                                    \
  void letter##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, std::size_t); \
  void letter##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);     \
  void letter##gelqf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* size, int* info);
#define UNISONO_REAL(letter, T)                                                                                       \
  UNISONO_COMMON(letter, T)                                                                                           \
  void letter##orglq_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,          \
                      const int* size, int* info);                                                                    \
  void letter##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,           \
                      const int* size, int* integers, const int* integer_count, int* info, std::size_t, std::size_t); \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu,  \
                      T* vt, const int* ldvt, T* work, const int* size, int* integers, int* info, std::size_t);
#define UNISONO_COMPLEX(letter, T, R)                                                                                \
  UNISONO_COMMON(letter, T)                                                                                          \
  void letter##unglq_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,         \
                      const int* size, int* info);                                                                   \
  void letter##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,          \
                      const int* size, R* reals, const int* real_count, int* integers, const int* integer_count,     \
                      int* info, std::size_t, std::size_t);                                                          \
  void letter##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu, \
                      T* vt, const int* ldvt, T* work, const int* size, R* reals, int* integers, int* info,          \
                      std::size_t);
UNISONO_REAL(s, float)
UNISONO_REAL(d, double)
UNISONO_COMPLEX(c, uni::native::C64, float)
UNISONO_COMPLEX(z, uni::native::C128, double)
#undef UNISONO_COMMON
#undef UNISONO_REAL
#undef UNISONO_COMPLEX
}

namespace uni::native {

template <class T>
struct Lapack;
#define UNISONO_ROUTINES(T, R, letter, orthogonal, hermitian) \
  template <>                                                 \
  struct Lapack<T> {                                          \
    using Real = R;                                           \
    static constexpr auto potrf = letter##potrf_;             \
    static constexpr auto getrf = letter##getrf_;             \
    static constexpr auto gelqf = letter##gelqf_;             \
    static constexpr auto orglq = letter##orthogonal##glq_;   \
    static constexpr auto eigh = letter##hermitian##evd_;     \
    static constexpr auto gesdd = letter##gesdd_;             \
  };
UNISONO_ROUTINES(float, float, s, or, sy)
UNISONO_ROUTINES(double, double, d, or, sy)
UNISONO_ROUTINES(C64, float, c, un, he)
UNISONO_ROUTINES(C128, double, z, un, he)
#undef UNISONO_ROUTINES
template <class T>
using RealOf = typename Lapack<T>::Real;

// A size that LAPACK wrote as an element, rounded up: large ones are not exact in 32 bits.
template <class T>
int count_of(T size) {
  if constexpr (is_complex_like<T>)
    return count_of(size.re);
  else
    return static_cast<int>(size * (1 + 4 * std::numeric_limits<T>::epsilon())) + 1;
}

}  // namespace uni::native
