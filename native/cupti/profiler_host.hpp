// The binary interface of CUPTI's Profiler Host API (cupti_profiler_host.h, CUDA 12.6 and later) and of its question for a
// device's chip (cupti_target.h), written down here as CUPTI's other numbers are in abi.hpp, so that the native part builds
// without a CUDA toolkit. tests/native checks every place against a toolkit's headers.
//
// Every structure begins with its own size, by which the library knows the fields that the caller has, and a pointer that
// stays null. Only what the API reads (in) or writes (out) stands behind.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cupti::host {

using Result = std::int32_t;
constexpr Result kSuccess = 0;

enum MetricType : std::int32_t { kCounter = 0, kRatio = 1, kThroughput = 2 };
enum ProfilerType : std::int32_t { kRangeProfiler = 0, kPmSampling = 1 };

using Object = struct ObjectOfCupti*;

struct InitializeParams {
  std::size_t struct_size;
  void* reserved;
  ProfilerType type;                          // in
  const char* chip;                           // in
  const std::uint8_t* counter_availability;   // in: null for a chip that the library knows by name
  Object object;                              // out
};
struct DeinitializeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;  // in
};
struct GetSupportedChipsParams {
  std::size_t struct_size;
  void* reserved;
  std::size_t count;         // out
  const char* const* chips;  // out
};
struct GetBaseMetricsParams {
  std::size_t struct_size;
  void* reserved;
  Object object;       // in
  MetricType type;     // in
  const char** names;  // out
  std::size_t count;   // out
};
struct GetSubMetricsParams {
  std::size_t struct_size;
  void* reserved;
  Object object;       // in
  MetricType type;     // in
  const char* metric;  // in
  std::size_t count;   // out
  const char** names;  // out
};
struct GetMetricPropertiesParams {
  std::size_t struct_size;
  void* reserved;
  Object object;            // in
  const char* metric;       // in
  const char* description;  // out
  const char* unit_of_hardware;  // out: what is counted in, e.g. `sm`
  const char* unit;         // out: the dimension of its values
  MetricType type;          // out
};
struct ConfigAddMetricsParams {
  std::size_t struct_size;
  void* reserved;
  Object object;        // in
  const char** names;   // in
  std::size_t count;    // in
};
struct GetConfigImageSizeParams {
  std::size_t struct_size;
  void* reserved;
  Object object;      // in
  std::size_t bytes;  // out
};
struct GetConfigImageParams {
  std::size_t struct_size;
  void* reserved;
  Object object;        // in
  std::size_t bytes;    // in
  std::uint8_t* image;  // in: where it is written to
};
struct GetNumOfPassesParams {
  std::size_t struct_size;
  void* reserved;
  std::size_t bytes;    // in
  std::uint8_t* image;  // in
  std::size_t passes;   // out
};
// Of cuptiProfilerInitialize, without which no chip of a device is told.
struct ProfilerInitializeParams {
  std::size_t struct_size;
  void* reserved;
};
struct GetChipNameParams {
  std::size_t struct_size;
  void* reserved;
  std::size_t device;  // in
  const char* chip;    // out
};

// From the first version of each structure to its last field: an enumeration at the end has padding behind it that is no part.
constexpr std::size_t kPropertiesSize =
    offsetof(GetMetricPropertiesParams, type) + sizeof(MetricType);

// The functions, named as the library exports them without `cuptiProfilerHost`.
struct Functions {
  Result (*Initialize)(InitializeParams*);
  Result (*Deinitialize)(DeinitializeParams*);
  Result (*GetSupportedChips)(GetSupportedChipsParams*);
  Result (*GetBaseMetrics)(GetBaseMetricsParams*);
  Result (*GetSubMetrics)(GetSubMetricsParams*);
  Result (*GetMetricProperties)(GetMetricPropertiesParams*);
  Result (*ConfigAddMetrics)(ConfigAddMetricsParams*);
  Result (*GetConfigImageSize)(GetConfigImageSizeParams*);
  Result (*GetConfigImage)(GetConfigImageParams*);
  Result (*GetNumOfPasses)(GetNumOfPassesParams*);
};

// Those with names of their own.
struct DeviceFunctions {
  Result (*ProfilerInitialize)(ProfilerInitializeParams*);
  Result (*DeviceGetChipName)(GetChipNameParams*);
};

}  // namespace cupti::host
