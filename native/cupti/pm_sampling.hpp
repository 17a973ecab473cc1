// The binary interface of CUPTI's PM Sampling (cupti_pmsampling.h, CUDA 12.6 and later): counters of a whole device at an
// interval. Written down here as CUPTI's other numbers are in abi.hpp, so that the native part builds without a CUDA toolkit.
// tests/native checks every place against a toolkit's headers.
//
// Structures begin and end as those of the Range Profiler (range_profiler.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cupti/types.hpp"

namespace cupti::sampling {

using Object = struct PmSamplingObjectOfCupti*;

// By cycles of the system clock, whose frequency varies, or by nanoseconds: not on Turing and GA100.
enum TriggerMode : std::int32_t { kClockInterval = 0, kTimeInterval = 1 };
enum AppendMode : std::int32_t { kKeepOldest = 0 };
enum StopReason : std::int32_t { kOther = 0, kImageFull = 1, kEndOfRecords = 2 };

struct EnableParams {
  std::size_t struct_size;
  void* reserved;
  std::size_t device;  // in
  Object object;       // out
};
// Of Disable, Start and Stop.
struct ObjectParams {
  std::size_t struct_size;
  void* reserved;
  Object object;  // in
};
struct SetConfigParams {
  std::size_t struct_size;
  void* reserved;
  Object object;               // in, as all that follows
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t buffer_bytes;    // of the buffer that the device writes to
  std::uint64_t interval;      // cycles or nanoseconds: see TriggerMode
  TriggerMode trigger;
  AppendMode append;           // what happens where it is full; since CUDA 13.0 at the latest, not yet in 12.6
};
struct DecodeDataParams {
  std::size_t struct_size;
  void* reserved;
  Object object;           // in
  std::uint8_t* image;     // in: samples are added to it
  std::size_t bytes;       // in
  StopReason stop_reason;  // out
  std::uint8_t overflow;   // out: the device's buffer was full
};
struct GetCounterDataSizeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;               // in
  const char* const* names;    // in: of metrics
  std::size_t count;           // in
  std::uint32_t most_samples;  // in
  std::size_t bytes;           // out
};
struct CounterDataImageInitializeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;        // in
  std::size_t bytes;    // in
  std::uint8_t* image;  // in: where it is written to
};
struct GetCounterDataInfoParams {
  std::size_t struct_size;
  void* reserved;
  const std::uint8_t* image;  // in
  std::size_t bytes;          // in
  std::size_t total;          // out: samples that there is room for
  std::size_t populated;      // out
  std::size_t completed;      // out
};
struct GetSampleInfoParams {
  std::size_t struct_size;
  void* reserved;
  Object object;              // in
  const std::uint8_t* image;  // in
  std::size_t bytes;          // in
  std::size_t index;          // in
  std::uint64_t start;        // out: nanoseconds of a clock of the host, as the manual says; not of which
  std::uint64_t end;          // out
};

// What the library knows of a structure: of a configuration in CUDA 12, and since 13.0.
constexpr std::size_t kSetConfigSizeOfCuda12 =
    offsetof(SetConfigParams, trigger) + sizeof(SetConfigParams::trigger);
constexpr std::size_t kSetConfigSize = sizeof(SetConfigParams);
constexpr std::uint32_t kVersionOfCuda13 = 130000;
constexpr std::size_t kDecodeDataSize =
    offsetof(DecodeDataParams, overflow) + sizeof(DecodeDataParams::overflow);

// The functions. All are null in a library that has not all of them.
struct Functions {
  Result (*PmSamplingEnable)(EnableParams*);
  Result (*PmSamplingDisable)(ObjectParams*);
  Result (*PmSamplingSetConfig)(SetConfigParams*);
  Result (*PmSamplingStart)(ObjectParams*);
  Result (*PmSamplingStop)(ObjectParams*);
  Result (*PmSamplingDecodeData)(DecodeDataParams*);
  Result (*PmSamplingGetCounterDataSize)(GetCounterDataSizeParams*);
  Result (*PmSamplingCounterDataImageInitialize)(CounterDataImageInitializeParams*);
  Result (*PmSamplingGetCounterDataInfo)(GetCounterDataInfoParams*);
  Result (*PmSamplingCounterDataGetSampleInfo)(GetSampleInfoParams*);
};

}  // namespace cupti::sampling
