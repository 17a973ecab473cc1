#include "shallow_resnet/safetensors.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/text.hpp"
#include "common/whole_file.hpp"
#include "shallow_resnet/safetensors_header.hpp"

namespace hydraconf {
namespace {

float little_endian_float(const char* bytes) {
  std::uint32_t bits = 0;
  for (int i = 3; i >= 0; --i)
    bits = (bits << 8u) | static_cast<unsigned char>(bytes[i]);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void append_little_endian(std::string& out, float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  for (unsigned shift = 0; shift < 32; shift += 8)
    out += static_cast<char>((bits >> shift) & 0xFFu);
}

HostTensor decode(const std::string& path, const SafetensorsEntry& entry, const char* data) {
  HostTensor tensor;
  tensor.sizes = entry.sizes;
  tensor.values.resize(element_count(entry.sizes));
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = little_endian_float(data + i * sizeof(float));
    if (!std::isfinite(tensor.values[i]))
      throw InputError(path + ": tensor '" + printable(entry.name) + "' holds a value that is not finite (" +
                       std::to_string(tensor.values[i]) + " at index " + std::to_string(i) + ")");
  }
  return tensor;
}

}  // namespace

TensorMap read_safetensors(const std::string& path) {
  const std::string bytes = read_whole_file(path);
  const SafetensorsHeader header = read_safetensors_header(path, bytes);
  TensorMap tensors;
  for (const SafetensorsEntry& entry : header.entries) {
    if (entry.dtype == "F32") {
      tensors.emplace(entry.name,
                      decode(path, entry, bytes.data() + header.data_offset + entry.begin));
    } else if (!ends_with(entry.name, "num_batches_tracked")) {
      throw InputError(path + ": tensor '" + printable(entry.name) + "' is " + entry.dtype +
                       "; only F32 is supported");
    }
  }
  return tensors;
}

void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, const HostTensor*>>& tensors) {
  std::string bytes = safetensors_header(tensors);
  std::size_t values = 0;
  for (const auto& [name, tensor] : tensors) values += tensor->values.size();
  bytes.reserve(bytes.size() + values * sizeof(float));
  for (const auto& [name, tensor] : tensors)
    for (const float value : tensor->values) append_little_endian(bytes, value);
  write_whole_file(path, bytes);
}

}  // namespace hydraconf
