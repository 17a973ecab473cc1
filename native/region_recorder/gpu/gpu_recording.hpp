// What the GPU does, recorded through CUPTI beside the ranges.
#pragma once

#include "libraries.hpp"

namespace region_recorder::gpu {

// `off` keeps the recorder away from the GPU. `on` takes CUPTI in place of another tool's library, and keeps it when the program
// begins to profile itself; otherwise the recorder leaves it to them.
constexpr const char* kSwitchVariable = "HYDRACONF_RECORDER_GPU";

// Begins, once in a process and only where a CUDA driver is loaded. Whatever stands in the way is
// told in the recording; the ranges are recorded all the same. Call after begin_recording().
void begin() noexcept;

// Writes down that a call of CUPTI failed: some GPU work is missing. Not inside an event.
void tell_failure(const char* call, cupti::Result result) noexcept;

// In a forked child: CUDA and CUPTI do not survive a fork, so what the parent began ends here.
void forget() noexcept;

}  // namespace region_recorder::gpu
