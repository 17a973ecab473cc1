// Variables that name the libraries of tools: NVTX and the CUDA driver load one each.
#pragma once

namespace region_recorder {

constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";
constexpr const char* kCudaVariable = "CUDA_INJECTION64_PATH";

// The library that a variable names, where there is such a file and it is not this library; else null.
const char* other_library_in(const char* variable) noexcept;

}  // namespace region_recorder
