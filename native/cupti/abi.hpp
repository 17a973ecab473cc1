// The binary interface of CUPTI and of the CUDA driver as far as the recorder uses it: numbers,
// places of fields, function types. Written down here, as NVTX's in nvtx/protocol.hpp, so that the
// native part builds without a CUDA toolkit and one build serves CUPTI of CUDA 10 to 13: what stands
// here has not moved since then. tests/native checks every number against a toolkit's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cupti/pm_sampling.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/types.hpp"

namespace cupti {

constexpr Result kMaxLimitReached = 12;  // no more records in a buffer; another subscriber
constexpr Result kNotCompatible = 14;
constexpr Result kMultipleSubscribers = 39;

using Subscriber = struct SubscriberOfCupti*;

// Of cuptiGetVersion. Below CUDA 12.6 a counter, from there on CUDA's own version number.
constexpr std::uint32_t kVersionOfCuda11_1 = 14;  // records know the graph that launched them
constexpr std::uint32_t kVersionOfCuda11_8 = 18;  // a clock of the tool's choice
constexpr std::uint32_t kVersionOfCuda13_3 = 130300;  // several subscribers

enum CallbackDomain : std::uint32_t { kDriverApi = 1, kRuntimeApi = 2 };
enum CallbackSite : std::uint32_t { kEnter = 0, kExit = 1 };

// What a callback of the two domains above gets.
struct CallbackData {
  CallbackSite site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;
  Context context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};
static_assert(sizeof(void*) != 8 || offsetof(CallbackData, correlation_id) == 64);

using Callback = void (*)(void* user_data, CallbackDomain domain, std::uint32_t callback,
                          const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                                 std::size_t* most_records);
using BufferCompleted = void (*)(Context context, std::uint32_t stream, std::uint8_t* buffer,
                                 std::size_t bytes, std::size_t valid_bytes);
using Timestamp = std::uint64_t (*)();

// Of cuptiSubscribe_v2. The last field is from NVIDIA's documentation of CUDA 13.3 and from public code; the headers of 13.0
// end before it.
struct SubscriberParams {
  std::size_t struct_size;
  const char* name;
  char* other_name;  // gets the name of the subscriber that is in the way
  std::size_t other_name_bytes;
  std::uint8_t allow_multiple_subscribers;
  std::uint8_t padding[7];
};
static_assert(sizeof(void*) != 8 || sizeof(SubscriberParams) == 40);
// What goes with it.
using BufferRequestedV2 = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                                   std::size_t* most_records, void* info);
using BufferCompletedV2 = void (*)(std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes,
                                   void* info);

// Kinds of activity records.
enum ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kConcurrentKernel = 10,
  kPeerMemcpy = 22,  // CUPTI_ACTIVITY_KIND_MEMCPY2
  kSynchronization = 38,
};

enum FlushFlag : std::uint32_t { kFlushCompleted = 0, kFlushForced = 1 };

// CUpti_ActivitySynchronizationType.
enum SynchronizationType : std::uint32_t {
  kEventSynchronize = 1,
  kStreamWaitEvent = 2,  // the stream waits, not the host
  kStreamSynchronize = 3,
  kContextSynchronize = 4,
};

// Where the fields stand that all records of the GPU's work have: CUPTI appends to a structure and
// never moves what is there.
struct Places {
  std::size_t start, end;  // u64: nanoseconds, 0 where they are not known (yet)
  std::size_t device, context, stream, correlation;  // u32
  std::size_t graph_node, graph;  // u64 and u32, since CUDA 11.1
};
constexpr Places kKernelPlaces = {16, 24, 40, 44, 48, 92, 144, 156};
constexpr Places kMemcpyPlaces = {16, 24, 32, 36, 40, 44, 64, 72};
constexpr Places kPeerMemcpyPlaces = {16, 24, 32, 36, 40, 60, 72, 80};
constexpr Places kMemsetPlaces = {16, 24, 32, 36, 40, 44, 64, 72};
// And those that only some have.
constexpr std::size_t kKernelName = 104;  // const char*
constexpr std::size_t kCopyKind = 4;      // u8; of both kinds of copies
constexpr std::size_t kBytes = 8;         // u64; of copies and sets
// Of synchronisations.
constexpr std::size_t kWaitType = 4, kWaitCorrelation = 24, kWaitContext = 28, kWaitStream = 32;
constexpr std::size_t kWaitStart = 8, kWaitEnd = 16;

// One record in a buffer. Any alignment.
class Record {
 public:
  explicit Record(const std::uint8_t* bytes) noexcept : bytes_(bytes) {}
  std::uint32_t kind() const noexcept { return at<std::uint32_t>(0); }
  std::uint8_t u8(std::size_t place) const noexcept { return at<std::uint8_t>(place); }
  std::uint32_t u32(std::size_t place) const noexcept { return at<std::uint32_t>(place); }
  std::uint64_t u64(std::size_t place) const noexcept { return at<std::uint64_t>(place); }
  const char* text(std::size_t place) const noexcept { return at<const char*>(place); }

 private:
  template <typename T>
  T at(std::size_t place) const noexcept {
    T value;
    std::memcpy(&value, bytes_ + place, sizeof(value));
    return value;
  }

  const std::uint8_t* bytes_;
};

// The functions that several subscribers share a process with, since CUDA 13.3. They may not be mixed with those of the
// same names without `_v2`.
struct SharedFunctions {
  Result (*Subscribe_v2)(Subscriber* subscriber, Callback callback, void* user_data,
                         SubscriberParams* params);
  Result (*ActivityRegisterCallbacks_v2)(Subscriber subscriber, BufferRequestedV2 requested,
                                         BufferCompletedV2 completed);
  Result (*ActivityEnable_v2)(Subscriber subscriber, ActivityKind kind, void* config);
  Result (*ActivityDisable_v2)(Subscriber subscriber, ActivityKind kind, void* config);
  Result (*ActivityGetNextRecord_v2)(Subscriber subscriber, std::uint8_t* buffer,
                                     std::size_t valid_bytes, std::uint8_t** record);
  Result (*GetTimestamp_v2)(Subscriber subscriber, std::uint64_t* nanoseconds);
};

// The functions, named as the library exports them without its prefix.
struct Functions {
  Result (*GetVersion)(std::uint32_t* version);
  Result (*GetResultString)(Result result, const char** text);
  Result (*GetTimestamp)(std::uint64_t* nanoseconds);
  Result (*GetCallbackName)(CallbackDomain domain, std::uint32_t callback, const char** name);
  Result (*Subscribe)(Subscriber* subscriber, Callback callback, void* user_data);
  Result (*Unsubscribe)(Subscriber subscriber);
  Result (*EnableCallback)(std::uint32_t enable, Subscriber subscriber, CallbackDomain domain,
                           std::uint32_t callback);
  Result (*ActivityRegisterCallbacks)(BufferRequested requested, BufferCompleted completed);
  Result (*ActivityEnable)(ActivityKind kind);
  Result (*ActivityDisable)(ActivityKind kind);
  Result (*ActivityFlushAll)(std::uint32_t flags);
  Result (*ActivityGetNextRecord)(std::uint8_t* buffer, std::size_t valid_bytes,
                                  std::uint8_t** record);
  Result (*ActivityGetNumDroppedRecords)(Context context, std::uint32_t stream,
                                         std::size_t* dropped);
  // Null where the library has none: these.
  Result (*ActivityRegisterTimestampCallback)(Timestamp timestamp);
  Result (*ActivityEnableAllSyncRecords)(std::uint8_t enable);
  SharedFunctions shared;
  range::Functions range;
  sampling::Functions sampling;
};

}  // namespace cupti

// The CUDA driver's functions that describe devices.
namespace cuda_driver {

using Result = std::int32_t;
constexpr Result kSuccess = 0;
constexpr std::int32_t kComputeCapabilityMajor = 75;
constexpr std::int32_t kComputeCapabilityMinor = 76;

struct Functions {
  Result (*DriverGetVersion)(std::int32_t* version);
  Result (*DeviceGetCount)(std::int32_t* count);
  Result (*DeviceGet)(std::int32_t* device, std::int32_t ordinal);
  Result (*DeviceGetName)(char* name, std::int32_t bytes, std::int32_t device);
  Result (*DeviceGetAttribute)(std::int32_t* value, std::int32_t attribute, std::int32_t device);
};

}  // namespace cuda_driver
