// Sums over the threads of a warp or a block, in a fixed order: the same result every time.
#pragma once

#include "shallow_resnet/cuda/launch.hpp"

namespace hydraconf::cuda {

constexpr unsigned kWarp = 32;

/// The sum over the warp, in every lane. All lanes must call it.
__device__ inline float warp_sum(float value) {
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFFU, value, static_cast<int>(distance));
  return value;
}

/// The sum over a block of `kThreads` threads (a multiple of 32), in every thread. All must call it;
/// `scratch` holds one float per warp and is free again when it returns.
template <unsigned kThreads>
__device__ inline float block_sum(float value, float* scratch) {
  value = warp_sum(value);
  if (threadIdx.x % kWarp == 0) scratch[threadIdx.x / kWarp] = value;
  __syncthreads();
  float total = 0.0F;
  for (unsigned warp = 0; warp < kThreads / kWarp; ++warp) total += scratch[warp];
  __syncthreads();
  return total;
}

}  // namespace hydraconf::cuda
