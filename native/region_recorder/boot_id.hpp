// Which start of which machine this is.
#pragma once

#include <cstdint>

namespace region_recorder {

constexpr int kBootIdBytes = 16;

// Writes what tells this start of this machine from every other one, or zeros where the system does not tell.
// Allowed between fork and exec.
void read_boot_id(std::uint8_t (&out)[kBootIdBytes]) noexcept;

}  // namespace region_recorder
