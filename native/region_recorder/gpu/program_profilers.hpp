// Profilers inside the program (PyTorch's, Triton's, JAX's), seen when they ask for CUPTI's subscription. CUPTI tells nobody
// that it refused one, so their calls are led through the recorder before: whether libcupti is linked, or its functions are
// looked up by dlsym.
#pragma once

#include "subscription.hpp"

namespace region_recorder::gpu {

// Called on the thread of the program that asks, before CUPTI is asked.
using OnProfiler = void (*)(const char* call, const char* library) noexcept;

// From now on. Of a CUPTI that is shared, callers who can share it are none.
void watch_profilers(const Subscription& subscription, OnProfiler on_profiler) noexcept;

// Calls that could not be led through here.
std::size_t unwatched_calls() noexcept;

}  // namespace region_recorder::gpu
