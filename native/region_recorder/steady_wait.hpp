// Waiting for so long at most. By CLOCK_MONOTONIC: the time of day may be set meanwhile, and a wait by it would
// last as much longer, or end at once.
#pragma once

#include <pthread.h>
#include <time.h>

#include <cstdint>

#include "clock.hpp"

namespace region_recorder {

// Before the first wait, and where nobody waits.
inline void prepare_steady_waits(pthread_cond_t& condition) noexcept {
#if defined(__APPLE__)
  // It cannot choose the clock; SteadyDeadline waits for a duration there.
  static_cast<void>(condition);
#else
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&condition, &attributes);
  pthread_condattr_destroy(&attributes);
#endif
}

class SteadyDeadline {
 public:
  explicit SteadyDeadline(std::uint64_t nanoseconds) noexcept : at_ns_(now_ns() + nanoseconds) {}

  // False once the time is over. May come back early, as every condition does.
  bool wait(pthread_cond_t& condition, pthread_mutex_t& mutex) const noexcept {
#if defined(__APPLE__)
    const std::uint64_t now = now_ns();
    if (now >= at_ns_) return false;
    const timespec left = as_timespec(at_ns_ - now);
    return pthread_cond_timedwait_relative_np(&condition, &mutex, &left) == 0;
#else
    const timespec at = as_timespec(at_ns_);
    return pthread_cond_timedwait(&condition, &mutex, &at) == 0;
#endif
  }

 private:
  static timespec as_timespec(std::uint64_t nanoseconds) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000u);
    time.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000u);
    return time;
  }

  std::uint64_t at_ns_;
};

}  // namespace region_recorder
