// Makes a network's layers: the device operation with its name, its label and its cost.
#pragma once

#include <string>

#include "shallow_resnet/network.hpp"

namespace hydraconf {

/// A tensor on the device together with its shape.
struct DeviceTensor {
  BufferId id;
  TensorShape shape;
};

class LayerFactory {
 public:
  LayerFactory(Backend& backend, const TensorMap& parameters, BatchNormMode mode)
      : backend_(backend),
        parameters_(parameters),
        mode_(mode),
        element_(element_bytes(backend.data_type())) {}

  /// `name` is PyTorch's module name: the parameters are looked up as `name.weight`, ...
  Layer convolution(const std::string& range, const std::string& name, DeviceTensor input,
                    DeviceTensor output) const;
  Layer batch_norm(const std::string& range, const std::string& name, DeviceTensor data,
                   Activation activation) const;
  Layer add_relu(const std::string& range, const std::string& name, DeviceTensor into,
                 DeviceTensor other) const;
  Layer global_average_pool(const std::string& range, const std::string& name, DeviceTensor input,
                            DeviceTensor output) const;
  Layer linear(const std::string& range, const std::string& name, DeviceTensor input,
               DeviceTensor output) const;

 private:
  const HostTensor& parameter(const std::string& layer, const std::string& name) const {
    return parameters_.at(layer + "." + name);
  }

  Backend& backend_;
  const TensorMap& parameters_;
  BatchNormMode mode_;
  /// Bytes of one activation or weight.
  std::size_t element_;
};

}  // namespace hydraconf
