// Size arithmetic that refuses to wrap around.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>

#include "common/errors.hpp"

namespace hydraconf {

inline std::size_t checked_multiply(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b)
    throw InputError("a tensor of these sizes does not fit into the address space");
  return a * b;
}

inline std::size_t checked_add(std::size_t a, std::size_t b) {
  if (a > std::numeric_limits<std::size_t>::max() - b)
    throw InputError("a tensor of these sizes does not fit into the address space");
  return a + b;
}

inline std::size_t checked_product(std::initializer_list<std::size_t> factors) {
  std::size_t product = 1;
  for (const std::size_t factor : factors) product = checked_multiply(product, factor);
  return product;
}

}  // namespace hydraconf
