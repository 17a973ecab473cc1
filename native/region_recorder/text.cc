#include "text.hpp"

#include <cstring>

#include "format.hpp"

namespace region_recorder {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_surrogate(char32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

// Reads one character and moves on.
char32_t next_character(const wchar_t*& at) {
  if constexpr (sizeof(wchar_t) == 2) {
    const char32_t first = static_cast<char16_t>(*at++);
    if (first < 0xD800 || first > 0xDBFF) return first;
    const char32_t second = static_cast<char16_t>(*at);
    if (second < 0xDC00 || second > 0xDFFF) return kReplacement;
    ++at;
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  } else {
    return static_cast<char32_t>(*at++);
  }
}

std::size_t encode_utf8(char32_t c, char out[4]) {
  if (c > 0x10FFFF || is_surrogate(c)) c = kReplacement;
  const auto tail = [c](unsigned shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out[0] = static_cast<char>(c);
    return 1;
  }
  if (c < 0x800) {
    out[0] = static_cast<char>(0xC0 | (c >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (c < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (c >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (c >> 18));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

// Where a text of more than `limit` bytes may be cut without splitting a UTF-8 sequence.
std::size_t character_boundary(const char* bytes, std::size_t limit) {
  const auto continues = [bytes](std::size_t i) {
    return (static_cast<unsigned char>(bytes[i]) & 0xC0) == 0x80;
  };
  std::size_t cut = limit;
  while (cut > 0 && limit - cut < 3 && continues(cut)) --cut;
  return continues(cut) ? limit : cut;
}

}  // namespace

// Eight bytes at a time; good enough for a table of names, and a few nanoseconds for a usual one.
std::uint32_t hash_text(const char* bytes, std::size_t length) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = length * kMultiplier;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes + i, length - i);
  mix(rest);
  return static_cast<std::uint32_t>(hash ^ (hash >> 29));
}

Text narrow_text(const char* message) noexcept {
  if (message == nullptr) message = "";
  std::size_t length = strnlen(message, format::kMaxTextBytes + 1);
  const bool truncated = length > format::kMaxTextBytes;
  if (truncated) length = character_boundary(message, format::kMaxTextBytes);
  return {message, static_cast<std::uint32_t>(length), hash_text(message, length), truncated};
}

Text wide_text(const wchar_t* message, char* buffer) noexcept {
  std::size_t length = 0;
  bool truncated = false;
  if (message != nullptr) {
    while (*message != L'\0') {
      char encoded[4];
      const std::size_t bytes = encode_utf8(next_character(message), encoded);
      if (length + bytes > format::kMaxTextBytes) {
        truncated = true;
        break;
      }
      std::memcpy(buffer + length, encoded, bytes);
      length += bytes;
    }
  }
  return {buffer, static_cast<std::uint32_t>(length), hash_text(buffer, length), truncated};
}

}  // namespace region_recorder
