#include "common/json_reader.hpp"

#include <unordered_set>

#include "common/text.hpp"
#include "common/utf8.hpp"

namespace hydraconf {
namespace {

// Far beyond any honest header, far below what the stack holds.
constexpr int kMaxDepth = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  JsonValue document() {
    JsonValue value = read(0);
    skip_space();
    if (at_ != text_.size()) fail("unexpected text after the JSON document");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw JsonError(message, at_); }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  JsonValue read(int depth) {
    if (depth > kMaxDepth) fail("JSON nested too deeply");
    skip_space();
    switch (peek()) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': {
        JsonValue value;
        value.kind = JsonValue::Kind::string;
        value.text = string();
        return value;
      }
      case 't': return word("true", JsonValue::Kind::boolean, true);
      case 'f': return word("false", JsonValue::Kind::boolean, false);
      case 'n': return word("null", JsonValue::Kind::null, false);
      default: return number();
    }
  }

  JsonValue word(std::string_view spelling, JsonValue::Kind kind, bool boolean) {
    if (text_.substr(at_, spelling.size()) != spelling) fail("not a JSON value");
    at_ += spelling.size();
    JsonValue value;
    value.kind = kind;
    value.boolean = boolean;
    return value;
  }

  JsonValue number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') {
      ++at_;
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    JsonValue value;
    value.kind = JsonValue::Kind::number;
    value.text = std::string(text_.substr(begin, at_ - begin));
    return value;
  }

  void digits() {
    if (peek() < '0' || peek() > '9') fail("not a JSON value");
    while (peek() >= '0' && peek() <= '9') ++at_;
  }

  JsonValue array(int depth) {
    JsonValue value;
    value.kind = JsonValue::Kind::array;
    expect('[');
    if (accept(']')) return value;
    do {
      value.items.push_back(read(depth + 1));
    } while (accept(','));
    expect(']');
    return value;
  }

  JsonValue object(int depth) {
    JsonValue value;
    value.kind = JsonValue::Kind::object;
    std::unordered_set<std::string> seen;
    expect('{');
    if (accept('}')) return value;
    do {
      skip_space();
      std::string key = string();
      if (!seen.insert(key).second) fail("key '" + printable(key) + "' occurs twice");
      expect(':');
      value.members.emplace_back(std::move(key), read(depth + 1));
    } while (accept(','));
    expect('}');
    return value;
  }

  std::string string() {
    if (peek() != '"') fail("expected a string");
    ++at_;
    std::string result;
    for (;;) {
      if (at_ >= text_.size()) fail("string without an end");
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return result;
      }
      if (static_cast<unsigned char>(c) < 0x20) fail("control character in a string");
      if (c == '\\') {
        ++at_;
        escape(result);
        continue;
      }
      const std::size_t length = utf8_length(text_, at_);
      if (length == 0) fail("text that is not UTF-8");
      result.append(text_.substr(at_, length));
      at_ += length;
    }
  }

  void escape(std::string& result) {
    const char c = peek();
    ++at_;
    switch (c) {
      case '"': case '\\': case '/': result += c; return;
      case 'b': result += '\b'; return;
      case 'f': result += '\f'; return;
      case 'n': result += '\n'; return;
      case 'r': result += '\r'; return;
      case 't': result += '\t'; return;
      case 'u': append_utf8(result, code_point()); return;
      default: fail("unknown escape in a string");
    }
  }

  unsigned code_point() {
    const unsigned first = hex4();
    if (first < 0xD800u || first > 0xDFFFu) return first;
    if (first > 0xDBFFu || text_.substr(at_, 2) != "\\u") fail("half of a surrogate pair");
    at_ += 2;
    const unsigned second = hex4();
    if (second < 0xDC00u || second > 0xDFFFu) fail("half of a surrogate pair");
    return 0x10000u + ((first - 0xD800u) << 10u) + (second - 0xDC00u);
  }

  unsigned hex4() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      unsigned digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<unsigned>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<unsigned>(c - 'a') + 10u;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<unsigned>(c - 'A') + 10u;
      } else {
        fail("\\u needs four hexadecimal digits");
      }
      value = value * 16u + digit;
    }
    return value;
  }

  static void append_utf8(std::string& out, unsigned code) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80u) {
      put(code);
    } else if (code < 0x800u) {
      put(0xC0u | (code >> 6u));
      put(0x80u | (code & 0x3Fu));
    } else if (code < 0x10000u) {
      put(0xE0u | (code >> 12u));
      put(0x80u | ((code >> 6u) & 0x3Fu));
      put(0x80u | (code & 0x3Fu));
    } else {
      put(0xF0u | (code >> 18u));
      put(0x80u | ((code >> 12u) & 0x3Fu));
      put(0x80u | ((code >> 6u) & 0x3Fu));
      put(0x80u | (code & 0x3Fu));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

JsonValue read_json(std::string_view text) { return Reader(text).document(); }

}  // namespace hydraconf
