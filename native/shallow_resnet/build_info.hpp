// What this binary was built from and with, as the build defined it.
#pragma once

#include <string>

#include "nvtx/nvtx.hpp"

#if !defined(HYDRACONF_VERSION)
#define HYDRACONF_VERSION "unknown"
#endif

namespace hydraconf {

inline constexpr const char* kVersion = HYDRACONF_VERSION;
inline constexpr const char* kNvtxClient = nvtx::kClientName;

inline std::string compiler_name() {
#if defined(__clang__)
  return std::string("Clang ") + __clang_version__;
#elif defined(__GNUC__)
  return std::string("GCC ") + __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace hydraconf
