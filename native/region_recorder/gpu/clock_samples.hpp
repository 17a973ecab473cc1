// How CUPTI's clock and the recorder's go together.
#pragma once

#include "subscription.hpp"

namespace region_recorder::gpu {

// Makes CUPTI use the recorder's clock, since CUDA 11.8. Before that its clock is CLOCK_REALTIME,
// which is set and slewed while the program runs: samples of both tell the reader how they differ.
// To be called before any record is made. Where CUPTI is shared it keeps its own.
void prepare_clocks(const Subscription& subscription) noexcept;

// For a tool that has CUPTI after the recorder: CUPTI cannot be told to go by its own clock again, so that ours then says
// what that would (CLOCK_REALTIME).
void give_clock_back() noexcept;

// Writes a sample of both clocks, where they are two.
void sample_clocks() noexcept;

}  // namespace region_recorder::gpu
