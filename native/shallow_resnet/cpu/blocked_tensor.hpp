// The CPU backend's activation layout: channels in blocks of 16 lanes, images with a zero border.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/aligned_buffer.hpp"
#include "shallow_resnet/backend.hpp"

namespace hydraconf::cpu {

/// Channels per block: one AVX-512 register of floats, two AVX registers, four of SSE or NEON.
inline constexpr std::size_t kLanes = 16;

/// [image][channel block][height + 2][width + 2][lane]. The border of one pixel and the lanes
/// beyond the last channel are zero and stay so: a 3x3 window then needs no bounds checks and
/// no special case at the edges of an image.
class BlockedTensor {
 public:
  explicit BlockedTensor(const TensorShape& shape)
      : shape_(shape),
        blocks_((shape.channels - 1) / kLanes + 1),
        row_stride_(checked_multiply(checked_add(shape.width, 2), kLanes)),
        plane_stride_(checked_multiply(checked_add(shape.height, 2), row_stride_)),
        storage_(checked_product({shape.batch, blocks_, plane_stride_})) {}

  const TensorShape& shape() const { return shape_; }
  std::size_t blocks() const { return blocks_; }
  std::size_t row_stride() const { return row_stride_; }
  std::size_t plane_stride() const { return plane_stride_; }

  /// The first pixel of row `y` inside the border; `y` may be -1, as `row(n, b, 0) - row_stride()`.
  float* row(std::size_t image, std::size_t block, std::size_t y) {
    return storage_.data() + offset(image, block, y);
  }
  const float* row(std::size_t image, std::size_t block, std::size_t y) const {
    return storage_.data() + offset(image, block, y);
  }

  /// Real channels of a block: 16, or fewer in the last one.
  std::size_t channels_in(std::size_t block) const {
    return std::min(kLanes, shape_.channels - block * kLanes);
  }

 private:
  std::size_t offset(std::size_t image, std::size_t block, std::size_t y) const {
    return (image * blocks_ + block) * plane_stride_ + (y + 1) * row_stride_ + kLanes;
  }

  TensorShape shape_;
  std::size_t blocks_;
  std::size_t row_stride_;
  std::size_t plane_stride_;
  AlignedBuffer storage_;
};

}  // namespace hydraconf::cpu
