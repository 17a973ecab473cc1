// The recorder's subscription to CUPTI. One tool in a process may have it; from CUDA 13.3 on several may share it, if all of
// them ask for that. The functions for one and those for several are never mixed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libraries.hpp"

namespace region_recorder::gpu {

// `1`: the recorder shares CUPTI where the library can. Off until a driver has shown that it works.
constexpr const char* kSharingVariable = "HYDRACONF_CUPTI_SHARED";

// Why CUPTI does not collect, or not everything: the call that failed, and its result.
struct Refusal {
  const char* call;
  cupti::Result result;
};

class Subscription {
 public:
  constexpr Subscription() = default;
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  // Subscribes, alone or with others. The result is kSuccess, or the subscription is another tool's.
  Refusal begin(const Cupti& cupti, bool may_share) noexcept;

  Refusal register_buffers() noexcept;
  cupti::Result enable(cupti::ActivityKind kind) noexcept;

  // Nothing is collected any more, and another tool may subscribe.
  void end() noexcept;

  bool is_shared() const noexcept { return is_shared_; }
  cupti::Subscriber handle() const noexcept { return handle_; }
  const Cupti& cupti() const noexcept { return *cupti_; }

  cupti::Result flush(cupti::FlushFlag how) const noexcept;
  cupti::Result next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                            std::uint8_t** record) const noexcept;
  // Since it was asked last. Nobody says it to those who share.
  std::size_t dropped(cupti::Context context, std::uint32_t stream) const noexcept;
  cupti::Result timestamp(std::uint64_t& nanoseconds) const noexcept;

 private:
  const Cupti* cupti_ = nullptr;
  cupti::Subscriber handle_ = nullptr;
  bool is_shared_ = false;
  std::uint32_t enabled_ = 0;  // which of the wanted kinds
};

}  // namespace region_recorder::gpu
