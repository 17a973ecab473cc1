#include "clock_samples.hpp"

#include <atomic>

#include "../clock.hpp"
#include "../record.hpp"
#include "../thread.hpp"

namespace region_recorder::gpu {
namespace {

// Enough to have one that nothing interrupted.
constexpr int kTries = 8;

const Subscription* with_own_clock = nullptr;
std::atomic<bool> is_given_back{false};

struct Sample {
  std::uint64_t gpu_ns;
  std::uint64_t monotonic_ns;
};

// The reading of CUPTI's clock that stands between two of ours with the least time between them.
// False: CUPTI cannot tell the time.
bool best_sample(Sample& best) {
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    std::uint64_t gpu_ns = 0;
    const std::uint64_t before = now_ns();
    if (with_own_clock->timestamp(gpu_ns) != cupti::kSuccess) return false;
    const std::uint64_t took = now_ns() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {gpu_ns, before + took / 2};
  }
  return true;
}

std::uint64_t timestamp() {
  return nanoseconds(is_given_back.load(std::memory_order_relaxed) ? CLOCK_REALTIME
                                                                   : CLOCK_MONOTONIC);
}

}  // namespace

void prepare_clocks(const Subscription& subscription) noexcept {
  const Cupti& cupti = subscription.cupti();
  if (!subscription.is_shared() && cupti.version >= cupti::kVersionOfCuda11_8 &&
      cupti.call.ActivityRegisterTimestampCallback != nullptr &&
      cupti.call.ActivityRegisterTimestampCallback(timestamp) == cupti::kSuccess) {
    return;
  }
  with_own_clock = &subscription;
}

void give_clock_back() noexcept {
  is_given_back.store(true, std::memory_order_relaxed);
}

void sample_clocks() noexcept {
  Sample sample{};
  if (with_own_clock == nullptr || !best_sample(sample)) return;
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kClock);
  record.add64(sample.gpu_ns);
  record.add64(sample.monotonic_ns);
  thread->stream.append(record.words());
}

}  // namespace region_recorder::gpu
