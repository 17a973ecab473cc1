// Owners of what the CUDA runtime hands out.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "shallow_resnet/cuda/check.hpp"

namespace hydraconf::cuda {

/// Bytes on the current device. Empty for size 0.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) HYDRACONF_CUDA_CHECK(cudaMalloc(&data_, bytes));
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (data_ != nullptr) HYDRACONF_CUDA_WARN(cudaFree(data_));
  }

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream() { HYDRACONF_CUDA_CHECK(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { HYDRACONF_CUDA_WARN(cudaStreamDestroy(handle_)); }

  cudaStream_t handle() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

/// A recorded sequence of launches, ready to run.
class Graph {
 public:
  /// Records what `body` launches on `stream`, without running it.
  template <typename Body>
  Graph(cudaStream_t stream, const Body& body) {
    HYDRACONF_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      body();
    } catch (...) {
      // The stream must leave capture mode before the failure is reported.
      static_cast<void>(cudaStreamEndCapture(stream, &graph));
      if (graph != nullptr) HYDRACONF_CUDA_WARN(cudaGraphDestroy(graph));
      throw;
    }
    HYDRACONF_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    const cudaError_t status = cudaGraphInstantiateWithFlags(&executable_, graph, 0);
    HYDRACONF_CUDA_WARN(cudaGraphDestroy(graph));
    HYDRACONF_CUDA_CHECK(status);
    // What the first launch would do beside the work.
    try {
      HYDRACONF_CUDA_CHECK(cudaGraphUpload(executable_, stream));
    } catch (...) {
      HYDRACONF_CUDA_WARN(cudaGraphExecDestroy(executable_));
      throw;
    }
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { HYDRACONF_CUDA_WARN(cudaGraphExecDestroy(executable_)); }

  void launch(cudaStream_t stream) const {
    HYDRACONF_CUDA_CHECK(cudaGraphLaunch(executable_, stream));
  }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace hydraconf::cuda
