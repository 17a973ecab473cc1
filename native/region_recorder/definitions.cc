#include "definitions.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "format.hpp"
#include "memory.hpp"

namespace region_recorder {
namespace {

namespace protocol = nvtx::protocol;
namespace payload = nvtx::protocol::payload;
using protocol::DomainHandle;

constexpr std::size_t kBuckets = 256;
// So that the largest definition fits into a record, whose words are counted in 16 bits.
constexpr std::size_t kMaxEntries = 512;
constexpr std::size_t kMaxEnumEntries = 1024;
constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxPathBytes = 1024;

Arena arena;
// Both lists only grow, each at its head, as in registry.cc.
std::atomic<const Definition*> newest{nullptr};
std::atomic<KnownSchema*> schemas[kBuckets];
std::atomic<std::uint64_t> last_id{payload::kFirstDynamicId};
std::atomic<const payload::TypeInfo*> type_info{nullptr};

std::atomic<KnownSchema*>& bucket_of(std::uint64_t id) {
  return schemas[id * 0x9E3779B97F4A7C15u >> 56];
}

std::uint64_t id_or_new(bool has_id, std::uint64_t id) {
  return has_id && id != 0 ? id : last_id.fetch_add(1, std::memory_order_relaxed);
}

// Counts the words of a record, and writes them where there is memory for them.
class Writer {
 public:
  explicit Writer(std::uint32_t* words) noexcept : words_(words) {}

  std::size_t count() const noexcept { return count_; }

  void add(std::uint64_t word) noexcept {
    if (words_ != nullptr) words_[count_] = static_cast<std::uint32_t>(word);
    ++count_;
  }
  void add64(std::uint64_t value) noexcept {
    add(format::low_half(value));
    add(format::high_half(value));
  }
  // Its length in bytes, and the bytes padded to whole words.
  void add_text(const char* text, std::size_t most) noexcept {
    const std::size_t length = text == nullptr ? 0 : strnlen(text, most);
    add(length);
    const std::size_t padded = (length + 3) / 4;
    if (words_ != nullptr && length != 0) {
      words_[count_ + padded - 1] = 0;
      std::memcpy(words_ + count_, text, length);
    }
    count_ += padded;
  }

 private:
  std::uint32_t* words_;
  std::size_t count_ = 0;
};

// Publishes the record that `write` makes. Its first words are: type, number, domain, id. The number is that of the
// definition, from 1: a later one of the same id replaces it.
template <typename Write>
bool define(format::RecordType type, std::uint8_t flags, DomainHandle handle, std::uint64_t id,
            Write write) {
  Writer counting(nullptr);
  write(counting);
  constexpr std::size_t kFixedWords = 5;
  const std::size_t count = kFixedWords + counting.count();
  void* const memory = arena.allocate(sizeof(Definition));
  auto* const words =
      static_cast<std::uint32_t*>(arena.allocate(count * sizeof(std::uint32_t)));
  if (memory == nullptr || words == nullptr) return false;
  const Domain* const domain = domain_of(handle);
  words[0] = format::record_head(type, flags, count);
  words[2] = domain == nullptr ? format::kDefaultDomain : domain->id;
  words[3] = format::low_half(id);
  words[4] = format::high_half(id);
  Writer writing(words + kFixedWords);
  write(writing);
  auto* const added = new (memory) Definition{newest.load(std::memory_order_acquire), domain, words};
  do {
    words[1] = added->older == nullptr ? 1 : added->older->words[1] + 1;
  } while (!newest.compare_exchange_weak(added->older, added, std::memory_order_acq_rel));
  return true;
}

// What the lists of semantics say that is recorded.
struct Meaning {
  std::uint64_t flags = 0;
  const char* unit = nullptr;
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;
  std::uint64_t scope = 0;
  std::uint64_t time_domain = 0;
};

Meaning meaning_of(const payload::Semantics* semantics) {
  Meaning meaning;
  // A list that leads back into itself is the program's mistake, not ours to hang in.
  for (int most = 16; semantics != nullptr && most > 0; semantics = semantics->next, --most) {
    const std::size_t size = semantics->struct_size;
    if (semantics->id == payload::kCounterSemantics && size >= sizeof(payload::SemanticsOfCounter)) {
      const auto& counter = *reinterpret_cast<const payload::SemanticsOfCounter*>(semantics);
      meaning.flags = counter.flags;
      meaning.unit = counter.unit;
      meaning.numerator = counter.scale_numerator;
      meaning.denominator = counter.scale_denominator;
    } else if (semantics->id == payload::kScopeSemantics && size >= sizeof(payload::SemanticsOfScope)) {
      meaning.scope = reinterpret_cast<const payload::SemanticsOfScope*>(semantics)->scope;
    } else if (semantics->id == payload::kTimeSemantics && size >= sizeof(payload::SemanticsOfTime)) {
      meaning.time_domain = reinterpret_cast<const payload::SemanticsOfTime*>(semantics)->time_domain;
    }
  }
  return meaning;
}

void add_meaning(Writer& record, const Meaning& meaning) {
  record.add64(meaning.flags);
  record.add64(meaning.numerator);
  record.add64(meaning.denominator);
  record.add64(meaning.scope);
  record.add64(meaning.time_domain);
  record.add_text(meaning.unit, kMaxNameBytes);
}

bool is_text(std::uint64_t type) {
  return type == payload::kCString || type == payload::kCStringUtf8;
}

// What an entry takes of the structure; zeros where that is not known.
struct Extent {
  std::size_t size;
  std::size_t align;
};

Extent extent_of(const payload::Entry& entry) {
  const std::uint64_t array = entry.flags & payload::kArrayMask;
  const bool is_fixed = array == payload::kArrayOfFixedSize;
  if ((entry.flags & payload::kPointer) != 0 || (is_text(entry.type) && array == 0 && entry.detail == 0)) {
    return {sizeof(void*), alignof(void*)};
  }
  if (is_text(entry.type)) return {static_cast<std::size_t>(entry.detail), 1};
  if (array != 0 && !is_fixed) return {0, 0};
  const payload::TypeInfo info = info_of(entry.type);
  return {is_fixed ? info.size * static_cast<std::size_t>(entry.detail) : info.size, info.align};
}

const payload::Entry* entries_of(const payload::Schema& schema) {
  constexpr std::uint64_t kEntries = payload::kHasEntries | payload::kHasEntriesCount;
  return (schema.fields & kEntries) == kEntries ? schema.entries : nullptr;
}

void find_message(const payload::Schema& schema, KnownSchema& known) {
  const payload::Entry* const entries = entries_of(schema);
  if (entries == nullptr) return;
  const std::size_t packed = (schema.fields & payload::kHasAlignment) != 0 ? schema.alignment : 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < schema.entries_count; ++i) {
    const payload::Entry& entry = entries[i];
    const Extent extent = extent_of(entry);
    const bool is_message = (entry.flags & payload::kEventMessageMask) == payload::kEventMessage;
    // Behind an entry of unknown size, only one that says where it is can be found.
    if (extent.size == 0 || (end == SIZE_MAX && entry.offset == 0)) {
      end = SIZE_MAX;
      continue;
    }
    const std::size_t natural = std::max<std::size_t>(extent.align, 1);
    const std::size_t align = packed != 0 ? std::min(packed, natural) : natural;
    const std::size_t offset = entry.offset != 0 ? static_cast<std::size_t>(entry.offset)
                                                 : (end + align - 1) / align * align;
    if (is_message) {
      known.has_message = is_text(entry.type) || entry.type == payload::kRegisteredString;
      known.message_type = entry.type;
      known.message_offset = offset;
      const bool lies_here = is_text(entry.type) && (entry.flags & payload::kPointer) == 0 &&
                             ((entry.flags & payload::kArrayMask) != 0 || entry.detail != 0);
      known.message_bytes = lies_here ? extent.size : 0;
      return;
    }
    end = offset + extent.size;
  }
}

const char* keep(const char* text) {
  const std::size_t bytes = std::strlen(text) + 1;
  auto* const kept = static_cast<char*>(arena.allocate(bytes));
  if (kept != nullptr) std::memcpy(kept, text, bytes);
  return kept;
}

payload::TypeInfo same(std::uint16_t size) { return {size, size}; }

}  // namespace

const Definition* newest_definition() noexcept { return newest.load(std::memory_order_acquire); }

const KnownSchema* find_schema(DomainHandle domain, std::uint64_t id) noexcept {
  for (const KnownSchema* known = bucket_of(id).load(std::memory_order_acquire); known != nullptr;
       known = known->next) {
    if (known->id == id && known->domain == domain) return known;
  }
  return nullptr;
}

void learn_types(const payload::TypeInfo* known) noexcept {
  type_info.store(known, std::memory_order_release);
}

payload::TypeInfo info_of(std::uint64_t type) noexcept {
  const payload::TypeInfo* const known = type_info.load(std::memory_order_acquire);
  if (type != 0 && type <= payload::kLastOfInfo) {
    return known != nullptr && type < known[0].size ? known[type] : payload::TypeInfo{0, 0};
  }
  switch (type) {
    case payload::kByte: return same(1);
    case payload::kFloat16:
    case payload::kBf16: return same(2);
    case payload::kFloat32:
    case payload::kTf32:
    case payload::kCategory:
    case payload::kColorArgb:
    case payload::kPid32:
    case payload::kTid32: return same(4);
    case payload::kFloat64:
    case payload::kScopeId:
    case payload::kPid64:
    case payload::kTid64:
    case payload::kRegisteredString: return same(8);
    case payload::kInt128:
    case payload::kUint128: return same(16);
    default: return {0, 0};
  }
}

std::uint64_t define_schema(DomainHandle domain, const payload::Schema& schema) noexcept {
  const auto has = [&schema](std::uint64_t field) { return (schema.fields & field) != 0; };
  const std::uint64_t id = id_or_new(has(payload::kHasId), schema.id);
  const char* const name = has(payload::kHasName) ? schema.name : nullptr;
  const payload::Entry* const entries = entries_of(schema);
  const std::size_t all = entries == nullptr ? 0 : schema.entries_count;
  const std::size_t count = std::min(all, kMaxEntries);
  auto* const known = static_cast<KnownSchema*>(arena.allocate(sizeof(KnownSchema)));
  const bool is_defined = define(
      format::kSchema, count < all ? format::kTruncated : 0, domain, id, [&](Writer& record) {
        record.add(has(payload::kHasType) ? schema.type : 0);
        record.add(has(payload::kHasFlags) ? schema.flags : 0);
        record.add(has(payload::kHasStaticSize) ? schema.static_size : 0);
        record.add(has(payload::kHasAlignment) ? schema.alignment : 0);
        record.add_text(name, kMaxNameBytes);
        record.add(count);
        for (std::size_t i = 0; i < count; ++i) {
          const payload::Entry& entry = entries[i];
          const payload::TypeInfo info = info_of(entry.type);
          record.add64(entry.flags);
          record.add64(entry.type);
          record.add64(entry.detail);
          record.add64(entry.offset);
          record.add(info.size | std::uint32_t{info.align} << 16);
          add_meaning(record, meaning_of(entry.semantics));
          record.add_text(entry.name, kMaxNameBytes);
        }
      });
  if (known == nullptr || !is_defined) return 0;
  known->domain = domain;
  known->id = id;
  known->name = name == nullptr ? nullptr : keep(name);
  known->static_size = has(payload::kHasStaticSize) ? schema.static_size : 0;
  find_message(schema, *known);
  std::atomic<KnownSchema*>& bucket = bucket_of(id);
  known->next = bucket.load(std::memory_order_acquire);
  while (!bucket.compare_exchange_weak(known->next, known, std::memory_order_acq_rel)) {
  }
  return id;
}

std::uint64_t define_enumeration(DomainHandle domain, const payload::Enum& enumeration) noexcept {
  const auto has = [&enumeration](std::uint64_t field) { return (enumeration.fields & field) != 0; };
  const std::uint64_t id = id_or_new(has(payload::kEnumHasId), enumeration.id);
  const bool has_entries = has(payload::kEnumHasEntries) && has(payload::kEnumHasEntriesCount) &&
                           enumeration.entries != nullptr;
  const std::size_t all = has_entries ? enumeration.entries_count : 0;
  const std::size_t count = std::min(all, kMaxEnumEntries);
  const bool is_defined = define(
      format::kEnumeration, count < all ? format::kTruncated : 0, domain, id, [&](Writer& record) {
        record.add(has(payload::kEnumHasSize) ? enumeration.size : 0);
        record.add_text(has(payload::kEnumHasName) ? enumeration.name : nullptr, kMaxNameBytes);
        record.add(count);
        for (std::size_t i = 0; i < count; ++i) {
          record.add64(enumeration.entries[i].value);
          record.add(enumeration.entries[i].is_flag != 0 ? 1 : 0);
          record.add_text(enumeration.entries[i].name, kMaxNameBytes);
        }
      });
  return is_defined ? id : 0;
}

std::uint64_t define_counter(DomainHandle domain, const payload::Counter& counter) noexcept {
  if (counter.struct_size < sizeof(counter)) return 0;
  const std::uint64_t id = id_or_new(true, counter.id);
  const bool is_defined = define(format::kCounter, 0, domain, id, [&](Writer& record) {
    Meaning meaning = meaning_of(counter.semantics);
    if (counter.scope != 0) meaning.scope = counter.scope;
    record.add64(counter.schema);
    add_meaning(record, meaning);
    record.add_text(counter.name, kMaxNameBytes);
  });
  return is_defined ? id : 0;
}

std::uint64_t define_scope(DomainHandle domain, const payload::Scope& scope) noexcept {
  if (scope.struct_size < sizeof(scope)) return 0;
  const std::uint64_t id = id_or_new(true, scope.id);
  const bool is_defined = define(format::kScope, 0, domain, id, [&](Writer& record) {
    record.add64(scope.parent);
    record.add_text(scope.path, kMaxPathBytes);
  });
  return is_defined ? id : 0;
}

std::uint64_t define_time_domain(DomainHandle domain, const payload::TimeDomain& time) noexcept {
  const std::uint64_t id = id_or_new(true, time.id);
  const bool is_defined = define(format::kTimeDomain, 0, domain, id, [&](Writer& record) {
    record.add64(time.scope);
    record.add64(time.type);
    record.add64(static_cast<std::uint64_t>(time.resolution));
  });
  return is_defined ? id : 0;
}

}  // namespace region_recorder
