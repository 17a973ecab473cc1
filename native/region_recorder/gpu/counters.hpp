// Hardware counters, in a run that records nothing else of the GPU: of ranges (range_counters.hpp) or of whole devices at an
// interval (device_samples.hpp), as the request says. CUPTI has one of them at a time.
#pragma once

#include <atomic>
#include <cstdint>

#include "../text.hpp"
#include "../thread.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {

enum class Counting : std::uint8_t { kNothing, kRanges, kDevices };

extern std::atomic<Counting> counting;

// Whether counters are read in place of recording the GPU's work.
inline bool reads_counters() noexcept {
  return counting.load(std::memory_order_relaxed) != Counting::kNothing;
}

// Whether these are of ranges, which then have to be known.
inline bool counts_ranges() noexcept {
  return counting.load(std::memory_order_relaxed) == Counting::kRanges;
}

// Reads the request, once in a process and before its first range.
void prepare_counters() noexcept;

// From now on. False: counters cannot be had, and the recording says why.
bool begin_counters(const Subscription& subscription) noexcept;

// This thread launches work in this context right now.
void count_work(ThreadRecorder& thread, cupti::Context context) noexcept;

// All contexts of a device may be about to go. Not inside an event.
void leave_contexts() noexcept;

// Writes down for good what was measured, and what could not be. Not inside an event.
void end_counters() noexcept;

// In a forked child: CUDA does not survive a fork.
void forget_counters() noexcept;

}  // namespace region_recorder::gpu
