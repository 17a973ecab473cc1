// The push/pop ranges that are open on one thread, of all domains, as far as counters need them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace region_recorder {

// Zeroed memory is a thread without ranges. Who reads the recording counts positions in the same way
// (src/profiler/tools/counters/read-measurements.ts).
class OpenRanges {
 public:
  static constexpr std::uint32_t kMost = 128;

  struct Range {
    std::uint32_t domain;
    std::uint32_t serial;  // differs from that of every other range of the thread
    bool is_included;      // this one or one around it is asked for
    bool is_excluded;      // this one or one around it is not to be measured
    bool is_operation;     // of a domain whose ranges are no regions

    bool is_measured() const noexcept { return is_included && !is_excluded && !is_operation; }
  };

  void clear() noexcept { count_ = deeper_ = 0; }

  // The range around the next one; null at the outermost.
  const Range* innermost() const noexcept { return count_ == 0 ? nullptr : &ranges_[count_ - 1]; }

  void push(Range range) noexcept {
    if (deeper_ != 0 || count_ == kMost) {
      ++deeper_;
      return;
    }
    range.serial = ++last_serial_;
    ranges_[count_++] = range;
  }

  // Serial of the range that closes: the innermost one of this domain; 0 where there is none.
  std::uint32_t pop(std::uint32_t domain) noexcept {
    if (deeper_ != 0) {
      --deeper_;
      return 0;
    }
    for (std::uint32_t at = count_; at-- > 0;) {
      if (ranges_[at].domain != domain) continue;
      const std::uint32_t serial = ranges_[at].serial;
      std::copy(ranges_ + at + 1, ranges_ + count_, ranges_ + at);
      --count_;
      return serial;
    }
    return 0;
  }

  // The measured range at this level, counted from 1 at the outermost; of level 0 the innermost. Null: there is none.
  const Range* measured(std::uint32_t level) const noexcept {
    const Range* found = nullptr;
    std::uint32_t seen = 0;
    for (std::uint32_t at = 0; at < count_; ++at) {
      if (!ranges_[at].is_measured()) continue;
      found = &ranges_[at];
      if (++seen == level) return found;
    }
    return level == 0 ? found : nullptr;
  }

  std::uint32_t position(const Range& range) const noexcept {
    return static_cast<std::uint32_t>(&range - ranges_);
  }

 private:
  std::uint32_t count_;
  std::uint32_t deeper_;  // ranges beyond kMost
  std::uint32_t last_serial_;
  Range ranges_[kMost];
};

}  // namespace region_recorder
