// The backend that needs nothing but a processor.
#pragma once

#include <cstddef>
#include <memory>

#include "shallow_resnet/backend.hpp"
#include "shallow_resnet/backend_registry.hpp"

namespace hydraconf {

/// `index` is ignored: there is one CPU device. Results do not depend on the number of threads.
std::unique_ptr<Backend> make_cpu_backend(std::size_t index, const BackendSettings& settings);

}  // namespace hydraconf
