// Time as the recorder sees it.
#pragma once

#include <time.h>

#include <cstdint>

namespace region_recorder {

inline std::uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// CLOCK_MONOTONIC, not the time stamp counter itself: read without a system call the kernel's
// conversion costs some 15 ns, is the same for all processes and cores of the machine, survives
// migration and frequency changes, and needs no calibration that a short or crashing program would
// not finish.
inline std::uint64_t now_ns() { return nanoseconds(CLOCK_MONOTONIC); }

}  // namespace region_recorder
