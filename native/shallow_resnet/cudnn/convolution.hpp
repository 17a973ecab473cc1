// Convolutions by cuDNN 9.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "shallow_resnet/cuda/context.hpp"
#include "shallow_resnet/cudnn/descriptors.hpp"

namespace hydraconf::cudnn {

/// cuDNN on the context's device and stream, with one workspace for all its convolutions: they run
/// one after the other.
class Library {
 public:
  /// Throws InputError where cuDNN cannot be loaded or is another major version than the headers.
  Library(const cuda::Context& context, bool tf32);

  /// `9.24.0`
  std::string version() const;

  /// Chooses the algorithm by cuDNN's heuristics: without running anything, and so the same one in
  /// every run, as a profiler that replays the program needs it.
  std::unique_ptr<Operation> convolution(const cuda::DeviceTensor& input,
                                         const cuda::DeviceTensor& output,
                                         const HostTensor& weight, const HostTensor& bias);

  /// To be called when all convolutions are made and before one is launched.
  void allocate_workspace();

  const cuda::Context& context() const { return context_; }
  cudnnHandle_t handle() const { return handle_->get(); }
  bool tf32() const { return tf32_; }
  void need_workspace(std::size_t bytes);
  const cuda::DeviceMemory& workspace() const { return workspace_; }

 private:
  const cuda::Context& context_;
  bool tf32_;
  std::unique_ptr<LibraryHandle> handle_;
  std::size_t workspace_bytes_ = 0;
  cuda::DeviceMemory workspace_;
};

}  // namespace hydraconf::cudnn
