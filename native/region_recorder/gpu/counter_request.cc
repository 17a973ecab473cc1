#include "counter_request.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>

#include "../descriptor.hpp"
#include "../memory.hpp"

namespace region_recorder::gpu {
namespace {

constexpr std::size_t kMostRequestBytes = std::size_t{1} << 20;

// Behind the character of UTF-8 that begins at `at`.
std::size_t next_character(const Piece& text, std::size_t at) {
  ++at;
  while (at < text.length && (static_cast<unsigned char>(text.bytes[at]) & 0xC0) == 0x80) ++at;
  return at;
}

// One step of both, where the pattern fits the text here. Not of `*`.
bool step(const Piece& pattern, const Piece& text, std::size_t& in_pattern, std::size_t& in_text) {
  if (in_pattern == pattern.length) return false;
  if (pattern.bytes[in_pattern] == '?') {
    ++in_pattern;
    in_text = next_character(text, in_text);
    return true;
  }
  const bool is_escaped = pattern.bytes[in_pattern] == '\\' && in_pattern + 1 < pattern.length;
  const std::size_t literal = is_escaped ? in_pattern + 1 : in_pattern;
  if (pattern.bytes[literal] != text.bytes[in_text]) return false;
  in_pattern = literal + 1;
  ++in_text;
  return true;
}

bool matches_glob(const Piece& pattern, const Piece& text) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t behind_star = kNone;
  std::size_t star_ends = 0;
  while (in_text < text.length) {
    if (in_pattern < pattern.length && pattern.bytes[in_pattern] == '*') {
      behind_star = ++in_pattern;
      star_ends = in_text;
    } else if (!step(pattern, text, in_pattern, in_text)) {
      if (behind_star == kNone) return false;
      star_ends = next_character(text, star_ends);
      in_pattern = behind_star;
      in_text = star_ends;
    }
  }
  while (in_pattern < pattern.length && pattern.bytes[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.length;
}

// Split at the first `@` that is not escaped.
RangePattern parse(char* text) {
  const std::size_t length = std::strlen(text);
  for (std::size_t at = 0; at < length; ++at) {
    if (text[at] == '\\') ++at;
    else if (text[at] == '@') return {{text, at}, {text + at + 1, length - at - 1}};
  }
  return {{nullptr, 0}, {text, length}};
}

Piece piece_of(const Text& text) { return {text.bytes, text.length}; }

template <std::size_t size>
bool any_matches(const RangePattern (&patterns)[size], std::size_t count, const Text& domain,
                 const Text& name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (patterns[i].matches(domain, name)) return true;
  }
  return false;
}

// Null: the entry has another key.
char* value_of(char* entry, const char* key) {
  const std::size_t length = std::strlen(key);
  return std::strncmp(entry, key, length) == 0 && entry[length] == ' ' ? entry + length + 1
                                                                       : nullptr;
}

template <typename Value, std::size_t size>
bool add(Value (&list)[size], std::size_t& count, const Value& value) {
  if (count == size) return false;
  list[count++] = value;
  return true;
}

}  // namespace

bool RangePattern::matches(const Text& domain_name, const Text& range_name) const noexcept {
  return (domain.bytes == nullptr || matches_glob(domain, piece_of(domain_name))) &&
         matches_glob(name, piece_of(range_name));
}

FileContents read_file(const char* path, std::size_t most) noexcept {
  const Descriptor file(open_descriptor(path, O_RDONLY));
  struct stat status;
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const auto length = static_cast<std::size_t>(status.st_size);
  if (length > most) return {};
  auto* const bytes = static_cast<char*>(allocate_pages(length + 1));
  if (bytes == nullptr) return {};
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::read(file.get(), bytes + done, length - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (done == length) return {bytes, length};
  munmap(bytes, length + 1);
  return {};
}

bool CounterRequest::read(const char* path) noexcept {
  const FileContents file = read_file(path, kMostRequestBytes);
  if (file.bytes == nullptr) return false;
  for (char* entry = file.bytes; entry < file.bytes + file.length;
       entry += std::strlen(entry) + 1) {
    if (!take(entry)) return false;
  }
  return results != nullptr && images != nullptr && metric_count > 0 && pass < passes &&
         (pass == 0) == (previous == nullptr);
}

// False: there is no room for it.
bool CounterRequest::take(char* entry) noexcept {
  const struct {
    const char* key;
    std::uint32_t& value;
  } numbers[] = {{"level", level},
                 {"pass", pass},
                 {"passes", passes},
                 {"ranges", most_ranges},
                 {"interval", interval_ns}};
  for (const auto& number : numbers) {
    if (const char* const value = value_of(entry, number.key)) {
      number.value = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
      return true;
    }
  }
  const struct {
    const char* key;
    const char*& value;
  } places[] = {{"results", results}, {"images", images}, {"previous", previous}};
  for (const auto& place : places) {
    if (const char* const value = value_of(entry, place.key)) {
      place.value = value;
      return true;
    }
  }
  if (const char* const metric = value_of(entry, "metric")) return add(metrics, metric_count, metric);
  if (char* const pattern = value_of(entry, "include"))
    return add(include, include_count, parse(pattern));
  if (char* const pattern = value_of(entry, "exclude"))
    return add(exclude, exclude_count, parse(pattern));
  if (const char* const domain = value_of(entry, "operations"))
    return add(operations, operation_count, Piece{domain, std::strlen(domain)});
  return true;
}

bool CounterRequest::includes(const Text& domain, const Text& name) const noexcept {
  return include_count == 0 || any_matches(include, include_count, domain, name);
}

bool CounterRequest::excludes(const Text& domain, const Text& name) const noexcept {
  return any_matches(exclude, exclude_count, domain, name);
}

bool CounterRequest::is_operation(const Text& domain) const noexcept {
  for (std::size_t i = 0; i < operation_count; ++i) {
    if (operations[i].length == domain.length &&
        std::memcmp(operations[i].bytes, domain.bytes, domain.length) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace region_recorder::gpu
