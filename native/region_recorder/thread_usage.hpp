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
  bool has_instructions;    // see instructions.hpp
  std::uint64_t instructions;
  std::uint32_t interruptions;  // of the counter: what lies between two readings is known if they agree in this
};

// Once per process, before the first event: what add_processor_use() asks for.
void choose_usage(const char* wanted) noexcept;

// Processor time and counts so far, by a system call each. What the system refuses is missing.
void add_processor_use(ThreadUsage& usage) noexcept;

}  // namespace region_recorder
