#include "subscription.hpp"

#include "activity.hpp"
#include "launches.hpp"

namespace region_recorder::gpu {
namespace {

// All that are ever enabled, by their places in Subscription::enabled_.
constexpr cupti::ActivityKind kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy,
                                          cupti::kPeerMemcpy, cupti::kMemset,
                                          cupti::kSynchronization};

std::uint32_t bit_of(cupti::ActivityKind kind) {
  std::uint32_t bit = 1;
  for (const cupti::ActivityKind one : kKinds) {
    if (one == kind) return bit;
    bit <<= 1;
  }
  return 0;
}

bool can_share(const Cupti& cupti) {
  const cupti::SharedFunctions& call = cupti.call.shared;
  return cupti.version >= cupti::kVersionOfCuda13_3 && call.Subscribe_v2 != nullptr &&
         call.ActivityRegisterCallbacks_v2 != nullptr && call.ActivityEnable_v2 != nullptr &&
         call.ActivityDisable_v2 != nullptr && call.ActivityGetNextRecord_v2 != nullptr &&
         call.GetTimestamp_v2 != nullptr;
}

void buffer_requested_v2(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records,
                         void*) {
  buffer_requested(buffer, bytes, most_records);
}

void buffer_completed_v2(std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes, void*) {
  buffer_completed(nullptr, 0, buffer, bytes, valid_bytes);
}

}  // namespace

Refusal Subscription::begin(const Cupti& cupti, bool may_share) noexcept {
  cupti_ = &cupti;
  is_shared_ = may_share && can_share(cupti);
  if (!is_shared_) return {"cuptiSubscribe", cupti.call.Subscribe(&handle_, on_api_call, nullptr)};
  cupti::SubscriberParams params{};
  params.struct_size = sizeof(params);
  params.name = "hydraconf";
  params.allow_multiple_subscribers = 1;
  return {"cuptiSubscribe_v2",
          cupti.call.shared.Subscribe_v2(&handle_, on_api_call, nullptr, &params)};
}

Refusal Subscription::register_buffers() noexcept {
  if (is_shared_) {
    return {"cuptiActivityRegisterCallbacks_v2",
            cupti_->call.shared.ActivityRegisterCallbacks_v2(handle_, buffer_requested_v2,
                                                             buffer_completed_v2)};
  }
  // A program that polls an event would have a record of each answer "not yet".
  if (cupti_->call.ActivityEnableAllSyncRecords != nullptr) {
    static_cast<void>(cupti_->call.ActivityEnableAllSyncRecords(0));
  }
  return {"cuptiActivityRegisterCallbacks",
          cupti_->call.ActivityRegisterCallbacks(buffer_requested, buffer_completed)};
}

cupti::Result Subscription::enable(cupti::ActivityKind kind) noexcept {
  const cupti::Result result =
      is_shared_ ? cupti_->call.shared.ActivityEnable_v2(handle_, kind, nullptr)
                 : cupti_->call.ActivityEnable(kind);
  if (result == cupti::kSuccess) enabled_ |= bit_of(kind);
  return result;
}

void Subscription::end() noexcept {
  for (const cupti::ActivityKind kind : kKinds) {
    if ((enabled_ & bit_of(kind)) == 0) continue;
    static_cast<void>(is_shared_ ? cupti_->call.shared.ActivityDisable_v2(handle_, kind, nullptr)
                                 : cupti_->call.ActivityDisable(kind));
  }
  enabled_ = 0;
  static_cast<void>(cupti_->call.Unsubscribe(handle_));
}

cupti::Result Subscription::flush(cupti::FlushFlag how) const noexcept {
  return cupti_->call.ActivityFlushAll(how);
}

cupti::Result Subscription::next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                                        std::uint8_t** record) const noexcept {
  return is_shared_ ? cupti_->call.shared.ActivityGetNextRecord_v2(handle_, buffer, valid_bytes,
                                                                   record)
                    : cupti_->call.ActivityGetNextRecord(buffer, valid_bytes, record);
}

std::size_t Subscription::dropped(cupti::Context context, std::uint32_t stream) const noexcept {
  std::size_t count = 0;
  if (!is_shared_) cupti_->call.ActivityGetNumDroppedRecords(context, stream, &count);
  return count;
}

cupti::Result Subscription::timestamp(std::uint64_t& nanoseconds) const noexcept {
  return is_shared_ ? cupti_->call.shared.GetTimestamp_v2(handle_, &nanoseconds)
                    : cupti_->call.GetTimestamp(&nanoseconds);
}

}  // namespace region_recorder::gpu
