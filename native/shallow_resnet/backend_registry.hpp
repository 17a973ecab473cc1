// Which backends this binary was built with, and how a `--device` picks one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "shallow_resnet/backend.hpp"

namespace hydraconf {

/// A parsed `--device`: `cpu`, `cuda` (= `cuda:0`) or `cuda:N`.
struct DeviceSelection {
  std::string kind = "cpu";
  std::size_t index = 0;

  std::string text() const { return kind == "cpu" ? kind : kind + ":" + std::to_string(index); }
};

struct BackendSettings {
  /// CPU only: worker threads including the caller; 0 = one per available processor.
  std::size_t threads = 0;
  /// CPU only: instruction set by name, `auto` for the best this machine has.
  std::string isa = "auto";
};

/// Throws UsageError where `text` names no kind of device.
DeviceSelection parse_device(const std::string& text);

/// Device kinds with a backend in this binary, e.g. {"cpu"}.
std::vector<std::string> built_backends();

/// Throws InputError, listing what was built, where no backend serves the device.
std::unique_ptr<Backend> make_backend(const DeviceSelection& device,
                                      const BackendSettings& settings);

}  // namespace hydraconf
