#include "payloads.hpp"

#include <algorithm>
#include <cstring>

#include "caller_state.hpp"
#include "definitions.hpp"
#include "record.hpp"

namespace region_recorder {
namespace {

namespace protocol = nvtx::protocol;
namespace payload = nvtx::protocol::payload;
using protocol::DomainHandle;
using protocol::EventAttributes;

bool is_text(std::uint64_t type) {
  return type == payload::kCString || type == payload::kCStringUtf8;
}

// The text in `bytes`, which need not end with a zero: a copy that does.
Text text_inside(const char* bytes, std::size_t size, CurrentThread& thread) {
  const std::size_t length = std::min(size, sizeof(thread->wide_buffer) - 1);
  std::memcpy(thread->wide_buffer, bytes, length);
  thread->wide_buffer[length] = '\0';
  return narrow_text(thread->wide_buffer);
}

// The message in one payload. False: it has none.
bool message_of(DomainHandle domain, const payload::Data& data, CurrentThread& thread, Text& text) {
  if (data.bytes == nullptr) return false;
  const std::size_t size = size_of_payload(domain, data);
  if (is_text(data.schema)) {
    text = text_inside(static_cast<const char*>(data.bytes), size, thread);
    return true;
  }
  const KnownSchema* const schema = find_schema(domain, data.schema);
  if (schema == nullptr || !schema->has_message) return false;
  const std::size_t bytes = schema->message_bytes != 0 ? schema->message_bytes : sizeof(void*);
  if (size < bytes || schema->message_offset > size - bytes) return false;
  const char* const at = static_cast<const char*>(data.bytes) + schema->message_offset;
  if (schema->message_bytes != 0) {
    text = text_inside(at, schema->message_bytes, thread);
    return true;
  }
  void* pointer;
  std::memcpy(&pointer, at, sizeof(pointer));
  if (pointer == nullptr) return false;
  EventAttributes attributes{};
  if (schema->message_type == payload::kRegisteredString) {
    attributes.message_type = protocol::kRegistered;
    attributes.message.registered = static_cast<protocol::StringHandle>(pointer);
  } else {
    attributes.message_type = protocol::kNarrow;
    attributes.message.narrow = static_cast<const char*>(pointer);
  }
  text = text_of(attributes, thread);
  return true;
}

// What the extension calls.
namespace calls {

std::uint64_t schema_register(DomainHandle domain, const payload::Schema* schema) noexcept {
  const KeptErrno kept;
  return schema == nullptr ? 0 : define_schema(domain, *schema);
}
std::uint64_t enum_register(DomainHandle domain, const payload::Enum* enumeration) noexcept {
  const KeptErrno kept;
  return enumeration == nullptr ? 0 : define_enumeration(domain, *enumeration);
}
std::uint64_t scope_register(DomainHandle domain, const payload::Scope* scope) noexcept {
  const KeptErrno kept;
  return scope == nullptr ? 0 : define_scope(domain, *scope);
}
void mark(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  record_mark(domain, {data, data == nullptr ? 0 : count});
}
int push(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  return record_push(domain, {data, data == nullptr ? 0 : count});
}
int pop(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  return record_pop(domain, {data, data == nullptr ? 0 : count});
}
std::uint64_t start(DomainHandle domain, const payload::Data* data, std::size_t count) noexcept {
  return record_start(domain, {data, data == nullptr ? 0 : count});
}
void end(DomainHandle domain, std::uint64_t id, const payload::Data* data, std::size_t count) noexcept {
  record_end(domain, id, {data, data == nullptr ? 0 : count});
}

}  // namespace calls
}  // namespace

std::size_t size_of_payload(DomainHandle domain, const payload::Data& data) noexcept {
  if (data.size != SIZE_MAX) return data.size;
  if (data.bytes == nullptr) return 0;
  if (is_text(data.schema)) return strnlen(static_cast<const char*>(data.bytes), format::kMaxTextBytes);
  const KnownSchema* const schema = find_schema(domain, data.schema);
  return schema != nullptr ? schema->static_size : info_of(data.schema).size;
}

Text text_of_payloads(DomainHandle domain, const Payloads& payloads, CurrentThread& thread) noexcept {
  const char* of_schema = nullptr;
  const std::size_t count = std::min(payloads.count, format::kMaxPayloads);
  for (std::size_t i = 0; i < count; ++i) {
    Text text{};
    if (message_of(domain, payloads.data[i], thread, text)) return text;
    const KnownSchema* const schema = find_schema(domain, payloads.data[i].schema);
    if (of_schema == nullptr && schema != nullptr) of_schema = schema->name;
  }
  return narrow_text(of_schema);
}

std::uint32_t write_payloads(CurrentThread& thread, DomainHandle domain, const Payloads& payloads,
                             PayloadTexts texts) noexcept {
  if (payloads.count == 0) return 0;
  Stream& stream = thread->stream;
  stream.introduce_definitions();
  const std::size_t count = std::min(payloads.count, format::kMaxPayloads);
  const std::uint32_t domain_id = domain == nullptr ? format::kDefaultDomain : domain_of(domain)->id;
  std::uint32_t written = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const payload::Data& data = payloads.data[i];
    const std::size_t all = data.bytes == nullptr ? 0 : size_of_payload(domain, data);
    const std::size_t size = std::min(all, format::kMaxPayloadBytes);
    Text text{};
    const bool has_text =
        texts == PayloadTexts::kAll && message_of(domain, data, thread, text);
    Record record(format::kPayload);
    if (size < all) record.add_flag(format::kTruncated);
    record.add(domain_id);
    record.add64(data.schema);
    record.add(has_text ? stream.intern(text) : 0);
    record.add64(reinterpret_cast<std::uintptr_t>(data.bytes));
    record.add(static_cast<std::uint32_t>(size));
    if (stream.append(record.words_before(size), data.bytes, size)) ++written;
  }
  return written;
}

bool attach_payloads(payload::Module& module) noexcept {
  if (module.struct_size < sizeof(module) || module.id != payload::kModuleId) return false;
  if (module.segments_count == 0 || module.segments == nullptr) return false;
  if (module.info != nullptr) learn_types(static_cast<const payload::TypeInfo*>(module.info));
  const payload::Segment& segment = module.segments[0];
  attach_extension(segment, payload::kSchemaRegister, calls::schema_register);
  attach_extension(segment, payload::kEnumRegister, calls::enum_register);
  attach_extension(segment, payload::kScopeRegister, calls::scope_register);
  attach_extension(segment, payload::kMark, calls::mark);
  attach_extension(segment, payload::kRangePush, calls::push);
  attach_extension(segment, payload::kRangePop, calls::pop);
  attach_extension(segment, payload::kRangeStart, calls::start);
  attach_extension(segment, payload::kRangeEnd, calls::end);
  attach_deferred(segment);
  return true;
}

}  // namespace region_recorder
