// The calling thread's recorder.
#pragma once

#include <atomic>
#include <cstdint>

#include "instructions.hpp"
#include "nvtx/protocol.hpp"
#include "open_ranges.hpp"
#include "stream.hpp"
#include "text.hpp"

namespace region_recorder {

// Taken by a thread at its first event and left to the next new thread when that one ends. Lives in
// zeroed pages.
struct ThreadRecorder {
  static constexpr std::uint32_t kTrackedDomains = 4096;

  Stream stream;
  std::atomic<std::uintptr_t>* owner;        // in the table of all recorders: see thread.cc
  std::uint32_t thread_id;
  int rounds_of_destructors;                 // of thread keys that this thread's end has begun
  std::atomic<bool> busy;                    // inside an event
  std::uint64_t last_launch;                 // these two: see gpu/launches.cc
  std::uint64_t runtime_call;
  InstructionCounter instructions;
  OpenRanges open_ranges;                    // only where ranges are counted: see gpu/range_counters.hpp
  std::uint32_t used_depths;                 // all others are zero
  int depths[kTrackedDomains];               // open push/pop ranges by domain id
  char wide_buffer[format::kMaxTextBytes];   // where wide_text() puts its result

  // NVTX's 0-based level of a range that opens or closes. Domains beyond the tracked ones have
  // none.
  int push(std::uint32_t domain) noexcept {
    if (domain >= kTrackedDomains) return nvtx::protocol::kNoPushPopTracking;
    if (domain >= used_depths) used_depths = domain + 1;
    return depths[domain]++;
  }
  int pop(std::uint32_t domain) noexcept {
    if (domain >= kTrackedDomains) return nvtx::protocol::kNoPushPopTracking;
    return depths[domain] > 0 ? --depths[domain] : nvtx::protocol::kNestingError;
  }
};

// What docs/harmless.md says that a thread takes: its recorder and two chunks, in the moment between them.
static_assert(sizeof(ThreadRecorder) + 2 * kLargestUsualChunk <= 384 * 1024);

// The calling thread's recorder for the length of one event. Null inside another event of the same
// thread, that is in a signal handler that interrupted the recorder (the event is counted as
// dropped), and when there is no memory.
class [[nodiscard]] CurrentThread {
 public:
  CurrentThread() noexcept;
  ~CurrentThread();
  CurrentThread(const CurrentThread&) = delete;
  CurrentThread& operator=(const CurrentThread&) = delete;

  explicit operator bool() const noexcept { return recorder_ != nullptr; }
  ThreadRecorder* operator->() const noexcept { return recorder_; }

 private:
  ThreadRecorder* recorder_;
};

// Once per process, before the first event. False when the system has no more thread keys.
bool prepare_threads() noexcept;

// In a forked child, before its first event: no thread but the calling one is left. For `generation` see process.hpp.
void forget_threads(std::uint32_t generation) noexcept;

std::uint32_t current_thread_id() noexcept;

// Now, for an event that begins with the time: its thread may be one that has not recorded yet, and that may not read the
// time stamp counter.
std::uint64_t event_time() noexcept;

}  // namespace region_recorder
