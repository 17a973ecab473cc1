// What the operations of one GPU backend share.
#pragma once

#include <cstdint>
#include <vector>

#include "shallow_resnet/backend.hpp"
#include "shallow_resnet/cuda/resources.hpp"

namespace hydraconf::cuda {

/// A tensor in row-major NCHW order.
struct DeviceTensor {
  TensorShape shape;
  DeviceMemory memory;
};

struct Context {
  DataType data_type = DataType::float32;
  Stream stream;
};

/// `values` as elements of `type`, in host memory.
std::vector<std::uint8_t> to_elements(DataType type, const std::vector<float>& values);
std::vector<float> from_elements(DataType type, const std::vector<std::uint8_t>& bytes);

/// Copies host values to new device memory, as elements of `type`.
DeviceMemory upload_elements(DataType type, const std::vector<float>& values);
inline DeviceMemory upload_floats(const std::vector<float>& values) {
  return upload_elements(DataType::float32, values);
}

}  // namespace hydraconf::cuda
