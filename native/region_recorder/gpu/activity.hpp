// CUPTI's buffers of activity records, and what the recording keeps of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libraries.hpp"

namespace region_recorder::gpu {

// Once, before the functions below can be called.
void prepare_activity(const Cupti& cupti) noexcept;

// What CUPTI calls, from threads of its own and at the program's end from the program's.
void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
void buffer_completed(cupti::Context context, std::uint32_t stream, std::uint8_t* buffer,
                      std::size_t bytes, std::size_t valid_bytes);

}  // namespace region_recorder::gpu
