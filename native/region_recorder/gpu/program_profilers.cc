#include "program_profilers.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "../caller_state.hpp"
#include "import_slots.hpp"

namespace region_recorder::gpu {
namespace {

OnProfiler on_profiler_begins = nullptr;
bool others_may_share = false;

enum Name : std::size_t { kSubscribe, kSubscribeV2, kRegisterCallbacks, kLookup, kNames };
constexpr const char* kNameTexts[kNames] = {"cuptiSubscribe", "cuptiSubscribe_v2",
                                            "cuptiActivityRegisterCallbacks", "dlsym"};

// A process may hold several files of CUPTI: PyTorch brings one, Triton another. Each function of each has a stand-in.
constexpr std::size_t kMostLibraries = 4;
std::atomic<void*> targets[kLookup][kMostLibraries];

const char* file_name(const char* path) {
  const char* const slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

void tell(Name name, const void* caller) {
  if (name == kSubscribeV2 && others_may_share) return;
  const KeptCallerState kept;
  Dl_info found{};
  const bool is_known = dladdr(caller, &found) != 0 && found.dli_fname != nullptr;
  on_profiler_begins(kNameTexts[name], is_known ? file_name(found.dli_fname) : "");
}

// The stand-in of one function in one library: a type, so that each has a function of its own.
template <Name name, std::size_t library>
struct StandIn {
  template <typename... Parameters>
  static cupti::Result call(Parameters... parameters) {
    tell(name, __builtin_return_address(0));
    void* const target = targets[name][library].load(std::memory_order_acquire);
    return reinterpret_cast<cupti::Result (*)(Parameters...)>(target)(parameters...);
  }
};

template <Name name, std::size_t library>
void* stand_in() {
  using One = StandIn<name, library>;
  if constexpr (name == kSubscribe) {
    cupti::Result (*const call)(cupti::Subscriber*, cupti::Callback, void*) = One::call;
    return reinterpret_cast<void*>(call);
  } else if constexpr (name == kSubscribeV2) {
    cupti::Result (*const call)(cupti::Subscriber*, cupti::Callback, void*,
                                cupti::SubscriberParams*) = One::call;
    return reinterpret_cast<void*>(call);
  } else {
    cupti::Result (*const call)(cupti::BufferRequested, cupti::BufferCompleted) = One::call;
    return reinterpret_cast<void*>(call);
  }
}

template <Name name, std::size_t... libraries>
void* stand_in_for(void* target, std::index_sequence<libraries...>) {
  void* const all[] = {stand_in<name, libraries>()...};
  for (std::size_t i = 0; i < kMostLibraries; ++i) {
    if (target == all[i]) return nullptr;
    void* before = nullptr;
    if (targets[name][i].compare_exchange_strong(before, target, std::memory_order_acq_rel) ||
        before == target) {
      return all[i];
    }
  }
  return nullptr;
}

void* stand_in_for(std::size_t name, void* target) {
  constexpr auto kLibraries = std::make_index_sequence<kMostLibraries>();
  switch (name) {
    case kSubscribe: return stand_in_for<kSubscribe>(target, kLibraries);
    case kSubscribeV2: return stand_in_for<kSubscribeV2>(target, kLibraries);
    default: return stand_in_for<kRegisterCallbacks>(target, kLibraries);
  }
}

void* watched_lookup(void* handle, const char* name);

void* replacement(std::size_t name, void* target) {
  if (name != kLookup) return stand_in_for(name, target);
  // Where somebody else stands between, he stays.
  return target == reinterpret_cast<void*>(&dlsym) ? reinterpret_cast<void*>(&watched_lookup)
                                                   : nullptr;
}

constexpr Imports kImports = {kNameTexts, kNames, replacement};

// Null: nothing to be led through here.
__attribute__((noinline)) void* look_up(void* handle, const char* name) {
  const KeptErrno kept;
  // A program that loads a module looks something up in it next, before it calls anything there.
  redirect_new_imports(kImports);
  // These two begin their search at the caller's library.
  if (name == nullptr || handle == RTLD_NEXT || handle == RTLD_DEFAULT) return nullptr;
  if (std::strncmp(name, "cupti", 5) != 0) return nullptr;
  for (std::size_t known = 0; known < kLookup; ++known) {
    if (std::strcmp(name, kNameTexts[known]) != 0) continue;
    void* const target = dlsym(handle, name);
    return target == nullptr ? nullptr : stand_in_for(known, target);
  }
  return nullptr;
}

// Ends in a jump, so that dlsym sees who called: RTLD_NEXT depends on that.
void* watched_lookup(void* handle, const char* name) {
  if (void* const ours = look_up(handle, name)) return ours;
  return dlsym(handle, name);
}

}  // namespace

void watch_profilers(const Subscription& subscription, OnProfiler on_profiler) noexcept {
  others_may_share = subscription.is_shared();
  on_profiler_begins = on_profiler;
  redirect_new_imports(kImports);
  dlerror();  // of our own calls
}

std::size_t unwatched_calls() noexcept { return refused_slots(); }

}  // namespace region_recorder::gpu
