// Sizes of grids.
#pragma once

#include <cstddef>
#include <limits>

#include "common/checked_math.hpp"

namespace hydraconf::cuda {

inline constexpr std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A one-dimensional grid. Throws InputError beyond what a GPU can number.
inline unsigned grid_size(std::size_t blocks) {
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("a tensor of these sizes has more parts than a GPU grid can number");
  return static_cast<unsigned>(blocks);
}

}  // namespace hydraconf::cuda
