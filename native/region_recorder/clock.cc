#include "clock.hpp"

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstring>

namespace region_recorder {

std::atomic<bool> clocks::are_in_kernel{false};

timespec clocks::read_in_kernel(clockid_t clock) noexcept {
  timespec now{};
#if defined(SYS_clock_gettime)
  // Without errno, which callers have not kept yet.
  const int before = errno;
  syscall(SYS_clock_gettime, clock, &now);
  errno = before;
#else
  clock_gettime(clock, &now);
#endif
  return now;
}

void choose_clock(const char* wanted) noexcept {
  if (wanted != nullptr && std::strcmp(wanted, "kernel") == 0) {
    clocks::are_in_kernel.store(true, std::memory_order_relaxed);
  }
}

void check_counter() noexcept {
#if defined(PR_GET_TSC)
  if (!may_read_counter()) return;
  const int before = errno;
  int mode = PR_TSC_ENABLE;
  // Where the system knows no such mode, or does not say, there is none.
  if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE) {
    clocks::are_in_kernel.store(true, std::memory_order_relaxed);
  }
  errno = before;
#endif
}

}  // namespace region_recorder
