// The backend for NVIDIA GPUs: convolutions by cuDNN or by kernels of our own, the rest by ours.
#pragma once

#include <cstddef>
#include <memory>

#include "shallow_resnet/backend.hpp"
#include "shallow_resnet/backend_registry.hpp"

namespace hydraconf {

/// Throws InputError where there is no such GPU, or this program lacks the library asked for.
std::unique_ptr<Backend> make_cuda_backend(std::size_t index, const BackendSettings& settings);

}  // namespace hydraconf
