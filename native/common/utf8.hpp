// UTF-8, just enough to write valid JSON and to check names read from files.
#pragma once

#include <cstddef>
#include <string_view>

namespace hydraconf {

/// Length of the well-formed UTF-8 sequence at `text[at]`, or 0 where there is none (a stray
/// continuation byte, an overlong form, a surrogate, beyond U+10FFFF, or cut off).
inline std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80u) return at < text.size() ? 1 : 0;
  if (lead >= 0xC2u && lead <= 0xDFu) return continues(1) ? 2 : 0;
  if (lead >= 0xE0u && lead <= 0xEFu) {
    const unsigned low = lead == 0xE0u ? 0xA0u : 0x80u;
    const unsigned high = lead == 0xEDu ? 0x9Fu : 0xBFu;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0u && lead <= 0xF4u) {
    const unsigned low = lead == 0xF0u ? 0x90u : 0x80u;
    const unsigned high = lead == 0xF4u ? 0x8Fu : 0xBFu;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace hydraconf
