// Every cuDNN call goes through here, as CUDA's do through cuda/check.hpp.
#pragma once

#include <cudnn.h>

#define HYDRACONF_CUDNN_CHECK(call) ::hydraconf::cudnn::check((call), #call, __FILE__, __LINE__)
#define HYDRACONF_CUDNN_WARN(call) ::hydraconf::cudnn::warn((call), #call, __FILE__, __LINE__)

namespace hydraconf::cudnn {

/// Throws InputError naming the call and its place, with cuDNN's own last words.
void check(cudnnStatus_t status, const char* call, const char* file, int line);

/// For destructors: says on standard error what went wrong.
void warn(cudnnStatus_t status, const char* call, const char* file, int line) noexcept;

}  // namespace hydraconf::cudnn
