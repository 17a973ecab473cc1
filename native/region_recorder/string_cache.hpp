// Which texts a stream has already written, and under which id. Bounded: when full it forgets
// everything, and texts are written again under new ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "text.hpp"

namespace region_recorder {

// Lives in zeroed pages of its thread's recorder; untouched parts cost no memory.
class StringCache {
 public:
  // Id of `text`, or 0 when it has to be written first.
  std::uint32_t find(const Text& text) const noexcept {
    for (std::size_t i = text.hash & kMask; slots_[i].id != 0; i = (i + 1) & kMask) {
      const Slot& slot = slots_[i];
      if (slot.hash == text.hash && slot.length == text.length &&
          std::memcmp(bytes_ + slot.offset, text.bytes, text.length) == 0) {
        return slot.id;
      }
    }
    return 0;
  }

  // Remembers `text`, which find() does not know, under `id`. Long texts are not kept.
  void insert(const Text& text, std::uint32_t id) noexcept {
    if (text.length > kLongestKept) return;
    if (entries_ == kCapacity || used_ + text.length > sizeof(bytes_)) clear();
    std::size_t i = text.hash & kMask;
    while (slots_[i].id != 0) i = (i + 1) & kMask;
    slots_[i] = {text.hash, id, used_, text.length};
    std::memcpy(bytes_ + used_, text.bytes, text.length);
    used_ += text.length;
    ++entries_;
  }

  void clear() noexcept {
    if (entries_ == 0) return;
    std::memset(slots_, 0, sizeof(slots_));
    entries_ = 0;
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint32_t id;  // 0: free
    std::uint32_t offset;
    std::uint32_t length;
  };

  static constexpr std::size_t kSlots = 2048;
  static constexpr std::size_t kMask = kSlots - 1;
  static constexpr std::size_t kCapacity = kSlots * 3 / 4;
  static constexpr std::size_t kLongestKept = 16 * 1024;  // names of templated kernels get long

  std::size_t entries_;
  std::uint32_t used_;
  Slot slots_[kSlots];
  char bytes_[128 * 1024];
};

}  // namespace region_recorder
