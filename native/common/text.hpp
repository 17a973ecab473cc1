// Small questions about text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hydraconf {

inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// A name out of a file, safe to show on a terminal: control characters become '?', and what is far
/// longer than any real name ends with "...".
inline std::string printable(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string safe(text.substr(0, kLongest));
  if (text.size() > kLongest) {
    // Not in the middle of a character.
    while (!safe.empty() && (static_cast<unsigned char>(safe.back()) & 0xC0u) == 0x80u)
      safe.pop_back();
    if (!safe.empty() && static_cast<unsigned char>(safe.back()) >= 0xC0u) safe.pop_back();
    safe += "...";
  }
  for (char& c : safe)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return safe;
}

}  // namespace hydraconf
