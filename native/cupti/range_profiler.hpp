// The binary interface of CUPTI's Range Profiler (cupti_range_profiler.h, CUDA 12.6 and later) and of the questions that come
// before it, written down here as CUPTI's other numbers are in abi.hpp, so that the native part builds without a CUDA toolkit.
// tests/native checks every place against a toolkit's headers.
//
// Every structure begins with the size that the caller knows of it, and a pointer that stays null. The size ends with the
// last field: padding behind it is no part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cupti/profiler_host.hpp"
#include "cupti/types.hpp"

namespace cupti::range {

using Object = struct RangeProfilerObjectOfCupti*;

enum RangeMode : std::int32_t { kUserRange = 2 };
// Across processes, and within one.
enum ReplayMode : std::int32_t { kApplicationReplay = 1, kUserReplay = 3 };
enum ProfilerApi : std::int32_t { kRangeProfiling = 0, kPmSampling = 3 };
enum SupportLevel : std::int32_t { kUnknown = 0, kUnsupported = 1, kDisabled = 2, kSupported = 3 };

// Of cuptiProfilerDeviceSupported.
struct DeviceSupportedParams {
  std::size_t struct_size;
  void* reserved;
  std::int32_t device;  // in
  SupportLevel supported, architecture, sli, virtual_gpu, confidential_compute, mining, wsl;  // out
  ProfilerApi api;  // in
};
struct EnableParams {
  std::size_t struct_size;
  void* reserved;
  Context context;  // in
  Object object;    // out
};
// Of Disable, Start and PopRange.
struct ObjectParams {
  std::size_t struct_size;
  void* reserved;
  Object object;  // in
};
struct SetConfigParams {
  std::size_t struct_size;
  void* reserved;
  Object object;                 // in, as all that follows
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t image_bytes;
  std::uint8_t* image;           // of counter data: written until the profiler is disabled
  RangeMode range_mode;
  ReplayMode replay_mode;
  std::size_t most_ranges;       // in a pass
  std::uint16_t nesting_levels;
  std::uint16_t first_nesting_level;
  std::size_t pass;
  std::uint16_t target_nesting_level;
};
struct StopParams {
  std::size_t struct_size;
  void* reserved;
  Object object;                  // in
  std::size_t next_pass;          // out
  std::size_t next_target_level;  // out
  std::uint8_t is_last;           // out: nothing is left to be collected
};
struct PushRangeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;     // in
  const char* name;  // in
};
struct DecodeDataParams {
  std::size_t struct_size;
  void* reserved;
  Object object;        // in
  std::size_t dropped;  // out: ranges
};
struct GetCounterDataSizeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;             // in
  const char* const* names;  // in: of metrics
  std::size_t count;         // in
  std::size_t most_ranges;   // in
  std::uint32_t most_nodes;  // in
  std::size_t bytes;         // out
};
struct CounterDataImageInitializeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;        // in
  std::size_t bytes;    // in
  std::uint8_t* image;  // in: where it is written to
};

// Of an image of counter data, which may be another process's.
struct GetCounterDataInfoParams {
  std::size_t struct_size;
  void* reserved;
  const std::uint8_t* image;  // in
  std::size_t bytes;          // in
  std::size_t ranges;         // out
};
struct GetRangeInfoParams {
  std::size_t struct_size;
  void* reserved;
  const std::uint8_t* image;  // in
  std::size_t bytes;          // in
  std::size_t index;          // in
  const char* delimiter;      // in: between the names of nested ranges
  const char* name;           // out
};

// What the library knows of a structure that ends with `last`.
#define CUPTI_SIZE_UP_TO(type, last) (offsetof(type, last) + sizeof(type::last))
constexpr std::size_t kDeviceSupportedSize = CUPTI_SIZE_UP_TO(DeviceSupportedParams, api);
constexpr std::size_t kSetConfigSize = CUPTI_SIZE_UP_TO(SetConfigParams, target_nesting_level);
constexpr std::size_t kStopSize = CUPTI_SIZE_UP_TO(StopParams, is_last);
#undef CUPTI_SIZE_UP_TO

// The functions. All are null in a library that has not all of them.
struct Functions {
  Result (*ProfilerInitialize)(host::ProfilerInitializeParams*);
  Result (*ProfilerDeviceSupported)(DeviceSupportedParams*);
  Result (*DeviceGetChipName)(host::GetChipNameParams*);
  Result (*GetDeviceId)(Context context, std::uint32_t* device);
  Result (*RangeProfilerEnable)(EnableParams*);
  Result (*RangeProfilerDisable)(ObjectParams*);
  Result (*RangeProfilerSetConfig)(SetConfigParams*);
  Result (*RangeProfilerStart)(ObjectParams*);
  Result (*RangeProfilerStop)(StopParams*);
  Result (*RangeProfilerPushRange)(PushRangeParams*);
  Result (*RangeProfilerPopRange)(ObjectParams*);
  Result (*RangeProfilerDecodeData)(DecodeDataParams*);
  Result (*RangeProfilerGetCounterDataSize)(GetCounterDataSizeParams*);
  Result (*RangeProfilerCounterDataImageInitialize)(CounterDataImageInitializeParams*);
};

// Those that read an image, without a driver or a device.
struct ReadingFunctions {
  Result (*GetCounterDataInfo)(GetCounterDataInfoParams*);
  Result (*CounterDataGetRangeInfo)(GetRangeInfoParams*);
};

}  // namespace cupti::range
