// NVTX's payload extension: ranges and marks whose name stands in a structure that the program describes.
#pragma once

#include "nvtx/payload_protocol.hpp"

namespace region_recorder {

// Writes the recorder's functions into the slots of a program's copy of the extension. False: another extension.
bool attach_payloads(nvtx::protocol::payload::Module& module) noexcept;

}  // namespace region_recorder
