// The words in which failed GPU calls are reported.
#pragma once

#include <string>
#include <string_view>

namespace hydraconf::cuda {

/// `cudaMalloc at shallow_resnet/cuda/memory.hpp:31`: the call without its arguments, the file from
/// our own folder on.
inline std::string call_place(std::string_view call, std::string_view file, int line) {
  const std::size_t folder = file.rfind("shallow_resnet/");
  if (folder != std::string_view::npos) file.remove_prefix(folder);
  return std::string(call.substr(0, call.find('('))) + " at " + std::string(file) + ":" +
         std::to_string(line);
}

}  // namespace hydraconf::cuda
