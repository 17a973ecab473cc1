// Floats on the heap, aligned for the widest vector loads and zeroed.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "common/checked_math.hpp"

namespace hydraconf {

class AlignedBuffer {
 public:
  /// One cache line, which is also the width of the widest vector register in use.
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count) : size_(count) {
    const std::size_t bytes = checked_multiply(count, sizeof(float));
    data_ = static_cast<float*>(::operator new(bytes, std::align_val_t(kAlignment)));
    std::memset(data_, 0, bytes);
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() { ::operator delete(data_, std::align_val_t(kAlignment)); }

  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hydraconf
