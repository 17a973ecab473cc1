// A thread that fetches finished records from CUPTI twice a second, so that a crash loses no more
// than that. CUPTI by itself would keep them until a buffer is full.
#pragma once

#include "subscription.hpp"

namespace region_recorder::gpu {

// False: no thread could be had. Records are then fetched at the end alone.
bool start_flusher(const Subscription& subscription) noexcept;

// Ends the thread; waits for at most two seconds if it is fetching just then.
void stop_flusher() noexcept;

}  // namespace region_recorder::gpu
