// Host-side tensors: what is read from and written to files, in PyTorch's row-major order.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/checked_math.hpp"

namespace hydraconf {

using Sizes = std::vector<std::size_t>;

struct HostTensor {
  Sizes sizes;
  /// Row-major, `element_count(sizes)` values.
  std::vector<float> values;
};

using TensorMap = std::map<std::string, HostTensor>;

/// Product of the sizes (1 for a scalar). Throws InputError when it overflows.
inline std::size_t element_count(const Sizes& sizes) {
  std::size_t count = 1;
  for (const std::size_t size : sizes) count = checked_multiply(count, size);
  return count;
}

/// `4x16x64x64`, the form in which NVTX labels and messages show shapes.
inline std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

}  // namespace hydraconf
