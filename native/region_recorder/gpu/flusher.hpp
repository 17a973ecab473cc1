// A thread that fetches from CUPTI, again and again, what it has finished.
#pragma once

#include <cstdint>

namespace region_recorder::gpu {

// False: no thread could be had. What there is is then fetched at the end alone.
bool start_flusher(void (*flush)() noexcept, std::uint64_t period_ns) noexcept;

// Ends the thread; waits for at most two seconds if it is fetching just then.
void stop_flusher() noexcept;

}  // namespace region_recorder::gpu
