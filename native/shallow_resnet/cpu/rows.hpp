// Walking a blocked tensor row by row, the unit of work that threads share out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "shallow_resnet/cpu/blocked_tensor.hpp"

namespace hydraconf::cpu {

/// Where a flat index over all rows of a tensor points: images, then channel blocks, then rows.
struct RowPlace {
  std::size_t image;
  std::size_t block;
  std::size_t y;
};

inline RowPlace row_place(const BlockedTensor& tensor, std::size_t index) {
  const std::size_t height = tensor.shape().height;
  return {index / height / tensor.blocks(), index / height % tensor.blocks(), index % height};
}

inline std::size_t row_count(const BlockedTensor& tensor) {
  return tensor.shape().batch * tensor.blocks() * tensor.shape().height;
}

/// A vector per channel, padded with zeros to whole blocks.
inline AlignedBuffer pad_lanes(const std::vector<float>& values) {
  AlignedBuffer padded(((values.size() - 1) / kLanes + 1) * kLanes);
  std::copy(values.begin(), values.end(), padded.data());
  return padded;
}

}  // namespace hydraconf::cpu
