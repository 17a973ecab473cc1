// What a safetensors file says of its tensors before their data.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "shallow_resnet/tensor.hpp"

namespace hydraconf {

/// One tensor of a file; `begin` and `end` count bytes from the beginning of the data.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  Sizes sizes;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct SafetensorsHeader {
  /// In file order. Together they are the data, without holes and overlaps.
  std::vector<SafetensorsEntry> entries;
  /// Where the data begins in the file.
  std::size_t data_offset = 0;
};

/// Reads the header of a whole file. Throws InputError, naming `path`, for everything that is not
/// consistent: lengths that do not fit, overlapping or missing bytes, duplicate names, ...
SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& bytes);

/// Length field and header of a file of float32 tensors in this order.
std::string safetensors_header(
    const std::vector<std::pair<std::string, const HostTensor*>>& tensors);

}  // namespace hydraconf
