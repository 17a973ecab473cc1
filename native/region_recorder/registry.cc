#include "registry.hpp"

#include <cstring>
#include <new>

#include "memory.hpp"

namespace region_recorder {
namespace {

constexpr std::size_t kBuckets = 1024;

Arena arena;
Domain* domains[kBuckets];
RegisteredString* strings[kBuckets];
std::uint32_t last_domain = 0;

bool same(const Text& a, const Text& b) {
  return a.hash == b.hash && a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0;
}

// `text` with bytes of its own; `bytes` is null when there is no memory.
Text keep(const Text& text) {
  Text kept = text;
  char* const bytes = static_cast<char*>(arena.allocate(text.length + 1));
  if (bytes != nullptr) std::memcpy(bytes, text.bytes, text.length);
  kept.bytes = bytes;
  return kept;
}

}  // namespace

Domain* domain_of_name(const Text& name) noexcept {
  Domain*& bucket = domains[name.hash % kBuckets];
  for (Domain* known = bucket; known != nullptr; known = known->next) {
    if (same(known->name, name)) return known;
  }
  void* const memory = arena.allocate(sizeof(Domain));
  const Text kept = keep(name);
  if (memory == nullptr || kept.bytes == nullptr) return nullptr;
  return bucket = new (memory) Domain{++last_domain, kept, bucket};
}

RegisteredString* registered_string(const Text& text) noexcept {
  RegisteredString*& bucket = strings[text.hash % kBuckets];
  for (RegisteredString* known = bucket; known != nullptr; known = known->next) {
    if (same(known->text, text)) return known;
  }
  void* const memory = arena.allocate(sizeof(RegisteredString));
  const Text kept = keep(text);
  if (memory == nullptr || kept.bytes == nullptr) return nullptr;
  return bucket = new (memory) RegisteredString{kept, bucket};
}

}  // namespace region_recorder
