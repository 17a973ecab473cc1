// Owners of cuDNN's descriptors.
#pragma once

#include "shallow_resnet/cudnn/check.hpp"

namespace hydraconf::cudnn {

/// Any kind of descriptor, with the functions that make and unmake it.
template <typename Handle, cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)>
class Owner {
 public:
  Owner() { HYDRACONF_CUDNN_CHECK(create(&handle_)); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { HYDRACONF_CUDNN_WARN(destroy(handle_)); }

  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using LibraryHandle = Owner<cudnnHandle_t, cudnnCreate, cudnnDestroy>;
using TensorDescriptor =
    Owner<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Owner<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Owner<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
          cudnnDestroyConvolutionDescriptor>;

}  // namespace hydraconf::cudnn
