// Models by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shallow_resnet/network.hpp"

namespace hydraconf {

struct Model {
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> (*parameters)(const ModelSizes& sizes);
  std::unique_ptr<Network> (*make)(Backend& backend, const ModelSizes& sizes,
                                   const InputShape& input, const TensorMap& parameters,
                                   BatchNormMode mode);
};

const std::vector<Model>& models();

/// Throws UsageError, listing the known names.
const Model& find_model(const std::string& name);

}  // namespace hydraconf
