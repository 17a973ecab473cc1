// Answers what NVIDIA's library says about metrics and chips, as one JSON document on standard output. It needs neither driver
// nor device, except for the chip of one.
//
//   chip_metrics LIBRARY chips                        the chips that the library knows metrics of
//   chip_metrics LIBRARY device INDEX                 the chip of a device of this machine
//   chip_metrics LIBRARY names CHIP                   base names of a chip's metrics, by type, with what can follow them
//   chip_metrics LIBRARY metrics CHIP... -- METRIC... of each: whether it exists, unit, passes alone; of all that can be collected: passes together
//   chip_metrics LIBRARY image CHIP FILE -- METRIC... writes the configuration that the Range Profiler takes, tells its passes
//   chip_metrics LIBRARY values CHIP FILE... -- METRIC...  of each range in these files of the Range Profiler: its name and values
//   chip_metrics LIBRARY sampling_metrics CHIP... -- METRIC..., sampling_image CHIP FILE -- METRIC...  the same as `metrics` and `image` for
//                                                     PM Sampling, which has other metrics, and takes other passes
//   chip_metrics LIBRARY samples CHIP FILE COUNT -- METRIC...  the values of so many samples in a file of PM Sampling
//
// Exit code 0 with an answer; 1 with `{"failure": {"kind", "message"}}`; 2 for a wrong command line.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chip_metrics/chip.hpp"
#include "chip_metrics/counter_data.hpp"
#include "chip_metrics/failure.hpp"
#include "chip_metrics/host_library.hpp"
#include "common/json_writer.hpp"

namespace {

using chip_metrics::Chip;
using chip_metrics::Failure;
using chip_metrics::HostLibrary;
using hydraconf::JsonWriter;
using Words = std::vector<std::string>;

struct WrongUse {};

struct Types {
  cupti::host::MetricType type;
  const char* name;
};
constexpr Types kTypes[] = {{cupti::host::kCounter, "counter"},
                            {cupti::host::kRatio, "ratio"},
                            {cupti::host::kThroughput, "throughput"}};

const char* name_of(cupti::host::MetricType type) {
  for (const Types& one : kTypes) {
    if (one.type == type) return one.name;
  }
  return "unknown";
}

void write_texts(JsonWriter& out, const char* key, const Words& words) {
  out.key(key).begin_array();
  for (const std::string& word : words) out.string(word);
  out.end_array();
}

std::size_t number_in(const std::string& word) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(word.c_str(), &end, 10);
  if (word.empty() || word.size() > 6 || *end != '\0') throw WrongUse{};
  return number;
}

// The library also names chips that it has no metrics of (GV11B in CUDA 13.0).
Words answering(const HostLibrary& library) {
  Words chips;
  for (const std::string& name : library.chips()) {
    try {
      chips.push_back(Chip(library, name).name());
    } catch (const Failure& failure) {
      if (std::string_view(failure.kind) != "chip") throw;
    }
  }
  return chips;
}

void write_names(JsonWriter& out, const Chip& chip) {
  out.key("chip").string(chip.name()).key("metrics").begin_array();
  for (const Types& one : kTypes) {
    Words rollups;
    const Words names = chip.base_metrics(one.type);
    // Those of one type have the same.
    if (!names.empty()) rollups = chip.rollups(names.front(), one.type);
    out.begin_object().key("type").string(one.name);
    write_texts(out, "rollups", rollups);
    write_texts(out, "names", names);
    out.end_object();
  }
  out.end_array();
}

void write_passes(JsonWriter& out, const std::optional<chip_metrics::Configuration>& found) {
  out.key("passes");
  if (found) {
    out.integer(found->passes);
  } else {
    out.null();
  }
}

void write_metrics(JsonWriter& out, const Chip& chip, const Words& metrics) {
  Words collectable;
  out.begin_object().key("chip").string(chip.name()).key("metrics").begin_array();
  for (const std::string& metric : metrics) {
    const auto properties = chip.describe(metric);
    if (!properties) continue;
    // A name without a rollup exists, but is nothing that can be collected.
    const auto alone = chip.configure({metric});
    if (alone) collectable.push_back(metric);
    out.begin_object().key("name").string(metric).key("type").string(name_of(properties->type));
    out.key("unit").string(properties->unit);
    out.key("unit_of_hardware").string(properties->unit_of_hardware);
    out.key("description").string(properties->description);
    write_passes(out, alone);
    out.end_object();
  }
  out.end_array();
  write_passes(out, collectable.empty() ? std::nullopt : chip.configure(collectable));
  out.end_object();
}

void write_whole_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  const std::string unfinished = path + ".unfinished";
  const auto close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(unfinished.c_str(), "wb"), close);
  if (!file) throw Failure("file", path + " cannot be written");
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    std::remove(unfinished.c_str());
    throw Failure("file", path + " cannot be written");
  }
}

void write_image(JsonWriter& out, const Chip& chip, const std::string& path,
                 const Words& metrics) {
  for (const std::string& metric : metrics) {
    if (!chip.describe(metric)) {
      throw Failure("metric", chip.name() + " has no metric '" + metric + "'");
    }
  }
  const auto configuration = chip.configure(metrics);
  if (!configuration) throw Failure("metric", "these metrics cannot be collected together");
  write_whole_file(path, configuration->image);
  out.key("chip").string(chip.name()).key("passes").integer(configuration->passes);
  out.key("bytes").integer(configuration->image.size());
}

void write_numbers(JsonWriter& out, const std::vector<double>& numbers) {
  out.begin_array();
  for (const double number : numbers) {
    if (std::isfinite(number)) {
      out.number(number);
    } else {
      out.null();
    }
  }
  out.end_array();
}

// How many samples the file has is told by who had the object that they were taken with.
void write_samples(JsonWriter& out, const HostLibrary& library, const Chip& chip,
                   const std::string& file, std::size_t count, const Words& metrics) {
  const std::vector<std::uint8_t> image = chip_metrics::samples_in(library, file, count);
  out.key("chip").string(chip.name()).key("samples").begin_array();
  for (std::size_t sample = 0; sample < count; ++sample) {
    write_numbers(out, chip.evaluate(image, sample, metrics));
  }
  out.end_array();
}

void write_values(JsonWriter& out, const HostLibrary& library, const Chip& chip, const Words& files,
                  const Words& metrics) {
  out.key("chip").string(chip.name()).key("files").begin_array();
  for (const std::string& file : files) {
    const chip_metrics::CounterData data(library, file);
    out.begin_object().key("file").string(file).key("ranges").begin_array();
    for (std::size_t range = 0; range < data.ranges(); ++range) {
      out.begin_object().key("name").string(data.name_of(range)).key("values");
      write_numbers(out, chip.evaluate(data.image(), range, metrics));
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array();
}

// Null: the library knows the chip, but not in this way: CUDA 13.0 samples no GV100.
std::unique_ptr<const Chip> chip_in(const HostLibrary& library, const std::string& name,
                                    cupti::host::ProfilerType way) {
  try {
    return std::make_unique<const Chip>(library, name, way);
  } catch (const Failure& failure) {
    if (std::string_view(failure.kind) != "chip") throw;
    static_cast<void>(Chip(library, name));
    return nullptr;
  }
}

void write_each(JsonWriter& out, const HostLibrary& library, const Words& chips,
                cupti::host::ProfilerType way, const Words& metrics) {
  out.key("chips").begin_array();
  for (const std::string& name : chips) {
    const std::unique_ptr<const Chip> chip = chip_in(library, name, way);
    if (chip) {
      write_metrics(out, *chip, metrics);
    } else {
      out.begin_object().key("chip").string(name).key("metrics").begin_array().end_array();
      out.key("passes").null().end_object();
    }
  }
  out.end_array();
}

void answer(JsonWriter& out, const HostLibrary& library, const std::string& question,
            const Words& words, const Words& metrics) {
  if (question == "chips" && words.empty()) {
    write_texts(out, "chips", answering(library));
  } else if (question == "device" && words.size() == 1) {
    out.key("chip").string(chip_of_device(library, number_in(words[0])));
  } else if (question == "names" && words.size() == 1) {
    write_names(out, Chip(library, words[0]));
  } else if (question == "metrics" && !words.empty() && !metrics.empty()) {
    write_each(out, library, words, cupti::host::kRangeProfiler, metrics);
  } else if (question == "sampling_metrics" && !words.empty() && !metrics.empty()) {
    write_each(out, library, words, cupti::host::kPmSampling, metrics);
  } else if (question == "image" && words.size() == 2 && !metrics.empty()) {
    write_image(out, Chip(library, words[0]), words[1], metrics);
  } else if (question == "sampling_image" && words.size() == 2 && !metrics.empty()) {
    write_image(out, Chip(library, words[0], cupti::host::kPmSampling), words[1], metrics);
  } else if (question == "samples" && words.size() == 3 && !metrics.empty()) {
    const Chip chip(library, words[0], cupti::host::kPmSampling);
    write_samples(out, library, chip, words[1], number_in(words[2]), metrics);
  } else if (question == "values" && words.size() >= 2 && !metrics.empty()) {
    const Words files(words.begin() + 1, words.end());
    write_values(out, library, Chip(library, words[0]), files, metrics);
  } else {
    throw WrongUse{};
  }
}

int run(const Words& words) {
  if (words.size() < 2) throw WrongUse{};
  const auto separator = std::find(words.begin() + 2, words.end(), "--");
  const Words metrics(separator == words.end() ? separator : separator + 1, words.end());
  int code = 0;
  JsonWriter out;
  try {
    const HostLibrary library(words[0]);
    out.begin_object().key("library_version").integer(library.version());
    answer(out, library, words[1], Words(words.begin() + 2, separator), metrics);
    out.end_object();
  } catch (const Failure& failure) {
    out = JsonWriter();
    out.begin_object().key("failure").begin_object().key("kind").string(failure.kind);
    out.key("message").string(failure.what()).end_object().end_object();
    code = 1;
  }
  const std::string text = out.text();
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? code : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(Words(arguments + 1, arguments + count));
  } catch (const WrongUse&) {
    std::fputs(
        "usage: chip_metrics LIBRARY chips | device INDEX | names CHIP | metrics CHIP... -- METRIC... | image CHIP FILE -- "
        "METRIC... | values CHIP FILE... -- METRIC... | sampling_metrics CHIP... -- METRIC... | sampling_image CHIP FILE -- "
        "METRIC... | samples CHIP FILE COUNT -- METRIC...\n",
        stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chip_metrics: %s\n", error.what());
    return 1;
  }
}
