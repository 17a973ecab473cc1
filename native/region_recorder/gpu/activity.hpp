// CUPTI's buffers of activity records, and what the recording keeps of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "subscription.hpp"

namespace region_recorder::gpu {

// Once, before the functions below can be called.
void prepare_activity(const Subscription& subscription) noexcept;

// What CUPTI calls, from threads of its own and at the program's end from the program's.
void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
void buffer_completed(cupti::Context context, std::uint32_t stream, std::uint8_t* buffer,
                      std::size_t bytes, std::size_t valid_bytes);

// At the program's end: returns when no thread of CUPTI's reads a buffer any more, or after two seconds.
// A flush does not say that it waits for buffers that such a thread took before it.
void wait_for_readers() noexcept;

}  // namespace region_recorder::gpu
