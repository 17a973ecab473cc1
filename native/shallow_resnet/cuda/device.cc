#include "shallow_resnet/cuda/device.hpp"

#include <cuda_runtime_api.h>

#include "common/errors.hpp"
#include "shallow_resnet/cuda/check.hpp"

namespace hydraconf::cuda {
namespace {

/// What one multiprocessor does per clock, counted in FLOP. From NVIDIA's tables: "Throughput of
/// native arithmetic instructions" of the CUDA programming guide, and the architecture papers for
/// tensor cores (dense, float32 accumulation; 8.6, 8.9 and 12.0 at the rate of their professional
/// cards, consumer cards reach half of it: this is a bound).
struct Throughput {
  int capability;
  int cuda_cores;
  int tensor_float16;
  int tensor_tf32;
};

constexpr Throughput kThroughputs[] = {
    {75, 128, 1024, 0},     {80, 128, 2048, 1024},  {86, 256, 1024, 512},
    {87, 256, 2048, 1024},  {89, 256, 1024, 512},   {90, 256, 4096, 2048},
    {100, 256, 8192, 4096}, {103, 256, 8192, 4096}, {120, 256, 1024, 512},
    {121, 256, 1024, 512},
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  HYDRACONF_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

[[noreturn]] void refuse(std::size_t index, const std::string& why) {
  throw InputError("--device cuda:" + std::to_string(index) + ": " + why +
                   " (--device cpu runs without a GPU)");
}

int count_devices(std::size_t index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice)
    refuse(index, "no GPU is visible to CUDA here; nvidia-smi lists GPUs, and "
                  "CUDA_VISIBLE_DEVICES hides them");
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    int runtime = 0;
    HYDRACONF_CUDA_CHECK(cudaDriverGetVersion(&driver));
    HYDRACONF_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    if (driver == 0) refuse(index, "there is no NVIDIA driver on this machine");
    refuse(index, "the NVIDIA driver is too old: it supports CUDA " + cuda_version_text(driver) +
                      ", and this program was built with CUDA " + cuda_version_text(runtime) +
                      "; update the driver, or build with an older toolkit (NVCC)");
  }
  HYDRACONF_CUDA_CHECK(status);
  return count;
}

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Device open_device(std::size_t index) {
  const int count = count_devices(index);
  if (index >= static_cast<std::size_t>(count))
    refuse(index, "there is no such GPU here: CUDA sees " + std::to_string(count) +
                      (count == 1 ? " GPU (cuda:0)"
                                  : " GPUs (cuda:0 to cuda:" + std::to_string(count - 1) + ")"));
  Device device;
  device.index = static_cast<int>(index);
  HYDRACONF_CUDA_CHECK(cudaSetDevice(device.index));
  cudaDeviceProp properties;
  HYDRACONF_CUDA_CHECK(cudaGetDeviceProperties(&properties, device.index));
  device.name = properties.name;
  device.memory_bytes = properties.totalGlobalMem;
  device.major = properties.major;
  device.minor = properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  // Attributes: the fields of the structure went with CUDA 13.
  device.clock_khz = attribute(cudaDevAttrClockRate, device.index);
  device.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, device.index);
  device.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device.index);
  HYDRACONF_CUDA_CHECK(cudaDriverGetVersion(&device.driver_version));
  HYDRACONF_CUDA_CHECK(cudaRuntimeGetVersion(&device.runtime_version));
  return device;
}

DevicePeaks device_peaks(const Device& device, DataType data_type, bool tensor_cores) {
  DevicePeaks peaks;
  // Twice: every memory of these GPUs moves data on both edges of its clock.
  peaks.gbytes_per_second = 2.0 * device.memory_clock_khz * device.memory_bus_bits / 8 / 1e6;
  peaks.source = "properties of the GPU";
  for (const Throughput& row : kThroughputs) {
    if (row.capability != device.major * 10 + device.minor) continue;
    int per_clock = row.cuda_cores;
    if (tensor_cores)
      per_clock = data_type == DataType::float32 ? row.tensor_tf32 : row.tensor_float16;
    // No such tensor cores (TF32 on 7.5): the CUDA cores do it.
    if (per_clock == 0) per_clock = row.cuda_cores;
    peaks.gflops_per_second =
        static_cast<double>(device.multiprocessors) * per_clock * device.clock_khz / 1e6;
  }
  return peaks;
}

}  // namespace hydraconf::cuda
