#include "payloads.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "caller_state.hpp"
#include "events.hpp"
#include "memory.hpp"

namespace region_recorder {
namespace {

namespace protocol = nvtx::protocol;
namespace payload = nvtx::protocol::payload;
using protocol::DomainHandle;
using protocol::EventAttributes;

// Where a structure of the program has the name of its event. Kept as long as the process lives.
struct KnownSchema {
  DomainHandle domain;
  std::uint64_t id;
  const char* name;  // the schema's own, or null
  bool has_message;
  std::uint64_t message_type;
  std::size_t message_offset;
  std::size_t message_bytes;  // of a text that lies in the structure itself; 0: a pointer or handle does
  KnownSchema* next;
};

constexpr std::size_t kBuckets = 256;

Arena arena;
// Entries are only ever added, each at the head of its bucket's list, as in registry.cc.
std::atomic<KnownSchema*> schemas[kBuckets];
std::atomic<std::uint64_t> last_id{payload::kFirstDynamicId};

// Of the C types of the program's compiler; see Module::info.
std::atomic<const payload::TypeInfo*> type_info{nullptr};

std::atomic<KnownSchema*>& bucket_of(std::uint64_t id) {
  return schemas[id * 0x9E3779B97F4A7C15u >> 56];
}

// The newest of this id: a program may register again.
const KnownSchema* find_schema(DomainHandle domain, std::uint64_t id) {
  for (const KnownSchema* known = bucket_of(id).load(std::memory_order_acquire); known != nullptr;
       known = known->next) {
    if (known->id == id && known->domain == domain) return known;
  }
  return nullptr;
}

payload::TypeInfo same(std::uint16_t size) { return {size, size}; }

// Size and alignment of a predefined type; zeros where they are not known.
payload::TypeInfo info_of(std::uint64_t type) {
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

void find_message(const payload::Schema& schema, KnownSchema& known) {
  constexpr std::uint64_t kEntries = payload::kHasEntries | payload::kHasEntriesCount;
  if ((schema.fields & kEntries) != kEntries || schema.entries == nullptr) return;
  const std::size_t packed = (schema.fields & payload::kHasAlignment) != 0 ? schema.alignment : 0;
  std::size_t end = 0;
  for (std::size_t i = 0; i < schema.entries_count; ++i) {
    const payload::Entry& entry = schema.entries[i];
    const Extent extent = extent_of(entry);
    if (extent.size == 0) return;
    const std::size_t align = packed != 0 ? std::min(packed, extent.align) : extent.align;
    const std::size_t offset = entry.offset != 0 ? static_cast<std::size_t>(entry.offset)
                                                 : (end + align - 1) / align * align;
    if ((entry.flags & payload::kEventMessageMask) == payload::kEventMessage) {
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

constexpr std::size_t kLongestInside = 256;

// An event's name out of its payloads. A text inside the structure need not end with a zero: it is copied.
class Named {
 public:
  Named(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
    attributes_.message_type = protocol::kNoMessage;
    if (data == nullptr) return;
    const char* of_schema = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const KnownSchema* const schema = find_schema(domain, data[i].schema);
      if (schema == nullptr) continue;
      if (of_schema == nullptr) of_schema = schema->name;
      if (take(*schema, data[i])) return;
    }
    if (of_schema != nullptr) set(of_schema);
  }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;

  const EventAttributes& attributes() const noexcept { return attributes_; }

 private:
  bool take(const KnownSchema& schema, const payload::Data& data) noexcept {
    const std::size_t bytes = schema.message_bytes != 0 ? schema.message_bytes : sizeof(void*);
    if (!schema.has_message || data.bytes == nullptr) return false;
    if (data.size < bytes || schema.message_offset > data.size - bytes) return false;
    const char* const at = static_cast<const char*>(data.bytes) + schema.message_offset;
    if (schema.message_bytes != 0) {
      const std::size_t length = std::min(schema.message_bytes, kLongestInside);
      std::memcpy(text_, at, length);
      text_[length] = '\0';
      set(text_);
      return true;
    }
    void* pointer;
    std::memcpy(&pointer, at, sizeof(pointer));
    if (pointer == nullptr) return false;
    if (schema.message_type == payload::kRegisteredString) {
      attributes_.message_type = protocol::kRegistered;
      attributes_.message.registered = static_cast<protocol::StringHandle>(pointer);
    } else {
      set(static_cast<const char*>(pointer));
    }
    return true;
  }

  void set(const char* text) noexcept {
    attributes_.message_type = protocol::kNarrow;
    attributes_.message.narrow = text;
  }

  EventAttributes attributes_{};
  char text_[kLongestInside + 1];
};

// What the extension calls.
namespace calls {

std::uint64_t schema_register(DomainHandle domain, const payload::Schema* schema) noexcept {
  const KeptErrno kept;
  if (schema == nullptr) return 0;
  auto* const known = static_cast<KnownSchema*>(arena.allocate(sizeof(KnownSchema)));
  if (known == nullptr) return 0;
  const bool has_name = (schema->fields & payload::kHasName) != 0 && schema->name != nullptr;
  known->domain = domain;
  known->id = (schema->fields & payload::kHasId) != 0
                  ? schema->id
                  : last_id.fetch_add(1, std::memory_order_relaxed);
  known->name = has_name ? keep(schema->name) : nullptr;
  find_message(*schema, *known);
  std::atomic<KnownSchema*>& bucket = bucket_of(known->id);
  known->next = bucket.load(std::memory_order_acquire);
  while (!bucket.compare_exchange_weak(known->next, known, std::memory_order_acq_rel)) {
  }
  return known->id;
}

std::uint64_t enum_register(DomainHandle, const void*) noexcept {
  return last_id.fetch_add(1, std::memory_order_relaxed);
}

void mark(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  record_mark(domain, Named(domain, data, count).attributes());
}
int push(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  return record_push(domain, Named(domain, data, count).attributes());
}
int pop(DomainHandle domain, const payload::Data*, std::size_t) noexcept {
  return record_pop(domain);
}
std::uint64_t start(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  return record_start(domain, Named(domain, data, count).attributes());
}
void end(DomainHandle, std::uint64_t id, const payload::Data*, std::size_t) noexcept {
  record_end(id);
}

}  // namespace calls

template <typename Call>
void attach(const payload::Segment& segment, payload::Function function, Call* call) {
  if (function < segment.slots) segment.functions[function] = reinterpret_cast<std::intptr_t>(call);
}

}  // namespace

bool attach_payloads(payload::Module& module) noexcept {
  if (module.struct_size < sizeof(module) || module.id != payload::kModuleId) return false;
  if (module.segments_count == 0 || module.segments == nullptr) return false;
  if (module.info != nullptr) {
    type_info.store(static_cast<const payload::TypeInfo*>(module.info), std::memory_order_release);
  }
  const payload::Segment& segment = module.segments[0];
  attach(segment, payload::kSchemaRegister, calls::schema_register);
  attach(segment, payload::kEnumRegister, calls::enum_register);
  attach(segment, payload::kMark, calls::mark);
  attach(segment, payload::kRangePush, calls::push);
  attach(segment, payload::kRangePop, calls::pop);
  attach(segment, payload::kRangeStart, calls::start);
  attach(segment, payload::kRangeEnd, calls::end);
  return true;
}

}  // namespace region_recorder
