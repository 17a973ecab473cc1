#include "generation.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <new>

#include "memory.hpp"

namespace region_recorder {
namespace generations {
namespace {

// Before there is a page for it, no event comes.
std::atomic<std::uint32_t> without_page{kFirst};
std::uint32_t last = kFirst;

// Where the kernel does not clear the page, and where it does no harm.
void after_fork_in_child() { current.load()->store(kNewChild, std::memory_order_relaxed); }

}  // namespace

std::atomic<std::atomic<std::uint32_t>*> current{&without_page};

bool prepare() noexcept {
  const std::size_t bytes = page_bytes();
  void* const page = allocate_pages(bytes);
  if (page == nullptr) return false;
  auto* const word = new (page) std::atomic<std::uint32_t>(last);
#if defined(MADV_WIPEONFORK)
  const bool is_cleared_by_kernel = madvise(page, bytes, MADV_WIPEONFORK) == 0;
#else
  const bool is_cleared_by_kernel = false;
#endif
  // In any case: there are emulators that take the advice and do nothing.
  const int error = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  if (error != 0 && !is_cleared_by_kernel) {
    munmap(page, bytes);
    errno = error;
    return false;
  }
  current.store(word, std::memory_order_release);
  return true;
}

bool begin_entering() noexcept {
  std::uint32_t found = kNewChild;
  return current.load()->compare_exchange_strong(found, kEntering);
}

std::uint32_t next() noexcept { return ++last; }

void leave_entering(std::uint32_t generation) noexcept {
  current.load()->store(generation, std::memory_order_release);
}

}  // namespace generations
}  // namespace region_recorder
