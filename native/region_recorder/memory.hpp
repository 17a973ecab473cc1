// Memory from the kernel: the recorder never calls malloc, so it works inside programs that replace
// malloc, that were forked in the middle of it, or that annotate it.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace region_recorder {

// Zeroed pages, or null. Pages that are never touched cost nothing.
inline void* allocate_pages(std::size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

// Hands out memory that lives as long as the process: handles given to the program.
class Arena {
 public:
  // Zeroed and aligned for pointers, or null. The caller serialises.
  void* allocate(std::size_t bytes) {
    const std::size_t rounded = (bytes + alignof(std::max_align_t) - 1) &
                                ~(alignof(std::max_align_t) - 1);
    if (rounded > left_) {
      const std::size_t block = rounded > kBlockBytes ? rounded : kBlockBytes;
      void* const pages = allocate_pages(block);
      if (pages == nullptr) return nullptr;
      next_ = static_cast<char*>(pages);
      left_ = block;
    }
    void* const result = next_;
    next_ += rounded;
    left_ -= rounded;
    return result;
  }

 private:
  static constexpr std::size_t kBlockBytes = 64 * 1024;

  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace region_recorder
