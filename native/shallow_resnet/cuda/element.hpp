// Elements as they are stored on the GPU; kernels compute in float.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "shallow_resnet/backend.hpp"

namespace hydraconf::cuda {

__host__ __device__ inline float to_float(float value) { return value; }
__host__ __device__ inline float to_float(__half value) { return __half2float(value); }
__host__ __device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

/// Rounds to nearest, ties to even.
template <typename T>
__host__ __device__ inline T from_float(float value);
template <>
__host__ __device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__host__ __device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__host__ __device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// A NaN stays one, as in PyTorch: it must reach the logits, not disappear half way.
__host__ __device__ inline float relu_of(float value) { return value < 0.0F ? 0.0F : value; }

/// 16 bytes: the widest load of one thread.
template <typename T>
struct alignas(16) Pack {
  static constexpr unsigned kCount = 16 / sizeof(T);
  T values[kCount];
};

/// Calls `body` with a value of the element type that `type` names.
template <typename Body>
auto with_element(DataType type, const Body& body) {
  switch (type) {
    case DataType::float16: return body(__half{});
    case DataType::bfloat16: return body(__nv_bfloat16{});
    case DataType::float32: break;
  }
  return body(float{});
}

}  // namespace hydraconf::cuda
