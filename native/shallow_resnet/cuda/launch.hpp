// Starts a kernel: the one place where host code meets <<<...>>>.
#pragma once

#include <cuda_runtime.h>

#include "shallow_resnet/cuda/check.hpp"

namespace hydraconf::cuda {

/// Arguments are converted to the kernel's own parameter types. Nothing but the launch happens: what
/// runs inside a measured range must stay within what `ncu --replay-mode range` can capture.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  kernel<<<grid, block, 0, stream>>>(static_cast<Parameters>(arguments)...);
  HYDRACONF_CUDA_CHECK(cudaGetLastError());
}

}  // namespace hydraconf::cuda
