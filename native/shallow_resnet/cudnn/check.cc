#include "shallow_resnet/cudnn/check.hpp"

#include <cstdio>
#include <exception>
#include <string>

#include "common/errors.hpp"
#include "shallow_resnet/cuda/failure.hpp"

namespace hydraconf::cudnn {
namespace {

std::string describe(cudnnStatus_t status, const char* call, const char* file, int line) {
  std::string text =
      cuda::call_place(call, file, line) + ": " + cudnnGetErrorString(status);
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof details);
  if (details[0] != '\0') text += std::string(": ") + details;
  if (status == CUDNN_STATUS_ALLOC_FAILED || status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    text += "; lower --batch-size or --image-size";
  return text + " (--gpu-library cuda runs without cuDNN)";
}

}  // namespace

void check(cudnnStatus_t status, const char* call, const char* file, int line) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw InputError(describe(status, call, file, line));
}

void warn(cudnnStatus_t status, const char* call, const char* file, int line) noexcept {
  // A failure that is being reported brings others along.
  if (status == CUDNN_STATUS_SUCCESS || std::uncaught_exceptions() > 0) return;
  try {
    std::fprintf(stderr, "shallow_resnet: %s\n", describe(status, call, file, line).c_str());
  } catch (...) {
    // No memory for a message: the process is about to end anyway.
  }
}

}  // namespace hydraconf::cudnn
