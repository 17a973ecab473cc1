#include "launches.hpp"

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "../caller_state.hpp"
#include "../clock.hpp"
#include "../process.hpp"
#include "../record.hpp"
#include "../thread.hpp"
#include "clock_samples.hpp"
#include "counters.hpp"
#include "counting.hpp"
#include "devices.hpp"

namespace region_recorder::gpu {
namespace {

// CUPTI numbers the functions of a domain from 1 (CUDA 13.0: 806 and 522 of them).
constexpr std::uint32_t kMostFunctions = 4096;
constexpr std::uint32_t kDomains = 3;

enum class Function : std::uint8_t { kOther, kMoves, kWaits, kStartsKernels, kDestroysContexts };

const Subscription* subscription_in_use = nullptr;
Function functions[kDomains][kMostFunctions];
std::atomic<bool> launched{false};
std::atomic<bool> over{false};

bool contains(const char* text, const char* part) { return std::strstr(text, part) != nullptr; }

Function function_of_name(const char* name) {
  for (const char* part : {"DeviceReset", "PrimaryCtxReset", "PrimaryCtxRelease", "CtxDestroy"}) {
    if (contains(name, part)) return Function::kDestroysContexts;
  }
  if (contains(name, "HostFunc")) return Function::kOther;
  if (contains(name, "GraphLaunch")) return Function::kStartsKernels;
  // cudaGraphAddMemcpyNode, cudaGraphExecMemsetNodeSetParams: descriptions, no work.
  if (contains(name, "Graph")) return Function::kOther;
  if (contains(name, "Launch")) return Function::kStartsKernels;
  if (contains(name, "Memcpy") || contains(name, "Memset")) return Function::kMoves;
  return contains(name, "Synchronize") ? Function::kWaits : Function::kOther;
}

Function function_of(cupti::CallbackDomain domain, std::uint32_t callback) {
  return domain < kDomains && callback < kMostFunctions ? functions[domain][callback]
                                                        : Function::kOther;
}

// CUPTI's records of a context do not outlive it.
void fetch_records() {
  if (over.load(std::memory_order_relaxed)) return;
  const KeptCallerState kept;
  if (reads_counters()) return leave_contexts();
  sample_clocks();
  static_cast<void>(subscription_in_use->flush(cupti::kFlushCompleted));
}

void record_launch(ThreadRecorder& thread, std::uint32_t correlation, bool starts_kernels,
                   std::uint64_t time) {
  Record record(format::kLaunch);
  record.add(0);
  record.add(correlation);
  if (starts_kernels) record.add_flag(format::kHasKernels);
  if (!thread.stream.append_at(time, record.words())) count_dropped();
}

}  // namespace

bool watch_launches(const Subscription& subscription) noexcept {
  subscription_in_use = &subscription;
  const cupti::Functions& call = subscription.cupti().call;
  bool any = false;
  for (const cupti::CallbackDomain domain : {cupti::kDriverApi, cupti::kRuntimeApi}) {
    for (std::uint32_t callback = 1; callback < kMostFunctions; ++callback) {
      const char* name = nullptr;
      if (call.GetCallbackName(domain, callback, &name) != cupti::kSuccess) break;
      if (name == nullptr) continue;
      const Function function = function_of_name(name);
      if (function == Function::kOther) continue;
      functions[domain][callback] = function;
      if (call.EnableCallback(1, subscription.handle(), domain, callback) == cupti::kSuccess)
        any = true;
    }
  }
  return any;
}

void stop_fetching() noexcept { over.store(true, std::memory_order_relaxed); }

void on_api_call(void*, cupti::CallbackDomain domain, std::uint32_t callback, const void* data) {
  const KeptErrno kept;
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  const bool begins = call.site == cupti::kEnter;
  if (!begins && domain != cupti::kRuntimeApi) return;
  const Function function = function_of(domain, callback);
  if (function == Function::kDestroysContexts) {
    if (begins) fetch_records();
    return;
  }
  if (reads_counters() && is_calling_cupti()) return;
  if (begins) {
    describe_devices_once();
    if (!launched.load(std::memory_order_relaxed)) launched.store(true, std::memory_order_relaxed);
  }

  CurrentThread thread;
  if (!thread) return;
  if (reads_counters()) {
    // Also of a driver's call inside the runtime's, which may have had no context yet.
    if (begins && function != Function::kWaits) count_work(*thread.operator->(), call.context);
    return;
  }
  if (!begins) {
    thread->runtime_call = 0;
    return;
  }
  // The runtime's call makes one of the driver's. Work is known by the runtime's correlation; whether
  // the driver's call has the same one, CUPTI does not say.
  const std::uint64_t launch = std::uint64_t{1} << 32 | call.correlation_id;
  const bool inside_another = domain == cupti::kDriverApi && thread->runtime_call != 0;
  if (domain == cupti::kRuntimeApi) thread->runtime_call = launch;
  if (thread->last_launch == launch) return;
  thread->last_launch = launch;
  record_launch(*thread.operator->(), call.correlation_id,
                function == Function::kStartsKernels && !inside_another, now_ns());
}

bool launched_since_last_asked() noexcept {
  return launched.exchange(false, std::memory_order_relaxed);
}

}  // namespace region_recorder::gpu
