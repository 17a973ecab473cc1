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

/// Which implementation of the GPU backend's convolutions is used.
enum class GpuLibrary {
  /// cuDNN where this program was built with it, else the kernels of our own.
  automatic,
  cudnn,
  cuda,
};

struct BackendSettings {
  DataType data_type = DataType::float32;
  /// GPU only: let float32 convolutions round their inputs to TF32 for the tensor cores.
  bool tf32 = false;
  GpuLibrary gpu_library = GpuLibrary::automatic;
  /// GPU only: launch the layers of a range as one CUDA graph.
  bool cuda_graph = false;
  /// CPU only: worker threads including the caller; 0 = one per available processor.
  std::size_t threads = 0;
  /// CPU only: instruction set by name, `auto` for the best this machine has.
  std::string isa = "auto";
};

/// Throws UsageError where `text` names no kind of device.
DeviceSelection parse_device(const std::string& text);

/// Device kinds with a backend in this binary, e.g. {"cpu"}.
std::vector<std::string> built_backends();

/// What the GPU backend can compute convolutions with in this binary: {}, {"cuda"} or
/// {"cudnn", "cuda"}.
std::vector<std::string> built_gpu_libraries();

/// Throws InputError, listing what was built, where no backend serves the device or the settings ask
/// for what the device's backend does not have.
std::unique_ptr<Backend> make_backend(const DeviceSelection& device,
                                      const BackendSettings& settings);

}  // namespace hydraconf
