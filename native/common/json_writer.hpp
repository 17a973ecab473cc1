// Writes one JSON document, piece by piece, with commas and indentation kept right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hydraconf {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::uint64_t value);
  /// Shortest text that reads back as the same double. `value` must be finite: JSON has no other.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  /// A list of sizes on one line.
  JsonWriter& shape(const std::vector<std::size_t>& sizes);

  /// The document so far, with a final newline.
  std::string text() const { return text_ + "\n"; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view value);
  void separate();

  std::string text_;
  std::vector<std::size_t> counts_;
  bool after_key_ = false;
};

/// `text` as a JSON string literal, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);

}  // namespace hydraconf
