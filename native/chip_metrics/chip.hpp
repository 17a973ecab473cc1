// What NVIDIA's library says about one chip: its metrics, and what measuring some of them takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chip_metrics/host_library.hpp"

namespace chip_metrics {

struct MetricProperties {
  std::string description;
  std::string unit;              ///< dimension of its values, e.g. `byte`; empty for none
  std::string unit_of_hardware;  ///< what it is counted in, e.g. `sm`
  cupti::host::MetricType type;
};

/// How metrics are collected on the chip.
struct Configuration {
  std::vector<std::uint8_t> image;  ///< what the Range Profiler or PM Sampling is configured by
  std::size_t passes;               ///< how often the work has to be done
};

class Chip {
 public:
  /// Which metrics there are, and their passes, depends on the way of collecting them. Throws Failure `chip` for one that the
  /// library does not know.
  Chip(const HostLibrary& library, std::string name,
       cupti::host::ProfilerType way = cupti::host::kRangeProfiler);
  ~Chip();
  Chip(const Chip&) = delete;
  Chip& operator=(const Chip&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// Base names, without rollups: `dram__bytes_read`.
  std::vector<std::string> base_metrics(cupti::host::MetricType type) const;
  /// What can follow a base name: `.sum`, `.avg.pct_of_peak_sustained_elapsed`.
  std::vector<std::string> rollups(const std::string& metric, cupti::host::MetricType type) const;
  /// Nothing for a metric that the chip has not.
  std::optional<MetricProperties> describe(const std::string& metric) const;
  /// Values of metrics in one range or sample of counter data, in the order of the metrics; NaN where there is none. Throws Failure
  /// `library_answer`.
  std::vector<double> evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                               const std::vector<std::string>& metrics) const;
  /// What collecting all of these together takes; nothing where the library cannot configure one of them.
  std::optional<Configuration> configure(const std::vector<std::string>& metrics) const;

 private:
  class Session;

  const HostLibrary& library_;
  std::string name_;
  cupti::host::ProfilerType way_;
  cupti::host::Object object_ = nullptr;
};

}  // namespace chip_metrics
