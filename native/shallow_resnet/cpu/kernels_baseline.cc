// The kernels for the least processor of the target architecture: SSE2 on x86-64, NEON on arm64.
#include <cstddef>

#include "shallow_resnet/cpu/kernels.hpp"

#define HYDRACONF_KERNELS baseline
#define HYDRACONF_VECTOR_BYTES 16
#if defined(__aarch64__)
#define HYDRACONF_ISA "neon"
// 6 x 4 sums, 4 weights and the broadcast value: 29 of 32 registers.
#define HYDRACONF_PIXEL_TILE 6
#else
#define HYDRACONF_ISA "baseline"
// 2 x 4 sums, 4 weights, the broadcast value and a product: 14 of 16 registers.
#define HYDRACONF_PIXEL_TILE 2
#endif
#include "shallow_resnet/cpu/kernels.inl"

namespace hydraconf::cpu {

const Kernels* kernels_baseline() { return &baseline::kTable; }

}  // namespace hydraconf::cpu
