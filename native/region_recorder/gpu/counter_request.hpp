// What is to be measured by hardware counters, and how: what who started the program has written into a file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../text.hpp"

namespace region_recorder::gpu {

// A part of the file. Not terminated.
struct Piece {
  const char* bytes;
  std::size_t length;
};

// `domain@name` with `*`, `?` and `\`: see src/report/selection/range-pattern.ts.
struct RangePattern {
  Piece domain;  // null: any
  Piece name;

  bool matches(const Text& domain_name, const Text& range_name) const noexcept;
};

// Entries of the file are texts that end with a zero: a key, a space and its value. Those that are not known are left out.
struct CounterRequest {
  static constexpr std::size_t kMostPatterns = 256;
  static constexpr std::size_t kMostMetrics = 512;

  std::uint32_t level = 0;   // of nesting, from 1 at the outermost measured range; 0: the innermost one, without what lies inside
  std::uint32_t pass = 0;    // which of `passes` runs of the program this is
  std::uint32_t passes = 1;
  std::uint32_t most_ranges = 0;      // that a process measures; of samples: of a device
  std::uint32_t interval_ns = 0;      // between two samples of a device; 0: ranges are measured
  const char* results = nullptr;      // directory for what is measured
  const char* images = nullptr;       // directory of configurations, each named by its chip
  const char* previous = nullptr;     // directory of what the pass before has measured; null in the first
  const char* metrics[kMostMetrics] = {};
  std::size_t metric_count = 0;
  RangePattern include[kMostPatterns] = {};
  std::size_t include_count = 0;
  RangePattern exclude[kMostPatterns] = {};
  std::size_t exclude_count = 0;
  Piece operations[kMostPatterns] = {};  // domains whose ranges are no regions
  std::size_t operation_count = 0;

  // Reads the file, which stays in memory. False: it cannot be read, or lacks something.
  bool read(const char* path) noexcept;

  bool includes(const Text& domain, const Text& name) const noexcept;
  bool excludes(const Text& domain, const Text& name) const noexcept;
  bool is_operation(const Text& domain) const noexcept;

 private:
  bool take(char* entry) noexcept;
};

// The whole file in pages of its own, with a zero behind it; null where it cannot be read or has more than `most` bytes.
struct FileContents {
  char* bytes;
  std::size_t length;
};
FileContents read_file(const char* path, std::size_t most) noexcept;

}  // namespace region_recorder::gpu
