// The kernels for x86 processors with AVX2 and FMA.
#include <cstddef>

#include "shallow_resnet/cpu/kernels.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define HYDRACONF_KERNELS avx2
#define HYDRACONF_ISA "avx2"
#define HYDRACONF_VECTOR_BYTES 32
// 6 x 2 sums, 2 weights and the broadcast value: 15 of 16 registers.
#define HYDRACONF_PIXEL_TILE 6
#include "shallow_resnet/cpu/kernels.inl"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace hydraconf::cpu {

const Kernels* kernels_avx2() {
  // The compiler's run-time support also asks whether the system saves these registers.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2::kTable : nullptr;
}

}  // namespace hydraconf::cpu

#else

namespace hydraconf::cpu {

const Kernels* kernels_avx2() { return nullptr; }

}  // namespace hydraconf::cpu

#endif
