// How many instructions a thread has executed in user space.
#pragma once

#include <cstdint>

namespace region_recorder {

struct ThreadUsage;

// "on": instructions are counted. Anything else, and unset: they are not.
constexpr const char* kInstructionsVariable = "HYDRACONF_RECORDER_INSTRUCTIONS";

// Why a thread's instructions cannot be counted. The values are those of the recording.
enum class NoInstructions : std::uint32_t {
  kNone = 0,
  kUnsupported = 1,  // this processor, or the headers that this library was built with
  kNotOpened = 2,    // perf_event_open failed
  kNotMapped = 3,    // the counter could not be mapped
  kNotReadable = 4,  // the processor's counters may not be read by programs
};

struct InstructionsRefusal {
  NoInstructions reason;
  int error;             // errno; 0 where no call failed
  std::int32_t paranoid;  // /proc/sys/kernel/perf_event_paranoid, or kUnknownLevel

  static constexpr std::int32_t kUnknownLevel = INT32_MIN;
};

// Once per process, before the first event.
void choose_instructions(const char* wanted) noexcept;

// The hardware counter of one thread, read in user space. No descriptor of it stays open: the mapping alone keeps it. The
// kernel gives forked children no such mapping, so a counter is only touched in the process that opened it. Zeroed memory
// is one that is not open.
class InstructionCounter {
 public:
  // For the calling thread, in place of what this counted before. Wants a caller that is undisturbed. A reason is given
  // once per process where it holds for all threads.
  InstructionsRefusal open() noexcept;

  // As the thread ends.
  void close() noexcept;

  // Adds what the thread has executed so far. Nothing where this is not open.
  void read(ThreadUsage& usage) noexcept;

 private:
  void* page_;
  std::uint32_t generation_;     // of the process that opened it
  std::uint32_t interruptions_;  // how often the kernel is known to have given the counter to others
  std::uint64_t lost_ns_;        // for how long, at the last reading
};

}  // namespace region_recorder
