#include "chip_metrics/host_library.hpp"

#include <dlfcn.h>

#include "chip_metrics/failure.hpp"

namespace chip_metrics {
namespace {

constexpr std::size_t kMostTexts = 1u << 20;

template <typename Call>
bool find(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, name));
  return call != nullptr;
}

std::string said_by_linker(const std::string& otherwise) {
  const char* const said = dlerror();
  return said == nullptr ? otherwise : said;
}

}  // namespace

HostLibrary::HostLibrary(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw Failure("library", said_by_linker("it cannot be loaded"));
  using GetVersion = cupti::host::Result (*)(std::uint32_t*);
  GetVersion get_version = nullptr;
  if (!find(library, "cuptiGetVersion", get_version) ||
      get_version(&version_) != cupti::host::kSuccess) {
    throw Failure("library", path + " is no libcupti that can be used");
  }
  find(library, "cuptiGetResultString", text_of_);
#define FIND(name) find(library, "cuptiProfilerHost" #name, call_.name)
  const bool complete = FIND(Initialize) && FIND(Deinitialize) && FIND(GetSupportedChips) &&
                        FIND(GetBaseMetrics) && FIND(GetSubMetrics) &&
                        FIND(GetMetricProperties) && FIND(ConfigAddMetrics) &&
                        FIND(GetConfigImageSize) && FIND(GetConfigImage) && FIND(GetNumOfPasses) &&
                        FIND(EvaluateToGpuValues);
#undef FIND
  if (!complete) {
    throw Failure("library_version",
                  path + " (version " + std::to_string(version_) +
                      ") has no Profiler Host API, which came with CUDA 12.6");
  }
  find(library, "cuptiRangeProfilerGetCounterDataInfo", reading_.GetCounterDataInfo);
  find(library, "cuptiRangeProfilerCounterDataGetRangeInfo", reading_.CounterDataGetRangeInfo);
  find(library, "cuptiPmSamplingGetCounterDataInfo", sample_reader_);
  find(library, "cuptiProfilerInitialize", device_.ProfilerInitialize);
  find(library, "cuptiDeviceGetChipName", device_.DeviceGetChipName);
}

std::vector<std::string> HostLibrary::chips() const {
  cupti::host::GetSupportedChipsParams params{};
  params.struct_size = sizeof(params);
  require(call_.GetSupportedChips(&params), "cuptiProfilerHostGetSupportedChips");
  return texts(params.chips, params.count, "chips");
}

std::string HostLibrary::text_of(cupti::host::Result result) const {
  const char* text = nullptr;
  if (text_of_ != nullptr) text_of_(result, &text);
  return text == nullptr ? "error " + std::to_string(result) : text;
}

void HostLibrary::require(cupti::host::Result result, const char* function) const {
  if (result != cupti::host::kSuccess) {
    throw Failure("library_answer", std::string(function) + ": " + text_of(result));
  }
}

std::size_t plausible(std::size_t count, std::size_t most, const char* what) {
  if (count > most) {
    throw Failure("library_answer",
                  "the library tells of " + std::to_string(count) + " " + what);
  }
  return count;
}

std::vector<std::string> texts(const char* const* list, std::size_t count, const char* what) {
  plausible(count, kMostTexts, what);
  if (count > 0 && list == nullptr) {
    throw Failure("library_answer", std::string("the library has no list of its ") + what);
  }
  std::vector<std::string> copies;
  copies.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr) {
      throw Failure("library_answer", std::string("the library has no name for one of its ") + what);
    }
    copies.emplace_back(list[i]);
  }
  return copies;
}

std::string chip_of_device(const HostLibrary& library, std::size_t device) {
  // CUPTI asks the driver, which nobody has started here.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (driver == nullptr) throw Failure("device", said_by_linker("there is no driver"));
  using Init = std::int32_t (*)(unsigned);
  Init init = nullptr;
  if (!find(driver, "cuInit", init)) throw Failure("device", "libcuda.so.1 has no cuInit");
  const std::int32_t result = init(0);
  if (result != 0) throw Failure("device", "cuInit returns " + std::to_string(result));
  const auto& [initialize, get_chip_name] = library.device();
  if (initialize == nullptr || get_chip_name == nullptr) {
    throw Failure("library_version", "the library does not tell the chip of a device");
  }
  cupti::host::ProfilerInitializeParams begin{sizeof(begin), nullptr};
  library.require(initialize(&begin), "cuptiProfilerInitialize");
  cupti::host::GetChipNameParams params{sizeof(params), nullptr, device, nullptr};
  const cupti::host::Result told = get_chip_name(&params);
  if (told != cupti::host::kSuccess) {
    throw Failure("device", "cuptiDeviceGetChipName: " + library.text_of(told));
  }
  if (params.chip == nullptr) throw Failure("library_answer", "the library has no name for the chip");
  return params.chip;
}

}  // namespace chip_metrics
