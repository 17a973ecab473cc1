#include "common/json_writer.hpp"

#include <cstdio>
#include <cstdlib>

#include "common/utf8.hpp"

namespace hydraconf {

std::string json_quote(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      quoted += "\\ufffd";
      ++i;
    } else if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      quoted += escape;
      ++i;
    } else {
      quoted.append(text.substr(i, length));
      i += length;
    }
  }
  return quoted + "\"";
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (counts_.empty()) return;
  if (counts_.back()++ > 0) text_ += ',';
  text_ += '\n';
  text_.append(2 * counts_.size(), ' ');
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  counts_.push_back(0);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool empty = counts_.back() == 0;
  counts_.pop_back();
  if (!empty) {
    text_ += '\n';
    text_.append(2 * counts_.size(), ' ');
  }
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view value) {
  separate();
  text_ += value;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_quote(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) { return raw(json_quote(text)); }
JsonWriter& JsonWriter::integer(std::uint64_t value) { return raw(std::to_string(value)); }
JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::number(double value) {
  char digits[40];
  for (int precision = 6; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (std::strtod(digits, nullptr) == value) break;
  }
  return raw(digits);
}

JsonWriter& JsonWriter::shape(const std::vector<std::size_t>& sizes) {
  std::string list = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return raw(list + "]");
}

}  // namespace hydraconf
