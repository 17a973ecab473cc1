#include "gpu_recording.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../caller_state.hpp"
#include "../clock.hpp"
#include "../other_injection.hpp"
#include "../record.hpp"
#include "../thread.hpp"
#include "activity.hpp"
#include "clock_samples.hpp"
#include "counters.hpp"
#include "devices.hpp"
#include "flusher.hpp"
#include "launches.hpp"
#include "libraries.hpp"
#include "program_profilers.hpp"
#include "subscription.hpp"

namespace region_recorder::gpu {
namespace {

enum class State { kFresh, kBegun, kEnding, kOver };

std::atomic<State> state{State::kFresh};
// Which process collects: a fork inherits everything but that.
pid_t collecting_process = 0;
Driver driver;
Cupti cupti;
Subscription subscription;

bool is_switched(const char* wanted) {
  const char* const value = getenv(kSwitchVariable);
  return value != nullptr && std::strcmp(value, wanted) == 0;
}

bool wants_sharing() {
  const char* const value = getenv(kSharingVariable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// Writes down whether there will be kernels in this recording, and if not, why.
void tell(cupti::Result result, const char* failure) {
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kGpu);
  record.add(cupti.version);
  record.add(static_cast<std::uint32_t>(driver.version));
  record.add(static_cast<std::uint32_t>(result));
  record.add(thread->stream.intern(narrow_text(failure)));
  if (failure != nullptr) record.add_flag(format::kHasFailure);
  thread->stream.append(record.words());
}

}  // namespace

void tell_failure(const char* call, cupti::Result result) noexcept {
  const char* name = nullptr;
  if (cupti.call.GetResultString(result, &name) != cupti::kSuccess) name = nullptr;
  char text[256];
  snprintf(text, sizeof(text), "%s: %s", call, name == nullptr ? "unknown error" : name);
  tell(result, text);
}

namespace {

struct WantedKind {
  cupti::ActivityKind kind;
  const char* call;
};
// The first is what all this is for; without one of the others, the rest is still worth having.
constexpr WantedKind kWanted[] = {
    {cupti::kConcurrentKernel, "cuptiActivityEnable(CONCURRENT_KERNEL)"},
    {cupti::kMemcpy, "cuptiActivityEnable(MEMCPY)"},
    {cupti::kPeerMemcpy, "cuptiActivityEnable(MEMCPY2)"},
    {cupti::kMemset, "cuptiActivityEnable(MEMSET)"},
    {cupti::kSynchronization, "cuptiActivityEnable(SYNCHRONIZATION)"},
};

// False: told already.
bool subscribe_and_enable() {
  Refusal refusal = subscription.begin(cupti, wants_sharing());
  if (refusal.result != cupti::kSuccess) {
    tell_failure(refusal.call, refusal.result);
    return false;
  }
  prepare_clocks(subscription);
  prepare_activity(subscription);
  prepare_devices(driver);
  const bool counts = reads_counters();
  if (counts && !begin_counters(subscription)) {
    subscription.end();
    return false;
  }
  if (!counts) refusal = subscription.register_buffers();
  if (refusal.result == cupti::kSuccess && !watch_launches(subscription)) {
    refusal = {"cuptiEnableCallback", cupti::kNotCompatible};
  }
  for (const WantedKind& wanted : kWanted) {
    // Records of kernels beside counters: NVIDIA says of no version that it works.
    if (counts || refusal.result != cupti::kSuccess) break;
    const cupti::Result enabled = subscription.enable(wanted.kind);
    if (enabled == cupti::kSuccess) continue;
    if (wanted.kind == cupti::kConcurrentKernel) refusal = {wanted.call, enabled};
    else tell_failure(wanted.call, enabled);
  }
  if (refusal.result == cupti::kSuccess) return true;
  subscription.end();
  tell_failure(refusal.call, refusal.result);
  return false;
}

bool is_collecting() {
  const State now = state.load();
  return (now == State::kBegun || now == State::kEnding) && getpid() == collecting_process;
}

// The program's end and its profilers may come at once. True for the one that has to end the collecting; the others return
// when it has, or after some seconds. Without a lock, which would hold signals back meanwhile.
bool may_end_collecting() {
  if (!is_collecting()) return false;
  State begun = State::kBegun;
  if (state.compare_exchange_strong(begun, State::kEnding)) return true;
  constexpr int kRounds = 5'000;
  for (int i = 0; i < kRounds && state.load() == State::kEnding; ++i) usleep(1'000);
  return false;
}

// CUPTI by itself would keep records until a buffer is full: a crash is to lose no more than this time of them.
constexpr std::uint64_t kFetchingPeriodNs = 500'000'000;

void fetch_finished_records() noexcept {
  static bool any = false;
  if (launched_since_last_asked()) {
    any = true;
    sample_clocks();
  }
  // Also where nothing was launched since: a kernel may run for long. Only complete buffers come: what the GPU still works on
  // stays for the next time. So does what a failure kept back; the flush at the end tells whether it ever came.
  if (any) static_cast<void>(subscription.flush(cupti::kFlushCompleted));
}

// Brings in what CUPTI still has.
void finish_collecting() {
  stop_fetching();
  if (reads_counters()) return end_counters();
  stop_flusher();
  sample_clocks();
  const cupti::Result flushed = subscription.flush(cupti::kFlushForced);
  if (flushed != cupti::kSuccess) tell_failure("cuptiActivityFlushAll", flushed);
  wait_for_readers();
}

// Before the destructors of libraries, of which CUPTI's would come first.
void end_at_exit() {
  const KeptCallerState kept;
  if (!may_end_collecting()) return;
  finish_collecting();
  state.store(State::kOver);
}

// A profiler of the program asks for CUPTI, at this time.
void tell_profiler(const char* call, const char* library, bool goes_on, std::uint64_t time) {
  CurrentThread thread;
  if (!thread) return;
  const std::uint32_t call_id = thread->stream.intern(narrow_text(call));
  const std::uint32_t library_id = thread->stream.intern(narrow_text(library));
  Record record(format::kProgramProfiler);
  record.add(0);
  record.add(call_id);
  record.add(library_id);
  if (goes_on) record.add_flag(format::kHasPrecedence);
  thread->stream.append_at(time, record.words());
}

void tell_unwatched_calls() {
  const std::size_t count = unwatched_calls();
  if (count == 0) return;
  CurrentThread thread;
  if (!thread) return;
  Record record(format::kUnwatchedCalls);
  record.add(static_cast<std::uint32_t>(count));
  thread->stream.append(record.words());
}

std::atomic<bool> was_refused{false};

void keep_cupti(const char* call, const char* library) noexcept {
  if (is_collecting() && !was_refused.exchange(true)) tell_profiler(call, library, true, now_ns());
}

void leave_cupti(const char* call, const char* library) noexcept {
  if (!may_end_collecting()) return;
  const std::uint64_t time = now_ns();
  finish_collecting();
  subscription.end();
  give_clock_back();
  tell_profiler(call, library, false, time);
  state.store(State::kOver);
}

void collect() {
  const bool keeps = is_switched("on");
  const char* const other = keeps ? nullptr : other_library_in(kCudaVariable);
  char why[PATH_MAX + 128];
  if (other != nullptr) {
    snprintf(why, sizeof(why), "%s names the library of another tool, to which the GPU is left: %s",
             kCudaVariable, other);
    return tell(cupti::kSuccess, why);
  }
  char missing[PATH_MAX];
  if (!find_cupti(driver, cupti, missing)) return tell(cupti::kSuccess, missing);
  if (!subscribe_and_enable()) return;
  tell(cupti::kSuccess, nullptr);
  sample_clocks();
  collecting_process = getpid();
  // Without its thread everything comes at the end; only a crash loses more then.
  if (!reads_counters()) static_cast<void>(start_flusher(fetch_finished_records, kFetchingPeriodNs));
  std::atexit(end_at_exit);
  watch_profilers(subscription, keeps ? keep_cupti : leave_cupti);
  tell_unwatched_calls();
}

}  // namespace

void begin() noexcept {
  if (is_switched("off") || state.load() != State::kFresh || !find_driver(driver)) return;
  State fresh = State::kFresh;
  if (state.compare_exchange_strong(fresh, State::kBegun)) collect();
}

void forget() noexcept {
  if (state.load() != State::kFresh) state.store(State::kOver);
  forget_counters();
}

}  // namespace region_recorder::gpu
