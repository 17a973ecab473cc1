// Hardware counters of NVTX ranges, by CUPTI's Range Profiler, in a run that measures nothing else.
//
// CUPTI gives each context one stack of ranges, NVTX gives each thread one. So what CUPTI gets is flat: at most one range of a
// context is open at a time, of one level of NVTX's nesting, and it is that of the thread that launched last. It begins at
// the first launch in it and ends when NVTX's does, or when another one's turn comes. A range that comes again, or goes on
// after another one, is measured anew, under a name of its own; the recording says which range that was.
//
// CUPTI is called from the program's calls of CUDA, and from the end of a range that was measured: never from a range that
// opens, which a signal handler may do at any place, also inside CUDA.
#pragma once

#include <atomic>

#include "../text.hpp"
#include "../thread.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {

// Path of the request (counter_request.hpp). Without it nothing is counted.
constexpr const char* kCountersVariable = "HYDRACONF_RECORDER_COUNTERS";

extern std::atomic<bool> is_counting;

// Whether ranges are measured by counters, in place of recording the GPU's work.
inline bool counts_ranges() noexcept { return is_counting.load(std::memory_order_relaxed); }

// Reads the request, once in a process and before its first range.
void prepare_counters() noexcept;

// A push/pop range opens on this thread, or closes.
void open_counted_range(ThreadRecorder& thread, std::uint32_t domain, const Text& domain_name,
                        const Text& name) noexcept;
void close_counted_range(ThreadRecorder& thread, std::uint32_t domain) noexcept;

// From now on. False: counters cannot be had, and the recording says why.
bool begin_counters(const Subscription& subscription) noexcept;

// Whether CUPTI calls the driver for us on this thread right now.
bool is_calling_cupti() noexcept;

// This thread launches work in this context right now.
void count_work(ThreadRecorder& thread, cupti::Context context) noexcept;

// Writes down what was measured so far: a context goes, or everything. A context that goes on is measured anew. Not inside
// an event.
void finish_counters() noexcept;

// The same for good, with what could not be measured.
void end_counters() noexcept;

// In a forked child.
void forget_counters() noexcept;

}  // namespace region_recorder::gpu
