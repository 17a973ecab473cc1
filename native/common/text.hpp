// Small questions about text.
#pragma once

#include <string_view>

namespace hydraconf {

inline bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

}  // namespace hydraconf
