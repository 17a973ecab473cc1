// What the process's CUDA devices are.
#pragma once

#include "libraries.hpp"

namespace region_recorder::gpu {

void prepare_devices(const Driver& driver) noexcept;

// Writes a record for each device, at the first call only. Call it where CUDA is initialised, and
// outside an event.
void describe_devices_once() noexcept;

}  // namespace region_recorder::gpu
