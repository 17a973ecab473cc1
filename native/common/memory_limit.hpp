// How much memory this process may use.
#pragma once

#include <cstddef>

namespace hydraconf {

/// Bytes of physical memory, or of the control group (container) where that is less; 0 if unknown.
std::size_t memory_limit();

}  // namespace hydraconf
