// The binary interface of NVTX's payload extension: facts of the protocol, as protocol.hpp has those of NVTX itself.
// tests/native checks every number against NVIDIA's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol.hpp"

namespace nvtx::protocol::payload {

// What a tool's library exports, with C linkage: `int InitializeInjectionNvtxExtension(Module*)`.
constexpr const char* kEntryPoint = "InitializeInjectionNvtxExtension";
constexpr std::uint16_t kModuleId = 2;

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

struct Entry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t detail;  // of an array of a fixed size: its length
  std::uint64_t offset;
  const void* semantics;
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
  kHasEntries = 1 << 4,
  kHasEntriesCount = 1 << 5,
  kHasAlignment = 1 << 7,
  kHasId = 1 << 8,
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
