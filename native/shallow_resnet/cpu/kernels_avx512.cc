// The kernels for x86 processors with AVX-512 (foundation).
#include <cstddef>

#include "shallow_resnet/cpu/kernels.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx2,fma")
#endif

#define HYDRACONF_KERNELS avx512
#define HYDRACONF_ISA "avx512"
#define HYDRACONF_VECTOR_BYTES 64
// 16 sums of one register each, out of 32 registers.
#define HYDRACONF_PIXEL_TILE 16
#include "shallow_resnet/cpu/kernels.inl"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace hydraconf::cpu {

const Kernels* kernels_avx512() {
  // The compiler's run-time support also asks whether the system saves these registers.
  return __builtin_cpu_supports("avx512f") ? &avx512::kTable : nullptr;
}

}  // namespace hydraconf::cpu

#else

namespace hydraconf::cpu {

const Kernels* kernels_avx512() { return nullptr; }

}  // namespace hydraconf::cpu

#endif
