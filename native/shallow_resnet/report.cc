#include "shallow_resnet/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/json_writer.hpp"
#include "shallow_resnet/build_info.hpp"

namespace hydraconf {
namespace {

/// FNV-1a over the values' bits, least significant byte first: equal exactly when the bits are.
std::string checksum(const std::vector<float>& values) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const float value : values) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (unsigned shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((bits >> shift) & 0xFFu)) * 0x100000001B3u;
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void write_build(JsonWriter& json) {
  json.key("build").begin_object();
  json.key("version").string(kVersion);
  json.key("compiler").string(compiler_name());
  json.key("nvtx").string(kNvtxClient);
  json.key("backends").begin_array();
  for (const std::string& kind : built_backends()) json.string(kind);
  json.end_array();
  json.key("gpu_libraries").begin_array();
  for (const std::string& name : built_gpu_libraries()) json.string(name);
  json.end_array();
  json.end_object();
}

/// A rate that is not known is null.
void write_rate(JsonWriter& json, const char* name, double rate) {
  json.key(name);
  if (rate > 0) {
    json.number(rate);
  } else {
    json.null();
  }
}

void write_peaks(JsonWriter& json, const DevicePeaks& peaks) {
  json.key("peaks").begin_object();
  write_rate(json, "gflops_per_second", peaks.gflops_per_second);
  write_rate(json, "gbytes_per_second", peaks.gbytes_per_second);
  json.key("source").string(peaks.source);
  json.end_object();
}

void write_device(JsonWriter& json, const RunResult& result) {
  json.key("device").string(result.options.device.text());
  json.key("backend").begin_object();
  json.key("kind").string(result.backend.name());
  for (const auto& [name, value] : result.backend.facts()) {
    json.key(name);
    if (const std::string* text = std::get_if<std::string>(&value)) {
      json.string(*text);
    } else {
      json.integer(std::get<std::uint64_t>(value));
    }
  }
  json.end_object();
}

void write_shapes(JsonWriter& json, const Network& network) {
  json.key("shapes").begin_object();
  json.key("input").shape(network.input_shape().sizes());
  json.key("features").shape(network.feature_shape().sizes());
  json.key("logits").shape(network.logits_sizes());
  json.end_object();
}

void write_parameters(JsonWriter& json, const RunResult& result) {
  const std::size_t count = parameter_count(result.parameters);
  json.key("parameters").begin_object();
  json.key("count").integer(count);
  json.key("bytes").integer(count * sizeof(float));
  json.key("source").string(result.options.weights.empty() ? "seed" : "file");
  json.key("seed").integer(result.options.seed);
  json.end_object();
}

LayerCost write_layers(JsonWriter& json, const Network& network) {
  LayerCost total;
  json.key("layers").begin_array();
  for (const Layer* layer : network.layers()) {
    json.begin_object();
    json.key("name").string(layer->name);
    json.key("operation").string(layer->label);
    json.key("range").string(layer->range);
    json.key("flops").integer(layer->cost.flops);
    json.key("bytes").integer(layer->cost.bytes);
    json.end_object();
    total.flops += layer->cost.flops;
    total.bytes += layer->cost.bytes;
  }
  json.end_array();
  json.key("flops").integer(total.flops);
  json.key("bytes").integer(total.bytes);
  return total;
}

void write_timings(JsonWriter& json, const std::vector<PassTiming>& timings,
                   const LayerCost& total) {
  std::vector<double> times;
  double sum = 0;
  for (const PassTiming& timing : timings) {
    times.push_back(timing.milliseconds);
    sum += timing.milliseconds;
  }
  const double middle = median(times);
  json.key("timings_ms").begin_object();
  json.key("min").number(*std::min_element(times.begin(), times.end()));
  json.key("median").number(middle);
  json.key("max").number(*std::max_element(times.begin(), times.end()));
  json.key("mean").number(sum / static_cast<double>(times.size()));
  json.key("total").number(sum);
  json.key("passes").begin_array();
  for (const PassTiming& timing : timings) {
    json.begin_object();
    if (!timing.range.empty()) json.key("range").string(timing.range);
    json.key("ms").number(timing.milliseconds);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  // By the median, which one interrupted pass does not move. A clock too coarse gives no rate.
  json.key("gflops_per_second");
  if (middle > 0) {
    json.number(static_cast<double>(total.flops) / middle / 1e6);
  } else {
    json.null();
  }
}

void write_logits(JsonWriter& json, const std::vector<float>& logits) {
  double sum = 0;
  double magnitude = 0;
  for (const float value : logits) {
    sum += static_cast<double>(value);
    magnitude += std::fabs(static_cast<double>(value));
  }
  json.key("logits").begin_object();
  json.key("checksum").string(checksum(logits));
  json.key("sum").number(sum);
  json.key("abs_sum").number(magnitude);
  json.end_object();
}

}  // namespace

std::string report_text(const RunResult& result) {
  const Options& options = result.options;
  JsonWriter json;
  json.begin_object();
  json.key("program").string(options.program == Program::forward ? "forward" : "regions");
  json.key("model").string(options.model);
  write_device(json, result);
  write_build(json);
  json.key("batch_norm")
      .string(options.batch_norm == BatchNormMode::running ? "running" : "batch");
  write_shapes(json, result.network);
  write_parameters(json, result);
  const LayerCost total = write_layers(json, result.network);
  if (result.peaks != nullptr) write_peaks(json, *result.peaks);
  json.key("warmup").integer(options.warmup);
  if (options.program == Program::forward) json.key("iterations").integer(options.iterations);
  write_timings(json, result.timings, total);
  write_logits(json, result.logits);
  json.end_object();
  return json.text();
}

}  // namespace hydraconf
