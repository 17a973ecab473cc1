#include "shallow_resnet/cuda/check.hpp"

#include <cstdio>
#include <exception>

#include "common/errors.hpp"
#include "shallow_resnet/cuda/failure.hpp"

namespace hydraconf::cuda {
namespace {

/// What a user can do about it; empty where there is nothing general to say.
std::string remedy(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "; the GPU has not enough free memory for these sizes: lower --batch-size or "
             "--image-size, or end what else runs on it";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidKernelImage:
      return "; this program was built for " HYDRACONF_CUDA_TARGETS
             ", which this GPU or its driver cannot run: build again on this machine (npm run "
             "build:native), or set HYDRACONF_CUDA";
    case cudaErrorSystemNotReady:
      return "; where GPUs are joined by NVSwitch, nvidia-fabricmanager has to run";
    case cudaErrorSystemDriverMismatch:
      return "; libcuda.so.1 and the loaded kernel module belong to different drivers: restart the "
             "machine after an update of the driver, and the container after one of its host";
    case cudaErrorDevicesUnavailable:
      return "; another process holds the GPU exclusively (nvidia-smi shows the compute mode)";
    default: return "";
  }
}

std::string describe(cudaError_t status, const char* call, const char* file, int line) {
  return call_place(call, file, line) + ": " + cudaGetErrorString(status) + " (" +
         cudaGetErrorName(status) + ")" + remedy(status);
}

}  // namespace

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  throw InputError(describe(status, call, file, line));
}

void warn(cudaError_t status, const char* call, const char* file, int line) noexcept {
  // At the end of the process the runtime may be gone before us.
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  // After a kernel broke off every call fails, those of destructors too: one message is enough.
  if (std::uncaught_exceptions() > 0) return;
  try {
    std::fprintf(stderr, "shallow_resnet: %s\n", describe(status, call, file, line).c_str());
  } catch (...) {
    // No memory for a message: the process is about to end anyway.
  }
}

}  // namespace hydraconf::cuda
