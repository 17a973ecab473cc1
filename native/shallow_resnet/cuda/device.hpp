// The GPU behind `--device cuda:N`.
#pragma once

#include <cstddef>
#include <string>

#include "shallow_resnet/backend.hpp"

namespace hydraconf::cuda {

struct Device {
  int index = 0;
  std::string name;
  /// Compute capability.
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  /// Highest clock of the multiprocessors and of the memory in kHz; 0 where the driver hides it.
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  std::size_t memory_bytes = 0;
  /// CUDA version that the driver supports, and that this program was built with: 13000 is 13.0.
  int driver_version = 0;
  int runtime_version = 0;
};

/// Makes the device current for this thread and reads its properties. Throws InputError where there
/// is no driver, no GPU, none of this number, or where the driver is too old.
Device open_device(std::size_t index);

/// `13.0` for 13000.
std::string cuda_version_text(int version);

/// From the device's properties: on CUDA cores, or on tensor cores for the arithmetic that
/// `data_type` and `tf32` let cuDNN use. Dense, at the highest clock.
DevicePeaks device_peaks(const Device& device, DataType data_type, bool tensor_cores);

}  // namespace hydraconf::cuda
