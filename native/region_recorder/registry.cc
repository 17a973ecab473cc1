#include "registry.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include "memory.hpp"

namespace region_recorder {
namespace {

constexpr std::size_t kBuckets = 1024;

// Entries are only ever added, each at the head of its bucket's list: no lock, nothing that a fork could find half done.
template <typename Entry>
using Buckets = std::atomic<Entry*>[kBuckets];

Arena arena;
Buckets<Domain> domains;
Buckets<RegisteredString> strings;
std::atomic<std::uint32_t> last_domain{0};

const Text& text_of(const Domain& domain) { return domain.name; }
const Text& text_of(const RegisteredString& string) { return string.text; }

bool same(const Text& a, const Text& b) {
  return a.hash == b.hash && a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0;
}

// Among the entries from `first` up to `end`, which is not looked at.
template <typename Entry>
Entry* find(Entry* first, const Entry* end, const Text& text) {
  for (Entry* known = first; known != end; known = known->next) {
    if (same(text_of(*known), text)) return known;
  }
  return nullptr;
}

// `text` with bytes of its own; `bytes` is null when there is no memory.
Text keep(const Text& text) {
  Text kept = text;
  char* const bytes = static_cast<char*>(arena.allocate(text.length + 1));
  if (bytes != nullptr) std::memcpy(bytes, text.bytes, text.length);
  kept.bytes = bytes;
  return kept;
}

// The entry for `text`; `create` makes a new one of the kept text in the memory that it gets.
template <typename Entry, typename Create>
Entry* find_or_add(Buckets<Entry>& buckets, const Text& text, Create create) {
  std::atomic<Entry*>& bucket = buckets[text.hash % kBuckets];
  Entry* first = bucket.load(std::memory_order_acquire);
  if (Entry* const known = find<Entry>(first, nullptr, text)) return known;
  void* const memory = arena.allocate(sizeof(Entry));
  const Text kept = keep(text);
  if (memory == nullptr || kept.bytes == nullptr) return nullptr;
  Entry* const added = create(memory, kept);
  for (;;) {
    added->next = first;
    Entry* const searched = first;
    if (bucket.compare_exchange_strong(first, added, std::memory_order_acq_rel)) return added;
    // Another thread was first; perhaps with the same text. What this one has made stays unused.
    if (Entry* const known = find<Entry>(first, searched, text)) return known;
  }
}

}  // namespace

Domain* domain_of_name(const Text& name) noexcept {
  return find_or_add<Domain>(domains, name, [](void* memory, const Text& kept) {
    const std::uint32_t id = last_domain.fetch_add(1, std::memory_order_relaxed) + 1;
    return new (memory) Domain{id, kept, nullptr};
  });
}

RegisteredString* registered_string(const Text& text) noexcept {
  return find_or_add<RegisteredString>(strings, text, [](void* memory, const Text& kept) {
    return new (memory) RegisteredString{kept, nullptr};
  });
}

}  // namespace region_recorder
