// The binary interface between NVTX version 3 in a program and a tool injected into it: constants,
// structures and function types. Facts of the protocol, written down once for both of its ends
// here, the client (own_client.hpp) and the tool (native/region_recorder), so that neither needs NVIDIA's
// headers. tests/native checks every number against those headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nvtx::protocol {

constexpr std::uint32_t kVersion = 3;

// Environment variable that names the tool's library, by pointer size.
constexpr const char* kInjectionPathVariable =
    sizeof(void*) == 4 ? "NVTX_INJECTION32_PATH" : "NVTX_INJECTION64_PATH";
// What that library exports, with C linkage: `int InitializeInjectionNvtx2(GetExportTable)`.
constexpr const char* kEntryPoint = "InitializeInjectionNvtx2";

// Opaque to the program: the tool makes and understands them. A null domain is the default domain.
using DomainHandle = struct DomainOfTool*;
using StringHandle = struct StringOfTool*;
using ResourceHandle = struct ResourceOfTool*;
using RangeId = std::uint64_t;

// Push and pop answer with the 0-based nesting level, or with one of these.
constexpr int kNestingError = -1;
constexpr int kNoPushPopTracking = -2;

enum ColorType : std::int32_t { kNoColor = 0, kArgb = 1 };

enum PayloadType : std::int32_t {
  kNoPayload = 0,
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
};

enum MessageType : std::int32_t {
  kNoMessage = 0,
  kNarrow = 1,      // char*, in whatever encoding the program uses; UTF-8 in practice
  kWide = 2,        // wchar_t*: UTF-32, or UTF-16 where wchar_t has two bytes
  kRegistered = 3,  // handle from RegisterString
};

union Message {
  const char* narrow;
  const wchar_t* wide;
  StringHandle registered;
};

union Payload {
  std::uint64_t uint64;
  std::int64_t int64;
  double float64;
  std::uint32_t uint32;
  std::int32_t int32;
  float float32;
};

// `size` is the program's sizeof: a tool reads no further than that.
struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  Payload payload;
  std::int32_t message_type;
  Message message;
};
static_assert(std::is_standard_layout_v<EventAttributes>);
static_assert(sizeof(void*) != 8 || sizeof(EventAttributes) == 48);

struct ResourceAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::int32_t identifier_type;
  union {
    const void* pointer;
    std::uint64_t value;
  } identifier;
  std::int32_t message_type;
  Message message;
};

// A module is a family of functions; the program hands out one function table per module.
enum Module : std::uint32_t {
  kCore = 1,
  kCuda = 2,
  kOpenCl = 3,
  kCudaRuntime = 4,
  kCore2 = 5,
  kSync = 6,
};

// Entries of a module's table, index 0 (unused) included.
constexpr unsigned kCoreSize = 16;
constexpr unsigned kCudaSize = 9;
constexpr unsigned kOpenClSize = 15;
constexpr unsigned kCudaRuntimeSize = 7;
constexpr unsigned kCore2Size = 16;
constexpr unsigned kSyncSize = 7;

namespace core {  // indices in the table of kCore
enum : unsigned {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameCategoryA = 12,
  kNameCategoryW = 13,
  kNameOsThreadA = 14,
  kNameOsThreadW = 15,
};
}  // namespace core

namespace core2 {  // indices in the table of kCore2
enum : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainResourceCreate = 6,
  kDomainResourceDestroy = 7,
  kDomainNameCategoryA = 8,
  kDomainNameCategoryW = 9,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
  kInitialize = 15,
};
}  // namespace core2

// `*table[index] = function` attaches a tool's function; slots that stay null are never called.
using Function = void (*)();
using FunctionTable = Function**;

enum ExportTableId : std::uint32_t { kCallbacks = 1, kVersionInfo = 3 };

struct CallbacksTable {
  std::size_t struct_size;
  // 1 on success; `size` as in k*Size above.
  int (*get_module_function_table)(std::uint32_t module, FunctionTable* table, unsigned* size);
};

struct VersionInfoTable {
  std::size_t struct_size;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_injection_version)(std::uint32_t version);
};

using GetExportTable = const void* (*)(std::uint32_t id);
using InitializeInjection = int (*)(GetExportTable);

}  // namespace nvtx::protocol
