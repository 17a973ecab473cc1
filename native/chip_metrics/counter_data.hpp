// A file of what the Range Profiler has measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chip_metrics/host_library.hpp"

namespace chip_metrics {

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
