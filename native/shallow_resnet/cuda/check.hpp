// Every CUDA call goes through here: a failure becomes an InputError that says which call it was.
#pragma once

#include <cuda_runtime_api.h>

#define HYDRACONF_CUDA_CHECK(call) ::hydraconf::cuda::check((call), #call, __FILE__, __LINE__)
/// For destructors, which cannot throw: says on standard error what went wrong.
#define HYDRACONF_CUDA_WARN(call) ::hydraconf::cuda::warn((call), #call, __FILE__, __LINE__)

namespace hydraconf::cuda {

/// Throws InputError naming the call, its place and, where there is one, the remedy.
void check(cudaError_t status, const char* call, const char* file, int line);

void warn(cudaError_t status, const char* call, const char* file, int line) noexcept;

}  // namespace hydraconf::cuda
