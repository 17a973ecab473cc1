// Hardware counters of whole devices at an interval, by CUPTI's PM Sampling: whatever runs there counts, of any thread, process
// or CUDA graph, and nothing waits for it. Each sample has a beginning and an end on a clock of the host, by which ranges and
// samples are brought together.
//
// A device is sampled from the first launch on it to the end. The device writes to a buffer, which a thread of the recorder
// empties into an image of counter data; a full one is written to a file, with the times of its samples in another.
#pragma once

#include <cstdint>

#include "../thread.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {

// False: it cannot be had, and the recording says why.
bool begin_device_samples() noexcept;

// This thread launches work in this context right now.
void sample_device_of(ThreadRecorder& thread, cupti::Context context) noexcept;

// Contexts go, and others may come with their handles.
void forget_sampled_contexts() noexcept;

// Empties the buffers of devices. Not inside an event.
void decode_device_samples() noexcept;

// Ends the sampling for good. Not inside an event.
void end_device_samples() noexcept;

}  // namespace region_recorder::gpu
