#include "counters.hpp"

#include "../caller_state.hpp"
#include "counting.hpp"
#include "device_samples.hpp"
#include "flusher.hpp"
#include "range_counters.hpp"

namespace region_recorder::gpu {

std::atomic<Counting> counting{Counting::kNothing};

namespace {

// The device's buffer has to be emptied before it is full.
constexpr std::uint64_t kDecodingPeriodNs = 100'000'000;

bool is_begun = false;

}  // namespace

void prepare_counters() noexcept {
  if (!read_counter_request()) return;
  counting.store(counter_request().interval_ns == 0 ? Counting::kRanges : Counting::kDevices);
}

bool begin_counters(const Subscription& subscription) noexcept {
  count_with(subscription);
  is_begun = true;
  if (counts_ranges()) return begin_range_counters();
  if (!begin_device_samples()) return false;
  // Without its thread the device's buffer is read at the end alone, and holds what it can.
  static_cast<void>(start_flusher(decode_device_samples, kDecodingPeriodNs));
  return true;
}

void count_work(ThreadRecorder& thread, cupti::Context context) noexcept {
  if (context == nullptr) return;
  if (counts_ranges()) count_range_work(thread, context);
  else sample_device_of(thread, context);
}

void leave_contexts() noexcept {
  if (counts_ranges()) finish_range_counters();
  else forget_sampled_contexts();
}

void end_counters() noexcept {
  if (counts_ranges()) {
    end_range_counters();
  } else {
    stop_flusher();
    end_device_samples();
  }
  counting.store(Counting::kNothing);
}

void forget_counters() noexcept {
  if (is_begun) counting.store(Counting::kNothing);
}

}  // namespace region_recorder::gpu
