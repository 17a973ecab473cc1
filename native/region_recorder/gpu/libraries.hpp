// The CUDA driver and CUPTI of this process, found at run time: neither is needed to build the
// recorder or to load it.
#pragma once

#include <limits.h>

#include <cstdint>

#include "cupti/abi.hpp"

namespace region_recorder::gpu {

// Path of a libcupti, or of a directory that holds one, to be used instead of what is found.
constexpr const char* kCuptiVariable = "HYDRACONF_CUPTI_PATH";

struct Driver {
  cuda_driver::Functions call;
  // 1000 * major + 10 * minor of the newest CUDA that it supports; 0: it did not say.
  std::int32_t version;
};

// False when the process has not loaded a CUDA driver.
bool find_driver(Driver& driver) noexcept;

struct Cupti {
  cupti::Functions call;
  std::uint32_t version;
};

// Looks, in this order, at the place that the user names, at what the program has loaded, at the
// linker's search path, at the Python packages of the program's environment, at toolkits and at the
// packages of every python3 on PATH; in each for the newest version that the driver allows. False:
// there is none, and `why` has a text for the user.
bool find_cupti(const Driver& driver, Cupti& cupti, char (&why)[PATH_MAX]) noexcept;

}  // namespace region_recorder::gpu
