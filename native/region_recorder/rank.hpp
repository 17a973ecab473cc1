// Which rank of a parallel program this process is, as its launcher says in the environment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format.hpp"

namespace region_recorder {

// Bytes that `write_rank` takes at most.
constexpr std::size_t kMaxRankBytes = sizeof(format::RankHeader) + 64;

// Writes who this process is to `out`, which has room for kMaxRankBytes zeros; nothing where no launcher says it.
void write_rank(void* out) noexcept;

}  // namespace region_recorder
