// The safetensors file format: an 8-byte little-endian header length, a JSON header that maps
// tensor names to dtype, shape and byte range, and the raw little-endian data behind it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shallow_resnet/tensor.hpp"

namespace hydraconf {

/// Every float32 tensor of the file by name. Tensors of other types are read past when their name
/// ends in `num_batches_tracked` (PyTorch counts batches in an int64) and refused otherwise.
/// Throws InputError, naming the file, for anything that is not a complete, consistent file of
/// finite values: lengths that do not fit, overlapping or missing bytes, duplicate names, ...
TensorMap read_safetensors(const std::string& path);

/// Writes the tensors in the order given, under a temporary name that then replaces `path`.
/// Throws InputError when the file cannot be written.
void write_safetensors(const std::string& path,
                       const std::vector<std::pair<std::string, const HostTensor*>>& tensors);

}  // namespace hydraconf
