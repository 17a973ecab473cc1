#include "events.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "caller_state.hpp"
#include "clock.hpp"
#include "gpu/counters.hpp"
#include "gpu/range_counters.hpp"
#include "payloads.hpp"
#include "process.hpp"
#include "record.hpp"
#include "registry.hpp"
#include "thread.hpp"
#include "thread_usage.hpp"

namespace region_recorder {

namespace protocol = nvtx::protocol;
using protocol::DomainHandle;
using protocol::EventAttributes;

Text text_of(const EventAttributes& attributes, CurrentThread& thread) noexcept {
  switch (attributes.message_type) {
    case protocol::kNarrow: return narrow_text(attributes.message.narrow);
    case protocol::kWide: return wide_text(attributes.message.wide, thread->wide_buffer);
    case protocol::kRegistered:
      if (attributes.message.registered != nullptr) {
        return string_of(attributes.message.registered)->text;
      }
      [[fallthrough]];
    default: return narrow_text(nullptr);
  }
}

namespace {

// The program's attributes as far as it has them whole; the rest is zero, which means "unused": half a pointer
// leads nowhere.
EventAttributes copy_of(const EventAttributes* attributes) {
  EventAttributes copy{};
  if (attributes == nullptr) return copy;
  const std::size_t size = attributes->size == 0 ? sizeof(copy) : attributes->size;
  std::memcpy(&copy, attributes, std::min(size, sizeof(copy)));
  if (size < sizeof(copy)) copy.message_type = protocol::kNoMessage;
  if (size < offsetof(EventAttributes, message_type)) copy.payload_type = protocol::kNoPayload;
  if (size < offsetof(EventAttributes, payload_type)) copy.color_type = protocol::kNoColor;
  if (size < offsetof(EventAttributes, color_type)) copy.category = 0;
  return copy;
}

EventAttributes narrow(const char* message) {
  EventAttributes attributes{};
  attributes.message_type = protocol::kNarrow;
  attributes.message.narrow = message;
  return attributes;
}

EventAttributes wide(const wchar_t* message) {
  EventAttributes attributes{};
  attributes.message_type = protocol::kWide;
  attributes.message.wide = message;
  return attributes;
}

// All 64 bits of the payload's value; a shorter one widened with its own sign or precision kept.
std::uint64_t payload_bits(const EventAttributes& attributes) {
  switch (attributes.payload_type) {
    case protocol::kUint32:
    case protocol::kFloat: return attributes.payload.uint32;
    case protocol::kInt32:
      return static_cast<std::uint64_t>(std::int64_t{attributes.payload.int32});
    default: return attributes.payload.uint64;
  }
}

// What the attributes have in place of a payload's value.
Payloads take_payloads(EventAttributes& attributes) {
  if (attributes.payload_type != protocol::payload::kPayloadTypeExtension) return {};
  attributes.payload_type = protocol::kNoPayload;
  const auto* const data = reinterpret_cast<const protocol::payload::Data*>(
      static_cast<std::uintptr_t>(attributes.payload.uint64));
  const bool has_any = data != nullptr && attributes.reserved > 0;
  return {has_any ? data : nullptr, has_any ? static_cast<std::size_t>(attributes.reserved) : 0};
}

void add_domain(Record& record, const Domain* domain) {
  if (domain == nullptr) return;
  record.add_flag(format::kHasDomain);
  record.add(domain->id);
}

void add_attributes(Record& record, const EventAttributes& attributes) {
  if (attributes.category != 0) {
    record.add_flag(format::kHasCategory);
    record.add(attributes.category);
  }
  if (attributes.color_type == protocol::kArgb) {
    record.add_flag(format::kHasColor);
    record.add(attributes.color);
  }
  if (attributes.payload_type != protocol::kNoPayload) {
    record.add_flag(format::kHasPayload);
    record.add(static_cast<std::uint32_t>(attributes.payload_type));
    record.add64(payload_bits(attributes));
  }
}

// The record of a range that opens, or of a mark. Its time is taken last: what the recorder itself
// costs lies outside the range, also what it costs to ask what the thread has used.
void record_opening(CurrentThread& thread, format::RecordType type, DomainHandle handle,
                    EventAttributes attributes, Payloads payloads, std::uint64_t range_id) {
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  const Payloads of_attributes = take_payloads(attributes);
  if (payloads.count == 0) payloads = of_attributes;
  const std::uint32_t written = write_payloads(thread, handle, payloads, PayloadTexts::kNone);
  Record record(type);
  record.add(0);
  if (type == format::kStart) record.add64(range_id);
  const Text name = payloads.count != 0 && attributes.message_type == protocol::kNoMessage
                        ? text_of_payloads(handle, payloads, thread)
                        : text_of(attributes, thread);
  record.add(thread->stream.intern(name));
  if (type == format::kPush && gpu::counts_ranges()) {
    gpu::open_counted_range(*thread.operator->(), domain == nullptr ? format::kDefaultDomain : domain->id,
                            domain == nullptr ? narrow_text(nullptr) : domain->name, name);
  }
  add_domain(record, domain);
  add_attributes(record, attributes);
  ThreadUsage usage{};
  if (type != format::kMark) {
    thread->instructions.read(usage);
    add_processor_use(usage);
  }
  if (!thread->stream.append_at(now_ns(), record, usage, written)) count_dropped();
}

std::uint32_t domain_id(DomainHandle handle) {
  return handle == nullptr ? format::kDefaultDomain : domain_of(handle)->id;
}

int push(DomainHandle domain, const EventAttributes& attributes, const Payloads& payloads = {}) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return protocol::kNestingError;
  record_opening(thread, format::kPush, domain, attributes, payloads, 0);
  return thread->push(domain_id(domain));
}

int pop(DomainHandle handle, const Payloads& payloads = {}) {
  const KeptErrno kept;
  const std::uint64_t time = event_time();
  ThreadUsage usage{};
  add_processor_use(usage);
  CurrentThread thread;
  if (!thread) return protocol::kNestingError;
  thread->instructions.read(usage);
  const Domain* const domain = domain_of(handle);
  if (gpu::counts_ranges()) gpu::close_counted_range(*thread.operator->(), domain_id(handle));
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  const std::uint32_t written = write_payloads(thread, handle, payloads, PayloadTexts::kAll);
  Record record(format::kPop);
  record.add(0);
  add_domain(record, domain);
  if (!thread->stream.append_at(time, record, usage, written)) count_dropped();
  return thread->pop(domain_id(handle));
}

std::uint64_t start(DomainHandle domain, const EventAttributes& attributes,
                    const Payloads& payloads = {}) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return 0;
  const std::uint64_t id = next_range_id();
  record_opening(thread, format::kStart, domain, attributes, payloads, id);
  return id;
}

// A range knows its domain, so the one given here says nothing new, except of its payloads.
void end(std::uint64_t id, DomainHandle handle = nullptr, const Payloads& payloads = {}) {
  const KeptErrno kept;
  const std::uint64_t time = event_time();
  if (id == 0) return;  // started when nothing could be recorded
  ThreadUsage usage{};
  add_processor_use(usage);
  CurrentThread thread;
  if (!thread) return;
  thread->instructions.read(usage);
  const std::uint32_t written = write_payloads(thread, handle, payloads, PayloadTexts::kAll);
  Record record(format::kEnd);
  record.add(0);
  record.add64(id);
  if (!thread->stream.append_at(time, record, usage, written)) count_dropped();
}

void mark(DomainHandle domain, const EventAttributes& attributes, const Payloads& payloads = {}) {
  const KeptErrno kept;
  CurrentThread thread;
  if (thread) record_opening(thread, format::kMark, domain, attributes, payloads, 0);
}

void name_category(DomainHandle handle, std::uint32_t category, const EventAttributes& name) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return;
  const Domain* const domain = domain_of(handle);
  if (domain != nullptr) thread->stream.introduce_domain(domain->id, domain->name);
  Record record(format::kCategoryName);
  record.add(domain_id(handle));
  record.add(category);
  record.add(thread->stream.intern(text_of(name, thread)));
  thread->stream.append(record.words());
}

void name_thread(std::uint32_t thread_id, const EventAttributes& name) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kThreadName);
  record.add(thread_id);
  record.add(thread->stream.intern(text_of(name, thread)));
  thread->stream.append(record.words());
}

DomainHandle create_domain(const EventAttributes& name) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return nullptr;
  const Text text = text_of(name, thread);
  // Without a name it is the default domain, for who reads the recording, too.
  if (text.length == 0) return nullptr;
  return handle_of(domain_of_name(text));
}

protocol::StringHandle register_string(const EventAttributes& message) {
  const KeptErrno kept;
  CurrentThread thread;
  if (!thread) return nullptr;
  return handle_of(registered_string(text_of(message, thread)));
}

// What the protocol calls. No exception can arise below: nothing here throws or allocates with new.
namespace calls {

void mark_ex(const EventAttributes* a) noexcept { mark(nullptr, copy_of(a)); }
void mark_a(const char* message) noexcept { mark(nullptr, narrow(message)); }
void mark_w(const wchar_t* message) noexcept { mark(nullptr, wide(message)); }
std::uint64_t start_ex(const EventAttributes* a) noexcept { return start(nullptr, copy_of(a)); }
std::uint64_t start_a(const char* message) noexcept { return start(nullptr, narrow(message)); }
std::uint64_t start_w(const wchar_t* message) noexcept { return start(nullptr, wide(message)); }
void range_end(std::uint64_t id) noexcept { end(id); }
int push_ex(const EventAttributes* a) noexcept { return push(nullptr, copy_of(a)); }
int push_a(const char* message) noexcept { return push(nullptr, narrow(message)); }
int push_w(const wchar_t* message) noexcept { return push(nullptr, wide(message)); }
int range_pop() noexcept { return pop(nullptr); }
void name_category_a(std::uint32_t category, const char* name) noexcept {
  name_category(nullptr, category, narrow(name));
}
void name_category_w(std::uint32_t category, const wchar_t* name) noexcept {
  name_category(nullptr, category, wide(name));
}
void name_os_thread_a(std::uint32_t id, const char* name) noexcept {
  name_thread(id, narrow(name));
}
void name_os_thread_w(std::uint32_t id, const wchar_t* name) noexcept {
  name_thread(id, wide(name));
}

void domain_mark_ex(DomainHandle domain, const EventAttributes* a) noexcept {
  mark(domain, copy_of(a));
}
std::uint64_t domain_start_ex(DomainHandle domain, const EventAttributes* a) noexcept {
  return start(domain, copy_of(a));
}
void domain_end(DomainHandle, std::uint64_t id) noexcept { end(id); }
int domain_push_ex(DomainHandle domain, const EventAttributes* a) noexcept {
  return push(domain, copy_of(a));
}
int domain_pop(DomainHandle domain) noexcept { return pop(domain); }
void domain_name_category_a(DomainHandle domain, std::uint32_t category,
                            const char* name) noexcept {
  name_category(domain, category, narrow(name));
}
void domain_name_category_w(DomainHandle domain, std::uint32_t category,
                            const wchar_t* name) noexcept {
  name_category(domain, category, wide(name));
}
// A registered text belongs to the process here, whichever domain registered it.
protocol::StringHandle domain_register_string_a(DomainHandle, const char* string) noexcept {
  return register_string(narrow(string));
}
protocol::StringHandle domain_register_string_w(DomainHandle, const wchar_t* string) noexcept {
  return register_string(wide(string));
}
DomainHandle domain_create_a(const char* name) noexcept { return create_domain(narrow(name)); }
DomainHandle domain_create_w(const wchar_t* name) noexcept { return create_domain(wide(name)); }

}  // namespace calls

}  // namespace

int record_push(DomainHandle domain, const Payloads& payloads) noexcept {
  return push(domain, EventAttributes{}, payloads);
}
int record_pop(DomainHandle domain, const Payloads& payloads) noexcept { return pop(domain, payloads); }
std::uint64_t record_start(DomainHandle domain, const Payloads& payloads) noexcept {
  return start(domain, EventAttributes{}, payloads);
}
void record_end(DomainHandle domain, std::uint64_t id, const Payloads& payloads) noexcept {
  end(id, domain, payloads);
}
void record_mark(DomainHandle domain, const Payloads& payloads) noexcept {
  mark(domain, EventAttributes{}, payloads);
}

void attach_core(Slots slots) noexcept {
  using namespace protocol::core;
  slots.attach(kMarkEx, calls::mark_ex);
  slots.attach(kMarkA, calls::mark_a);
  slots.attach(kMarkW, calls::mark_w);
  slots.attach(kRangeStartEx, calls::start_ex);
  slots.attach(kRangeStartA, calls::start_a);
  slots.attach(kRangeStartW, calls::start_w);
  slots.attach(kRangeEnd, calls::range_end);
  slots.attach(kRangePushEx, calls::push_ex);
  slots.attach(kRangePushA, calls::push_a);
  slots.attach(kRangePushW, calls::push_w);
  slots.attach(kRangePop, calls::range_pop);
  slots.attach(kNameCategoryA, calls::name_category_a);
  slots.attach(kNameCategoryW, calls::name_category_w);
  slots.attach(kNameOsThreadA, calls::name_os_thread_a);
  slots.attach(kNameOsThreadW, calls::name_os_thread_w);
}

// Not attached: Initialize and DomainDestroy have nothing to do; resources are not recorded.
void attach_core2(Slots slots) noexcept {
  using namespace protocol::core2;
  slots.attach(kDomainMarkEx, calls::domain_mark_ex);
  slots.attach(kDomainRangeStartEx, calls::domain_start_ex);
  slots.attach(kDomainRangeEnd, calls::domain_end);
  slots.attach(kDomainRangePushEx, calls::domain_push_ex);
  slots.attach(kDomainRangePop, calls::domain_pop);
  slots.attach(kDomainNameCategoryA, calls::domain_name_category_a);
  slots.attach(kDomainNameCategoryW, calls::domain_name_category_w);
  slots.attach(kDomainRegisterStringA, calls::domain_register_string_a);
  slots.attach(kDomainRegisterStringW, calls::domain_register_string_w);
  slots.attach(kDomainCreateA, calls::domain_create_a);
  slots.attach(kDomainCreateW, calls::domain_create_w);
}

}  // namespace region_recorder
