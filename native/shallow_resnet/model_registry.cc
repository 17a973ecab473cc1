#include "shallow_resnet/model_registry.hpp"

#include "common/nearest.hpp"

namespace hydraconf {
namespace {

std::unique_ptr<Network> make_shallow_resnet(Backend& backend, const ModelSizes& sizes,
                                             const InputShape& input, const TensorMap& parameters,
                                             BatchNormMode mode) {
  return std::make_unique<Network>(backend, sizes, input, parameters, mode);
}

}  // namespace

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"dummy_shallow_resnet", "3x3 stem, residual blocks of two 3x3 convolutions, linear head",
       parameter_specs, make_shallow_resnet},
  };
  return all;
}

const Model& find_model(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const Model& model : models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
    list += (list.empty() ? "" : ", ") + model.name;
  }
  throw UsageError("--model: unknown model '" + name + "'" + did_you_mean(name, names) +
                   " (known: " + list + ")");
}

}  // namespace hydraconf
