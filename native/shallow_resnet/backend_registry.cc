#include "shallow_resnet/backend_registry.hpp"

#include <charconv>

#include "common/nearest.hpp"
#include "shallow_resnet/cpu_backend.hpp"
#if HYDRACONF_CUDA
#include "shallow_resnet/cuda_backend.hpp"
#endif

namespace hydraconf {
namespace {

struct RegisteredBackend {
  std::string kind;
  std::unique_ptr<Backend> (*make)(std::size_t index, const BackendSettings& settings);
};

const std::vector<RegisteredBackend>& registry() {
  static const std::vector<RegisteredBackend> backends = {
      {"cpu", make_cpu_backend},
#if HYDRACONF_CUDA
      {"cuda", make_cuda_backend},
#endif
  };
  return backends;
}

}  // namespace

DeviceSelection parse_device(const std::string& text) {
  DeviceSelection device;
  if (text == "cpu") return device;
  const std::string prefix = "cuda:";
  if (text == "cuda") {
    device.kind = text;
    return device;
  }
  if (text.rfind(prefix, 0) == 0) {
    device.kind = "cuda";
    const char* begin = text.data() + prefix.size();
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, device.index);
    if (error == std::errc() && rest == end && device.index < 1024) return device;
  }
  throw UsageError("--device: '" + text + "' is not a device; expected cpu or cuda:N" +
                   did_you_mean(text, {"cpu", "cuda:0"}));
}

std::vector<std::string> built_backends() {
  std::vector<std::string> kinds;
  for (const RegisteredBackend& backend : registry()) kinds.push_back(backend.kind);
  return kinds;
}

std::vector<std::string> built_gpu_libraries() {
  std::vector<std::string> names;
#if HYDRACONF_CUDNN
  names.push_back("cudnn");
#endif
#if HYDRACONF_CUDA
  names.push_back("cuda");
#endif
  return names;
}

std::unique_ptr<Backend> make_backend(const DeviceSelection& device,
                                      const BackendSettings& settings) {
  std::string built;
  for (const RegisteredBackend& backend : registry()) {
    if (backend.kind == device.kind) return backend.make(device.index, settings);
    built += (built.empty() ? "" : ", ") + backend.kind;
  }
  throw InputError("--device " + device.text() + ": this program was built without a " +
                   device.kind + " backend (built: " + built + ")");
}

}  // namespace hydraconf
