// Message texts: what NVTX hands over, as bounded UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace region_recorder {

// Not terminated. `hash` is that of hash_text.
struct Text {
  const char* bytes;
  std::uint32_t length;
  std::uint32_t hash;
  bool truncated;
};

std::uint32_t hash_text(const char* bytes, std::size_t length) noexcept;

// A null pointer is an empty text; a text beyond format::kMaxTextBytes ends before the first
// character that does not fit. The result points into `message`.
Text narrow_text(const char* message) noexcept;

// The same from UTF-32 or UTF-16 (by the size of wchar_t), whatever the locale; what is no
// character becomes U+FFFD. The result points into `buffer`, of format::kMaxTextBytes.
Text wide_text(const wchar_t* message, char* buffer) noexcept;

}  // namespace region_recorder
