// NVTX's client side in the small, for machines without NVIDIA's headers: loads the tool that the
// environment names, at first use, and calls what the tool attached. Included by nvtx.hpp only.
//
// Like NVTX itself it is silent when no tool answers: a program must run the same without one.
// Every linked copy (executable, shared library) is a client of its own, hence hidden visibility.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "protocol.hpp"

#if defined(__ELF__)
// A tool that is linked into the program defines this; elsewhere its address is null.
extern "C" __attribute__((weak)) nvtx::protocol::InitializeInjection InitializeInjectionNvtx2_fnptr;
#endif

namespace nvtx::own_client {

#pragma GCC visibility push(hidden)

// The functions of one module: what the tool attached (`slots`), and the table through which it
// attaches (`entries`). Null until then. Entry 0 and the one past the end are null by protocol.
template <unsigned Size>
struct ModuleTable {
  protocol::Function slots[Size] = {};
  protocol::Function* entries[Size + 1] = {};

  ModuleTable() {
    for (unsigned i = 1; i < Size; ++i) entries[i] = &slots[i];
  }
};

// Modules beside core and core2 are never called from here, but tools expect to find their tables.
struct Tables {
  ModuleTable<protocol::kCoreSize> core;
  ModuleTable<protocol::kCudaSize> cuda;
  ModuleTable<protocol::kOpenClSize> opencl;
  ModuleTable<protocol::kCudaRuntimeSize> cuda_runtime;
  ModuleTable<protocol::kCore2Size> core2;
  ModuleTable<protocol::kSyncSize> sync;
};

// Never destroyed: ranges may still close in the destructors of static objects.
inline Tables& tables() {
  static Tables* const instance = new Tables;
  return *instance;
}

template <unsigned Size>
int hand_out(ModuleTable<Size>& module, protocol::FunctionTable* table, unsigned* size) {
  if (table != nullptr) *table = module.entries;
  if (size != nullptr) *size = Size;
  return 1;
}

inline int get_module_function_table(std::uint32_t module, protocol::FunctionTable* table,
                                     unsigned* size) {
  switch (module) {
    case protocol::kCore: return hand_out(tables().core, table, size);
    case protocol::kCuda: return hand_out(tables().cuda, table, size);
    case protocol::kOpenCl: return hand_out(tables().opencl, table, size);
    case protocol::kCudaRuntime: return hand_out(tables().cuda_runtime, table, size);
    case protocol::kCore2: return hand_out(tables().core2, table, size);
    case protocol::kSync: return hand_out(tables().sync, table, size);
    default: return 0;
  }
}

inline const void* get_export_table(std::uint32_t id) {
  static const protocol::CallbacksTable callbacks{sizeof(protocol::CallbacksTable),
                                                  get_module_function_table};
  static const protocol::VersionInfoTable version{sizeof(protocol::VersionInfoTable),
                                                  protocol::kVersion, 0, [](std::uint32_t) {}};
  switch (id) {
    case protocol::kCallbacks: return &callbacks;
    case protocol::kVersionInfo: return &version;
    default: return nullptr;
  }
}

// Order of the search as in NVTX: the library that the environment names, and only where it names
// none, a tool linked into the program. True: a tool took the tables.
inline bool attach_tool() {
  if (const char* path = std::getenv(protocol::kInjectionPathVariable)) {
    void* library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return false;
    const auto initialize =
        reinterpret_cast<protocol::InitializeInjection>(dlsym(library, protocol::kEntryPoint));
    if (initialize != nullptr && initialize(get_export_table) != 0) return true;
    dlclose(library);
    return false;
  }
#if defined(__ELF__)
  return &InitializeInjectionNvtx2_fnptr != nullptr && InitializeInjectionNvtx2_fnptr != nullptr &&
         InitializeInjectionNvtx2_fnptr(get_export_table) != 0;
#else
  return false;
#endif
}

// Constant-initialised, so that no guard is needed: a signal handler may call where it was interrupted.
inline std::atomic<pthread_t> searching_thread{};
inline std::atomic<pid_t> searching_process{};
inline std::atomic<bool> is_searched{false};
inline std::atomic<const Tables*> attached{nullptr};

// Without signals and cancellation: what leaves the search in the middle leaves all other threads waiting.
inline void search_undisturbed() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int state = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  attached.store(attach_tool() ? &tables() : nullptr);
  is_searched.store(true, std::memory_order_release);
  pthread_setcancelstate(state, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The first call of the process searches, those of other threads wait for it. One that a signal handler makes right
// before the search would wait for itself, and one in a child that was forked meanwhile for a thread that is not there:
// they do nothing.
inline const Tables* search_tool() {
  pthread_t searching{};
  if (searching_thread.compare_exchange_strong(searching, pthread_self())) {
    searching_process.store(getpid());
    search_undisturbed();
  }
  while (!is_searched.load(std::memory_order_acquire)) {
    if (pthread_equal(searching, pthread_self()) != 0) return nullptr;
    const pid_t process = searching_process.load();
    if (process != 0 && process != getpid()) return nullptr;
    sched_yield();
  }
  return attached.load(std::memory_order_relaxed);
}

// The attached tables, or null without a tool: after the first call two loads.
inline const Tables* tool() {
  if (!is_searched.load(std::memory_order_acquire)) return search_tool();
  return attached.load(std::memory_order_relaxed);
}

// A slot is read atomically because a tool may attach or detach a function while the program runs.
template <typename Signature, unsigned Size>
Signature* function(const ModuleTable<Size>& module, unsigned index) {
  return reinterpret_cast<Signature*>(__atomic_load_n(&module.slots[index], __ATOMIC_RELAXED));
}

inline protocol::EventAttributes message_only(const char* message) {
  protocol::EventAttributes attributes{};
  attributes.version = protocol::kVersion;
  attributes.size = sizeof(protocol::EventAttributes);
  attributes.message_type = protocol::kNarrow;
  attributes.message.narrow = message;
  return attributes;
}

// The calls that nvtx.hpp needs. A null domain is the default domain.
using DomainHandle = protocol::DomainHandle;
using RangeId = protocol::RangeId;

// Null without a tool.
inline DomainHandle create_domain(const char* name) {
  if (const Tables* to = tool()) {
    if (const auto create =
            function<DomainHandle(const char*)>(to->core2, protocol::core2::kDomainCreateA)) {
      return create(name);
    }
  }
  return nullptr;
}

inline void destroy_domain(DomainHandle domain) {
  if (const Tables* to = tool()) {
    if (const auto destroy =
            function<void(DomainHandle)>(to->core2, protocol::core2::kDomainDestroy)) {
      destroy(domain);
    }
  }
}

inline int push(DomainHandle domain, const char* message) {
  if (const Tables* to = tool()) {
    if (const auto push = function<int(DomainHandle, const protocol::EventAttributes*)>(
            to->core2, protocol::core2::kDomainRangePushEx)) {
      const protocol::EventAttributes attributes = message_only(message);
      return push(domain, &attributes);
    }
  }
  return protocol::kNoPushPopTracking;
}

inline int pop(DomainHandle domain) {
  if (const Tables* to = tool()) {
    if (const auto pop =
            function<int(DomainHandle)>(to->core2, protocol::core2::kDomainRangePop)) {
      return pop(domain);
    }
  }
  return protocol::kNoPushPopTracking;
}

// 0 without a tool.
inline RangeId start(DomainHandle domain, const char* message) {
  if (const Tables* to = tool()) {
    if (const auto start = function<RangeId(DomainHandle, const protocol::EventAttributes*)>(
            to->core2, protocol::core2::kDomainRangeStartEx)) {
      const protocol::EventAttributes attributes = message_only(message);
      return start(domain, &attributes);
    }
  }
  return 0;
}

inline void end(DomainHandle domain, RangeId range) {
  if (const Tables* to = tool()) {
    if (const auto end =
            function<void(DomainHandle, RangeId)>(to->core2, protocol::core2::kDomainRangeEnd)) {
      end(domain, range);
    }
  }
}

inline void mark(DomainHandle domain, const char* message) {
  if (const Tables* to = tool()) {
    if (const auto mark = function<void(DomainHandle, const protocol::EventAttributes*)>(
            to->core2, protocol::core2::kDomainMarkEx)) {
      const protocol::EventAttributes attributes = message_only(message);
      mark(domain, &attributes);
    }
  }
}

#pragma GCC visibility pop

}  // namespace nvtx::own_client
