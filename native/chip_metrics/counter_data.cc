#include "chip_metrics/counter_data.hpp"

#include <fstream>
#include <iterator>

#include "chip_metrics/failure.hpp"

namespace chip_metrics {
namespace {

namespace range = cupti::range;

constexpr std::size_t kMostRanges = 1u << 20;

std::vector<std::uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty()) throw Failure("file", path + " cannot be read, or is empty");
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> samples_in(const HostLibrary& library, const std::string& path,
                                     std::size_t samples) {
  std::vector<std::uint8_t> image = contents(path);
  if (library.sample_reader() == nullptr) {
    throw Failure("library_version", "the library has no PM Sampling, which came with CUDA 12.6");
  }
  // It is asked first since it looks at what it is given: evaluation believes it.
  cupti::sampling::GetCounterDataInfoParams params{};
  params.struct_size = sizeof(params);
  params.image = image.data();
  params.bytes = image.size();
  const cupti::Result result = library.sample_reader()(&params);
  if (result != cupti::kSuccess) {
    throw Failure("file", path + " is no counter data: " + library.text_of(result));
  }
  if (params.completed < samples) {
    throw Failure("file", path + " has fewer samples than were taken: " +
                              std::to_string(params.completed));
  }
  return image;
}

CounterData::CounterData(const HostLibrary& library, const std::string& path)
    : library_(library), image_(contents(path)) {
  const range::ReadingFunctions& call = library.reading();
  if (call.GetCounterDataInfo == nullptr || call.CounterDataGetRangeInfo == nullptr) {
    throw Failure("library_version", "the library has no Range Profiler, which came with CUDA 12.6");
  }
  range::GetCounterDataInfoParams params{sizeof(params), nullptr, image_.data(), image_.size(), 0};
  const cupti::Result result = call.GetCounterDataInfo(&params);
  if (result != cupti::kSuccess) {
    throw Failure("file", path + " is no counter data: " + library.text_of(result));
  }
  ranges_ = plausible(params.ranges, kMostRanges, "ranges");
}

std::string CounterData::name_of(std::size_t index) const {
  range::GetRangeInfoParams params{};
  params.struct_size = sizeof(params);
  params.image = image_.data();
  params.bytes = image_.size();
  params.index = index;
  params.delimiter = "/";
  library_.require(library_.reading().CounterDataGetRangeInfo(&params),
                   "cuptiRangeProfilerCounterDataGetRangeInfo");
  if (params.name == nullptr) throw Failure("library_answer", "the library has no name for a range");
  return params.name;
}

}  // namespace chip_metrics
