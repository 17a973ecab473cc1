// NVIDIA's library that knows the metrics of chips: libcupti of CUDA 12.6 or later, loaded at run time. It needs no driver and
// no device for these questions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/pm_sampling.hpp"
#include "cupti/profiler_host.hpp"
#include "cupti/range_profiler.hpp"

namespace chip_metrics {

class HostLibrary {
 public:
  /// Loads the library of this path, for the life of the process. Throws Failure `library`, or `library_version` where it is
  /// older than the API.
  explicit HostLibrary(const std::string& path);

  const cupti::host::Functions& call() const noexcept { return call_; }
  const cupti::host::DeviceFunctions& device() const noexcept { return device_; }
  /// Null where the library cannot read counter data.
  const cupti::range::ReadingFunctions& reading() const noexcept { return reading_; }
  /// Null where the library cannot read samples.
  using SampleReader = decltype(cupti::sampling::Functions::PmSamplingGetCounterDataInfo);
  SampleReader sample_reader() const noexcept { return sample_reader_; }
  /// CUDA's version number from 12.6 on (120600), a counter below.
  std::uint32_t version() const noexcept { return version_; }
  /// The chips that it knows, in its order. Throws Failure `library_answer`.
  std::vector<std::string> chips() const;
  /// The library's name of a result: `CUPTI_ERROR_INVALID_METRIC_NAME`.
  std::string text_of(cupti::host::Result result) const;
  /// Throws Failure `library_answer` for a result that is none of success.
  void require(cupti::host::Result result, const char* function) const;

 private:
  using TextOf = cupti::host::Result (*)(cupti::host::Result, const char**);

  cupti::host::Functions call_{};
  cupti::host::DeviceFunctions device_{};
  cupti::range::ReadingFunctions reading_{};
  SampleReader sample_reader_ = nullptr;
  TextOf text_of_ = nullptr;
  std::uint32_t version_ = 0;
};

/// A count that the library gave, not beyond what can be meant. Throws Failure `library_answer`.
std::size_t plausible(std::size_t count, std::size_t most, const char* what);

/// Copies of texts that the library owns. Throws Failure `library_answer` for more than can be meant, and for missing ones.
std::vector<std::string> texts(const char* const* list, std::size_t count, const char* what);

/// The chip of a device of this machine, which needs the driver. Throws Failure `device`.
std::string chip_of_device(const HostLibrary& library, std::size_t device);

}  // namespace chip_metrics
