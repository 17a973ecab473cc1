#include "gpu_recording.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../caller_state.hpp"
#include "../record.hpp"
#include "../thread.hpp"
#include "activity.hpp"
#include "clock_samples.hpp"
#include "devices.hpp"
#include "flusher.hpp"
#include "launches.hpp"
#include "libraries.hpp"

namespace region_recorder::gpu {
namespace {

enum class State { kFresh, kBegun, kOver };

std::atomic<State> state{State::kFresh};
// Which process collects: a fork inherits everything but that.
pid_t collecting_process = 0;
Driver driver;
Cupti cupti;

bool switched_off() {
  const char* const value = getenv(kSwitchVariable);
  return value != nullptr && std::strcmp(value, "off") == 0;
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
  cupti::Subscriber subscriber = nullptr;
  if (const cupti::Result result = cupti.call.Subscribe(&subscriber, on_api_call, nullptr)) {
    tell_failure("cuptiSubscribe", result);
    return false;
  }
  prepare_clocks(cupti);
  prepare_activity(cupti);
  prepare_devices(driver);
  // A program that polls an event would have a record of each answer "not yet".
  if (cupti.call.ActivityEnableAllSyncRecords != nullptr) {
    static_cast<void>(cupti.call.ActivityEnableAllSyncRecords(0));
  }
  const char* call = "cuptiActivityRegisterCallbacks";
  cupti::Result result = cupti.call.ActivityRegisterCallbacks(buffer_requested, buffer_completed);
  if (result == cupti::kSuccess && !watch_launches(cupti, subscriber)) {
    call = "cuptiEnableCallback";
    result = cupti::kNotCompatible;
  }
  for (const WantedKind& wanted : kWanted) {
    if (result != cupti::kSuccess) break;
    const cupti::Result enabled = cupti.call.ActivityEnable(wanted.kind);
    if (enabled == cupti::kSuccess) continue;
    call = wanted.call;
    if (wanted.kind == cupti::kConcurrentKernel) result = enabled;
    else tell_failure(call, enabled);
  }
  if (result == cupti::kSuccess) return true;
  cupti.call.Unsubscribe(subscriber);
  tell_failure(call, result);
  return false;
}

// Before the destructors of libraries, of which CUPTI's would come first.
void end_at_exit() {
  if (state.load() != State::kBegun || getpid() != collecting_process) return;
  const KeptCallerState kept;
  state.store(State::kOver);
  stop_fetching();
  stop_flusher();
  sample_clocks();
  const cupti::Result flushed = cupti.call.ActivityFlushAll(cupti::kFlushForced);
  if (flushed != cupti::kSuccess) tell_failure("cuptiActivityFlushAll", flushed);
  wait_for_readers();
}

void collect() {
  char why[PATH_MAX];
  if (!find_cupti(driver, cupti, why)) return tell(cupti::kSuccess, why);
  if (!subscribe_and_enable()) return;
  tell(cupti::kSuccess, nullptr);
  sample_clocks();
  collecting_process = getpid();
  // Without its thread everything comes at the end; only a crash loses more then.
  static_cast<void>(start_flusher(cupti));
  std::atexit(end_at_exit);
}

}  // namespace

void begin() noexcept {
  if (switched_off() || state.load() != State::kFresh || !find_driver(driver)) return;
  State fresh = State::kFresh;
  if (state.compare_exchange_strong(fresh, State::kBegun)) collect();
}

void forget() noexcept {
  if (state.load() == State::kBegun) state.store(State::kOver);
}

}  // namespace region_recorder::gpu
