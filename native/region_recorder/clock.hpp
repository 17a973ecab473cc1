// Time as the recorder sees it.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace region_recorder {

// "kernel": clocks are always read by a system call, for programs that forbid the time stamp counter at any moment.
constexpr const char* kClockVariable = "HYDRACONF_RECORDER_CLOCK";

namespace clocks {
extern std::atomic<bool> are_in_kernel;
timespec read_in_kernel(clockid_t clock) noexcept;
}  // namespace clocks

// The value of kClockVariable, or null.
void choose_clock(const char* wanted) noexcept;

// To be called before a thread's first reading. Where the thread may not read the time stamp counter (PR_SET_TSC), the C
// library's clocks end the program: they read it without asking the kernel. From then on the recorder asks the kernel, on
// all threads.
void check_counter() noexcept;

// False where the thread, or another one that has recorded, may not read the time stamp counter.
inline bool may_read_counter() noexcept { return !clocks::are_in_kernel.load(std::memory_order_relaxed); }

inline timespec read_clock(clockid_t clock) noexcept {
  if (!may_read_counter()) return clocks::read_in_kernel(clock);
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

inline std::uint64_t nanoseconds(clockid_t clock) noexcept {
  const timespec now = read_clock(clock);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// CLOCK_MONOTONIC, not the time stamp counter itself: read without a system call the kernel's
// conversion costs some 15 ns, is the same for all processes and cores of the machine, survives
// migration and frequency changes, and needs no calibration that a short or crashing program would
// not finish.
inline std::uint64_t now_ns() noexcept { return nanoseconds(CLOCK_MONOTONIC); }

}  // namespace region_recorder
