// Memory from the kernel: the recorder never calls malloc, so it works inside programs that replace
// malloc, that were forked in the middle of it, or that annotate it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace region_recorder {

// What pages and chunks are multiples of.
inline std::size_t page_bytes() noexcept {
  const long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 4096 ? static_cast<std::size_t>(bytes) : 4096;
}

// Zeroed pages, or null. Pages that are never touched cost nothing.
inline void* allocate_pages(std::size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

// Hands out memory that lives as long as the process: handles given to the program. Any thread may ask at any time,
// without a lock.
class Arena {
 public:
  // Zeroed and aligned for pointers, or null.
  void* allocate(std::size_t bytes) {
    const std::size_t rounded = round_up(bytes);
    for (;;) {
      Block* const block = current_.load(std::memory_order_acquire);
      if (block != nullptr) {
        const std::size_t at = block->used.fetch_add(rounded, std::memory_order_relaxed);
        if (at + rounded <= block->bytes) return reinterpret_cast<char*>(block) + at;
      }
      const std::size_t wanted = kHeaderBytes + rounded;
      const std::size_t size = wanted > kBlockBytes ? wanted : kBlockBytes;
      void* const pages = allocate_pages(size);
      if (pages == nullptr) return nullptr;
      auto* const fresh = new (pages) Block{{wanted}, size};
      Block* expected = block;
      if (current_.compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
        return static_cast<char*>(pages) + kHeaderBytes;
      }
      munmap(pages, size);
    }
  }

 private:
  struct Block {
    std::atomic<std::size_t> used;  // this header included
    std::size_t bytes;
  };

  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
  }
  static constexpr std::size_t kHeaderBytes =
      (sizeof(Block) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
  static constexpr std::size_t kBlockBytes = 64 * 1024;

  std::atomic<Block*> current_{nullptr};
};

}  // namespace region_recorder
