#include "launches.hpp"

#include <atomic>
#include <cstring>
#include <initializer_list>

#include "../clock.hpp"
#include "../process.hpp"
#include "../record.hpp"
#include "../thread.hpp"
#include "devices.hpp"

namespace region_recorder::gpu {
namespace {

// CUPTI numbers the functions of a domain from 1 (CUDA 13.0: 806 and 522 of them).
constexpr std::uint32_t kMostFunctions = 4096;
constexpr std::uint32_t kDomains = 3;

enum class Function : std::uint8_t { kOther, kMovesOrWaits, kStartsKernels };

Function functions[kDomains][kMostFunctions];
std::atomic<bool> launched{false};

bool contains(const char* text, const char* part) { return std::strstr(text, part) != nullptr; }

Function function_of_name(const char* name) {
  if (contains(name, "HostFunc")) return Function::kOther;
  if (contains(name, "GraphLaunch")) return Function::kStartsKernels;
  // cudaGraphAddMemcpyNode, cudaGraphExecMemsetNodeSetParams: descriptions, no work.
  if (contains(name, "Graph")) return Function::kOther;
  if (contains(name, "Launch")) return Function::kStartsKernels;
  for (const char* part : {"Memcpy", "Memset", "Synchronize"}) {
    if (contains(name, part)) return Function::kMovesOrWaits;
  }
  return Function::kOther;
}

}  // namespace

bool watch_launches(const Cupti& cupti, cupti::Subscriber subscriber) noexcept {
  bool any = false;
  for (const cupti::CallbackDomain domain : {cupti::kDriverApi, cupti::kRuntimeApi}) {
    for (std::uint32_t callback = 1; callback < kMostFunctions; ++callback) {
      const char* name = nullptr;
      if (cupti.call.GetCallbackName(domain, callback, &name) != cupti::kSuccess) break;
      if (name == nullptr) continue;
      const Function function = function_of_name(name);
      if (function == Function::kOther) continue;
      functions[domain][callback] = function;
      if (cupti.call.EnableCallback(1, subscriber, domain, callback) == cupti::kSuccess) any = true;
    }
  }
  return any;
}

void on_api_call(void*, cupti::CallbackDomain domain, std::uint32_t callback, const void* data) {
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  if (call.site != cupti::kEnter) return;
  describe_devices_once();
  if (!launched.load(std::memory_order_relaxed)) launched.store(true, std::memory_order_relaxed);

  CurrentThread thread;
  if (!thread) return;
  // The runtime's call makes one of the driver's, with the same correlation.
  const std::uint64_t launch = std::uint64_t{1} << 32 | call.correlation_id;
  if (thread->last_launch == launch) return;
  thread->last_launch = launch;
  const std::uint64_t time = now_ns();

  Record record(format::kLaunch);
  record.add(0);
  record.add(call.correlation_id);
  if (domain < kDomains && callback < kMostFunctions &&
      functions[domain][callback] == Function::kStartsKernels) {
    record.add_flag(format::kHasKernels);
  }
  if (!thread->stream.append_at(time, record.words())) count_dropped();
}

bool launched_since_last_asked() noexcept {
  return launched.exchange(false, std::memory_order_relaxed);
}

}  // namespace region_recorder::gpu
