// How CUPTI's clock and the recorder's go together.
#pragma once

#include "libraries.hpp"

namespace region_recorder::gpu {

// Makes CUPTI use the recorder's clock, since CUDA 11.8. Before that its clock is CLOCK_REALTIME,
// which is set and slewed while the program runs: samples of both tell the reader how they differ.
// To be called before any record is made.
void prepare_clocks(const Cupti& cupti) noexcept;

// Writes a sample of both clocks, where they are two.
void sample_clocks() noexcept;

}  // namespace region_recorder::gpu
