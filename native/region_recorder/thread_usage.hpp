// What the calling thread has used of the machine so far.
#pragma once

#include <cstdint>

namespace region_recorder {

// "off": nothing. "counts": page faults, context switches and blocks of disks, too. Anything else, and unset: processor time.
constexpr const char* kUsageVariable = "HYDRACONF_RECORDER_CPU";

struct ThreadUsage {
  bool has_processor_time;
  bool has_counts;
  std::uint64_t processor_ns;
  std::uint32_t counts[4];  // page faults: minor, major; context switches: voluntary, involuntary
  std::uint32_t blocks[2];  // of disks: read, written
};

// Once per process, before the first event: what usage_so_far() asks for.
void choose_usage(const char* wanted) noexcept;

// A system call for the processor time, and one for the counts. What the system refuses is missing.
ThreadUsage usage_so_far() noexcept;

}  // namespace region_recorder
