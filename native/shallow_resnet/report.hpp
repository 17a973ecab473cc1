// The JSON document that a run prints.
#pragma once

#include <string>
#include <vector>

#include "shallow_resnet/network.hpp"
#include "shallow_resnet/options.hpp"
#include "shallow_resnet/programs.hpp"

namespace hydraconf {

struct RunResult {
  const Options& options;
  const Backend& backend;
  const Network& network;
  const std::vector<ParameterSpec>& parameters;
  const std::vector<PassTiming>& timings;
  /// Finite values only.
  const std::vector<float>& logits;
  /// Null where nobody asked.
  const DevicePeaks* peaks;
};

/// Times are milliseconds of wall clock, FLOPs and bytes per forward pass.
std::string report_text(const RunResult& result);

}  // namespace hydraconf
