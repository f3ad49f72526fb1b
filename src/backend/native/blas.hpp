// How OpenBLAS is used: in the calling thread only, with kernels fit for the processor.
#pragma once

namespace uni::native {

// Before the first call of OpenBLAS; later calls cost nothing.
void set_up_blas();

}  // namespace uni::native
