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

#include <cstdint>

#include "../text.hpp"
#include "../thread.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {

// A push/pop range opens on this thread, or closes.
void open_counted_range(ThreadRecorder& thread, std::uint32_t domain, const Text& domain_name,
                        const Text& name) noexcept;
void close_counted_range(ThreadRecorder& thread, std::uint32_t domain) noexcept;

// False: counters cannot be had, and the recording says why.
bool begin_range_counters() noexcept;

// This thread launches work in this context right now.
void count_range_work(ThreadRecorder& thread, cupti::Context context) noexcept;

// Writes down what was measured so far: a context goes, or everything. A context that goes on is measured anew. Not inside
// an event.
void finish_range_counters() noexcept;

// The same for good, with what could not be measured.
void end_range_counters() noexcept;

}  // namespace region_recorder::gpu
