// The library's entry points: NVTX in a program loads it through NVTX_INJECTION64_PATH, the CUDA
// driver through CUDA_INJECTION64_PATH. Both in one process share one recording.
#include <atomic>

#include "caller_state.hpp"
#include "events.hpp"
#include "gpu/gpu_recording.hpp"
#include "payloads.hpp"
#include "other_injection.hpp"
#include "process.hpp"
#include "record.hpp"
#include "thread.hpp"

namespace {

namespace protocol = nvtx::protocol;

std::atomic<bool> is_used_by_nvtx{false};
std::atomic<bool> has_told{false};

// Where the driver alone has loaded this library: the ranges of this process go elsewhere.
void tell_other_nvtx_library() {
  const char* const other =
      is_used_by_nvtx.load() ? nullptr : region_recorder::other_library_in(region_recorder::kNvtxVariable);
  if (other == nullptr || has_told.exchange(true)) return;
  region_recorder::CurrentThread thread;
  if (!thread) return;
  const std::uint32_t library = thread->stream.intern(region_recorder::narrow_text(other));
  region_recorder::Record record(region_recorder::format::kOtherInjection);
  record.add(library);
  thread->stream.append(record.words());
}

bool attach(const protocol::CallbacksTable& callbacks, std::uint32_t module,
            void (*attach_functions)(region_recorder::Slots)) {
  protocol::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.get_module_function_table(module, &table, &size) == 0 || table == nullptr) {
    return false;
  }
  attach_functions(region_recorder::Slots(table, size));
  return true;
}

}  // namespace

// Called once by each linked copy of NVTX in the process, from whichever thread comes first.
// Non-zero: events are recorded.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    protocol::GetExportTable get_export_table) {
  const region_recorder::KeptCallerState kept;
  // NVTX waits in every other call until this has returned, also in one that a signal handler makes right here.
  const region_recorder::NoSignals until_nvtx_is_ready;
  const auto* const callbacks =
      static_cast<const protocol::CallbacksTable*>(get_export_table(protocol::kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
  if (!region_recorder::begin_recording()) return 0;
  is_used_by_nvtx.store(true);
  const bool has_core = attach(*callbacks, protocol::kCore, region_recorder::attach_core);
  const bool has_core2 = attach(*callbacks, protocol::kCore2, region_recorder::attach_core2);
  // For a program that has used CUDA already, without the variable that would have brought us there.
  region_recorder::gpu::begin();
  return has_core || has_core2 ? 1 : 0;
}

// Called once by each linked copy of NVTX's extensions, one by one. Non-zero: some of its events are recorded.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    protocol::payload::Module* module) {
  const region_recorder::KeptCallerState kept;
  const region_recorder::NoSignals until_nvtx_is_ready;
  if (module == nullptr) return 0;
  const bool has_payloads = module->id == protocol::payload::kModuleId;
  if (!has_payloads && module->id != protocol::payload::kCountersModuleId) return 0;
  if (!region_recorder::begin_recording()) return 0;
  return has_payloads ? region_recorder::attach_payloads(*module)
                      : region_recorder::attach_counters(*module);
}

// Called by the CUDA driver while it is initialised. Non-zero: we are in.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const region_recorder::KeptCallerState kept;
  const region_recorder::NoSignals until_all_has_begun;
  if (!region_recorder::begin_recording()) return 0;
  tell_other_nvtx_library();
  region_recorder::gpu::begin();
  return 1;
}
