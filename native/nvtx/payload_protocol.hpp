// The binary interface of NVTX's extensions for payloads and counters: facts of the protocol, as protocol.hpp has those of
// NVTX itself.
// tests/native checks every number against NVIDIA's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol.hpp"

namespace nvtx::protocol::payload {

// What a tool's library exports, with C linkage: `int InitializeInjectionNvtxExtension(Module*)`.
constexpr const char* kEntryPoint = "InitializeInjectionNvtxExtension";
constexpr std::uint16_t kModuleId = 2;
constexpr std::uint16_t kCountersModuleId = 4;

// Of EventAttributes::payload_type: `payload` is the address of Data, and `reserved` how many there are.
constexpr std::int32_t kPayloadTypeExtension = static_cast<std::int32_t>(0xDFBD0009);

// A slot holds a function, or one of these.
constexpr std::intptr_t kFresh = 0;

struct Segment {
  std::size_t id;
  std::size_t slots;
  std::intptr_t* functions;
};

struct Module {
  std::uint16_t version;
  std::uint16_t struct_size;
  std::uint16_t id;
  std::uint16_t compatibility;
  std::size_t segments_count;
  Segment* segments;
  void* get_export_function;
  const void* info;  // of the payload extension: TypeInfo, by type; the first entry has their number as its size
};

enum Function : unsigned {
  kSchemaRegister = 0,
  kEnumRegister = 1,
  kMark = 2,
  kRangePush = 3,
  kRangePop = 4,
  kRangeStart = 5,
  kRangeEnd = 6,
  kTimestampGet = 8,
  kTimeDomainRegister = 9,
  kTimerSource = 10,
  kTimerSourceWithData = 11,
  kScopeRegister = 12,
  kTimeSyncPoint = 13,
  kTimeSyncPointTable = 14,
  kTimestampConversionFactor = 15,
  kEventSubmit = 16,
  kEventBatchSubmit = 17,
};

enum CounterFunction : unsigned {
  kCounterRegister = 0,
  kCounterSampleInt64 = 1,
  kCounterSampleFloat64 = 2,
  kCounterSample = 3,
  kCounterSampleNoValue = 4,
  kCounterBatchSubmit = 5,
};

struct TypeInfo {
  std::uint16_t size;
  std::uint16_t align;
};

struct Data {
  std::uint64_t schema;
  std::size_t size;  // SIZE_MAX: as the schema says
  const void* bytes;
};

// The first member of all that further describes an entry or a counter: a list.
struct Semantics {
  std::uint32_t struct_size;
  std::uint16_t id;
  std::uint16_t version;
  const Semantics* next;
};

enum SemanticId : std::uint16_t { kScopeSemantics = 1, kTimeSemantics = 2, kCounterSemantics = 5 };

struct SemanticsOfScope {
  Semantics header;
  std::uint64_t scope;
};

struct SemanticsOfTime {
  Semantics header;
  std::uint64_t time_domain;
};

struct SemanticsOfCounter {
  Semantics header;
  std::uint64_t flags;
  const char* unit;
  std::uint64_t scale_numerator;
  std::uint64_t scale_denominator;
  std::int64_t limit_type;
  std::uint64_t min;
  std::uint64_t max;
};

struct Entry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t detail;  // of an array of a fixed size: its length
  std::uint64_t offset;
  const Semantics* semantics;
  const void* reserved;
};

struct Schema {
  std::uint64_t fields;  // which of the following are set
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const Entry* entries;
  std::size_t entries_count;
  std::size_t static_size;
  std::size_t alignment;
  std::uint64_t id;
  void* extension;
};

enum SchemaField : std::uint64_t {
  kHasName = 1 << 1,
  kHasType = 1 << 2,
  kHasFlags = 1 << 3,
  kHasEntries = 1 << 4,
  kHasEntriesCount = 1 << 5,
  kHasStaticSize = 1 << 6,
  kHasAlignment = 1 << 7,
  kHasId = 1 << 8,
};

// Which of them a batch of events or counters consists of, among others; 0: of neither.
constexpr std::uint64_t kSchemaOfEvents = 7 << 3;

struct EnumEntry {
  const char* name;
  std::uint64_t value;
  std::int8_t is_flag;
};

struct Enum {
  std::uint64_t fields;
  const char* name;
  const EnumEntry* entries;
  std::size_t entries_count;
  std::size_t size;
  std::uint64_t id;
  void* extension;
};

enum EnumField : std::uint64_t {
  kEnumHasName = 1 << 1,
  kEnumHasEntries = 1 << 2,
  kEnumHasEntriesCount = 1 << 3,
  kEnumHasSize = 1 << 4,
  kEnumHasId = 1 << 5,
};

struct Scope {
  std::size_t struct_size;
  const char* path;
  std::uint64_t parent;
  std::uint64_t id;
};

struct TimeDomain {
  std::uint64_t scope;
  std::uint64_t type;
  std::uint64_t id;
  std::uint64_t flags;
  std::int64_t resolution;
  std::uint64_t start;
};

struct SyncPoint {
  std::int64_t source;
  std::int64_t destination;
};

struct EventBatch {
  std::uint64_t schema;
  std::size_t size;
  const void* events;
  std::uint64_t scope;
  std::uint64_t flags;
  const void* flexible;
  std::size_t flexible_size;
  std::size_t flexible_offset;
};

struct Counter {
  std::size_t struct_size;
  std::uint64_t schema;
  const char* name;
  const char* description;
  std::uint64_t scope;
  const Semantics* semantics;
  std::uint64_t id;
};

struct CounterBatch {
  std::uint64_t counter;
  const void* samples;
  std::size_t size;
  std::uint64_t flags;
  const std::int64_t* timestamps;
  std::size_t timestamps_size;
};

// A batch has two time stamps: of its first sample (or its last one), and what lies between two.
constexpr std::uint64_t kBeginAndInterval = std::uint64_t{1} << 32;
constexpr std::uint64_t kEndAndInterval = std::uint64_t{2} << 32;

// Clocks that batches may be of, and that this machine can read beside its own.
enum TimestampType : std::uint64_t {
  kToolProvided = 1,
  kProcessorClock = 10,
  kRealtime = 12,
  kMonotonic = 14,
  kMonotonicRaw = 15,
  kBootTime = 17,
};

constexpr std::uint64_t kFirstDynamicId = std::uint64_t{1} << 32;

enum EntryFlag : std::uint64_t {
  kPointer = 1 << 1,
  kArrayMask = 7 << 4,
  kArrayOfFixedSize = 1 << 4,
  kEventMessageMask = 3 << 10,
  kEventMessage = 1 << 10,
};

enum Type : std::uint64_t {
  kLastOfInfo = 27,
  kByte = 32,
  kInt128 = 33,
  kUint128 = 34,
  kFloat16 = 42,
  kFloat32 = 43,
  kFloat64 = 44,
  kBf16 = 50,
  kTf32 = 52,
  kCategory = 68,
  kColorArgb = 69,
  kScopeId = 70,
  kPid32 = 71,
  kPid64 = 72,
  kTid32 = 73,
  kTid64 = 74,
  kCString = 75,
  kCStringUtf8 = 76,
  kRegisteredString = 80,
};

}  // namespace nvtx::protocol::payload
