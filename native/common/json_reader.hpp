// Reads one small JSON document strictly: what the safetensors header needs, bounded in depth.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydraconf {

/// What is wrong with a JSON text, and at which byte.
struct JsonError : std::runtime_error {
  JsonError(const std::string& message, std::size_t offset)
      : std::runtime_error(message + " at byte " + std::to_string(offset)) {}
};

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  /// The string's text, or the number as it was spelled: a reader that wants a size must not go
  /// through a double.
  std::string text;
  std::vector<JsonValue> items;
  /// In file order. A key that occurs twice is an error, not a silent loss.
  std::vector<std::pair<std::string, JsonValue>> members;

  const JsonValue* find(std::string_view key) const;
};

/// Parses all of `text`; white space after the document is allowed, anything else is not.
/// Throws JsonError.
JsonValue read_json(std::string_view text);

}  // namespace hydraconf
