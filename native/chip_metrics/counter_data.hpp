// Files of what the Range Profiler and PM Sampling have measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chip_metrics/host_library.hpp"

namespace chip_metrics {

/// The counter data of `samples` samples of PM Sampling. Throws Failure as CounterData does, also for fewer samples.
std::vector<std::uint8_t> samples_in(const HostLibrary& library, const std::string& path,
                                     std::size_t samples);

/// Of the Range Profiler.
class CounterData {
 public:
  /// Throws Failure `file` for one that cannot be read or that the library does not take, `library_version` where the library
  /// cannot read any.
  CounterData(const HostLibrary& library, const std::string& path);

  const std::vector<std::uint8_t>& image() const noexcept { return image_; }
  std::size_t ranges() const noexcept { return ranges_; }
  /// The name that the range was given, behind those around it and `/`. Throws Failure `library_answer`.
  std::string name_of(std::size_t range) const;

 private:
  const HostLibrary& library_;
  std::vector<std::uint8_t> image_;
  std::size_t ranges_ = 0;
};

}  // namespace chip_metrics
