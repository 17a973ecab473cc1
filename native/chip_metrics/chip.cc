#include "chip_metrics/chip.hpp"

#include <limits>
#include <utility>

#include "chip_metrics/failure.hpp"

namespace chip_metrics {
namespace {

namespace host = cupti::host;

// A configuration of all metrics of a chip takes less than a megabyte.
constexpr std::size_t kMostImageBytes = std::size_t{256} << 20;
constexpr std::size_t kMostPasses = 1u << 20;

std::vector<const char*> pointers(const std::vector<std::string>& texts_of_caller) {
  std::vector<const char*> all;
  all.reserve(texts_of_caller.size());
  for (const std::string& text : texts_of_caller) all.push_back(text.c_str());
  return all;
}

std::string text_or_none(const char* text) { return text == nullptr ? "" : text; }

host::Object open(const HostLibrary& library, const std::string& chip, host::ProfilerType way) {
  host::InitializeParams params{};
  params.struct_size = sizeof(params);
  params.type = way;
  params.chip = chip.c_str();
  const host::Result result = library.call().Initialize(&params);
  if (result != host::kSuccess) {
    throw Failure("chip", "the library does not know chip '" + chip + "' (" +
                              library.text_of(result) + ")");
  }
  if (params.object == nullptr) {
    throw Failure("library_answer", "cuptiProfilerHostInitialize gave nothing");
  }
  return params.object;
}

void close(const HostLibrary& library, host::Object object) noexcept {
  host::DeinitializeParams params{sizeof(params), nullptr, object};
  library.call().Deinitialize(&params);
}

}  // namespace

// Metrics that were added stay: each configuration begins with an object of its own.
class Chip::Session {
 public:
  Session(const HostLibrary& library, const std::string& chip, host::ProfilerType way)
      : library_(library), object_(open(library, chip, way)) {}
  ~Session() { close(library_, object_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  host::Object object() const noexcept { return object_; }

 private:
  const HostLibrary& library_;
  host::Object object_;
};

Chip::Chip(const HostLibrary& library, std::string name, host::ProfilerType way)
    : library_(library), name_(std::move(name)), way_(way), object_(open(library_, name_, way)) {}

Chip::~Chip() { close(library_, object_); }

std::vector<std::string> Chip::base_metrics(host::MetricType type) const {
  host::GetBaseMetricsParams params{};
  params.struct_size = sizeof(params);
  params.object = object_;
  params.type = type;
  library_.require(library_.call().GetBaseMetrics(&params), "cuptiProfilerHostGetBaseMetrics");
  return texts(params.names, params.count, "metrics");
}

std::vector<std::string> Chip::rollups(const std::string& metric, host::MetricType type) const {
  host::GetSubMetricsParams params{};
  params.struct_size = sizeof(params);
  params.object = object_;
  params.type = type;
  params.metric = metric.c_str();
  library_.require(library_.call().GetSubMetrics(&params), "cuptiProfilerHostGetSubMetrics");
  return texts(params.names, params.count, "submetrics");
}

std::optional<MetricProperties> Chip::describe(const std::string& metric) const {
  host::GetMetricPropertiesParams params{};
  params.struct_size = host::kPropertiesSize;
  params.object = object_;
  params.metric = metric.c_str();
  if (library_.call().GetMetricProperties(&params) != host::kSuccess) return std::nullopt;
  return MetricProperties{text_or_none(params.description), text_or_none(params.unit),
                          text_or_none(params.unit_of_hardware), params.type};
}

std::vector<double> Chip::evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                                   const std::vector<std::string>& metrics) const {
  std::vector<const char*> names = pointers(metrics);
  std::vector<double> values(metrics.size(), std::numeric_limits<double>::quiet_NaN());
  host::EvaluateToGpuValuesParams params{sizeof(params), nullptr, object_, counter_data.data(),
                                         counter_data.size(), range, names.data(), names.size(),
                                         values.data()};
  library_.require(library_.call().EvaluateToGpuValues(&params),
                   "cuptiProfilerHostEvaluateToGpuValues");
  return values;
}

std::optional<Configuration> Chip::configure(const std::vector<std::string>& metrics) const {
  const Session session(library_, name_, way_);
  std::vector<const char*> names = pointers(metrics);
  host::ConfigAddMetricsParams add{sizeof(add), nullptr, session.object(), names.data(),
                                   names.size()};
  // All at once: what is added by several calls is measured in passes of its own.
  if (library_.call().ConfigAddMetrics(&add) != host::kSuccess) return std::nullopt;

  host::GetConfigImageSizeParams size{sizeof(size), nullptr, session.object(), 0};
  library_.require(library_.call().GetConfigImageSize(&size),
                   "cuptiProfilerHostGetConfigImageSize");
  plausible(size.bytes, kMostImageBytes, "bytes of a configuration");
  if (size.bytes == 0) throw Failure("library_answer", "the library gave an empty configuration");
  Configuration found{std::vector<std::uint8_t>(size.bytes), 0};
  host::GetConfigImageParams get{sizeof(get), nullptr, session.object(), found.image.size(),
                                 found.image.data()};
  library_.require(library_.call().GetConfigImage(&get), "cuptiProfilerHostGetConfigImage");

  host::GetNumOfPassesParams count{sizeof(count), nullptr, found.image.size(),
                                   found.image.data(), 0};
  library_.require(library_.call().GetNumOfPasses(&count), "cuptiProfilerHostGetNumOfPasses");
  found.passes = plausible(count.passes, kMostPasses, "passes");
  if (found.passes == 0) throw Failure("library_answer", "the library tells of no pass");
  return found;
}

}  // namespace chip_metrics
