// Small questions about text.
#pragma once

#include <string>
#include <string_view>

namespace hydraconf {

inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// A name out of a file, safe to show on a terminal: control characters become '?'.
inline std::string printable(std::string_view text) {
  std::string safe(text);
  for (char& c : safe)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return safe;
}

}  // namespace hydraconf
