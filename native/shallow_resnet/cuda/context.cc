#include "shallow_resnet/cuda/context.hpp"

#include <cstring>

#include "shallow_resnet/cuda/element.hpp"

namespace hydraconf::cuda {

std::vector<std::uint8_t> to_elements(DataType type, const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * element_bytes(type));
  with_element(type, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = from_float<T>(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

std::vector<float> from_elements(DataType type, const std::vector<std::uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / element_bytes(type));
  with_element(type, [&](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = to_float(value);
    }
  });
  return values;
}

DeviceMemory upload_elements(DataType type, const std::vector<float>& values) {
  const std::vector<std::uint8_t> bytes = to_elements(type, values);
  DeviceMemory memory(bytes.size());
  HYDRACONF_CUDA_CHECK(
      cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  return memory;
}

}  // namespace hydraconf::cuda
