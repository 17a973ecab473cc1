// The command line of shallow_resnet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shallow_resnet/backend_registry.hpp"
#include "shallow_resnet/network.hpp"

namespace hydraconf {

enum class Program {
  /// Forward passes, one after the other.
  forward,
  /// Nested ranges around forward passes: A { A::A1 {} } B {}.
  regions,
};

enum class Request { run, help, version, list_models };

struct Options {
  Request request = Request::run;
  std::string model = "dummy_shallow_resnet";
  ModelSizes sizes;
  InputShape input_shape;
  DeviceSelection device;
  BackendSettings backend;
  BatchNormMode batch_norm = BatchNormMode::running;
  std::size_t warmup = 2;
  /// Of `forward`; `regions` runs its passes once.
  std::size_t iterations = 10;
  std::uint64_t seed = 0;
  /// Paths; empty = not given.
  std::string weights;
  std::string save_weights;
  std::string input;
  std::string output;
  bool save_activations = false;
  /// Whether the document says what the device can do at most.
  bool peaks = false;
  Program program = Program::forward;
};

/// `arguments` without the program's name. Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

std::string help_text();

}  // namespace hydraconf
