// What all functions of CUPTI share.
#pragma once

#include <cstdint>

namespace cupti {

using Result = std::int32_t;
constexpr Result kSuccess = 0;
constexpr Result kOutOfMemory = 8;

using Context = struct ContextOfDriver*;

}  // namespace cupti
