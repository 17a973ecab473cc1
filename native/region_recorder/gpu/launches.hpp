// The program's calls that give the GPU work or wait for it, seen on the thread that makes them.
#pragma once

#include "subscription.hpp"

namespace region_recorder::gpu {

// Has CUPTI call on_api_call for those functions and no others. The functions are found by their
// names, so that those of later CUDA versions are among them. False: none could be watched.
bool watch_launches(const Subscription& subscription) noexcept;

// What CUPTI calls. Writes a launch record into the calling thread's stream: there it stands in
// order with the thread's ranges, whatever the clocks say. Before a context is destroyed it fetches
// what CUPTI has recorded.
void on_api_call(void* user_data, cupti::CallbackDomain domain, std::uint32_t callback,
                 const void* data);

// From now on nothing is fetched any more when a context is destroyed: the process ends.
void stop_fetching() noexcept;

// Whether there was a launch since the last time this was asked.
bool launched_since_last_asked() noexcept;

}  // namespace region_recorder::gpu
