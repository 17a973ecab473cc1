// The model's parameters: their names and shapes, their first values, and the check of given ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "shallow_resnet/tensor.hpp"

namespace hydraconf {

struct ModelSizes {
  std::size_t in_channels = 3;
  std::size_t base_channels = 16;
  std::size_t num_blocks = 3;
  std::size_t num_classes = 10;
};

enum class Initial {
  /// Uniform in ±1/sqrt(fan_in).
  uniform,
  zeros,
  ones,
};

/// PyTorch's words: a buffer is kept with the model, and not learned.
enum class Role { parameter, buffer };

struct ParameterSpec {
  /// PyTorch's name, e.g. `blocks.0.conv1.weight`.
  std::string name;
  Sizes sizes;
  Initial initial = Initial::zeros;
  /// Inputs that one output sums over; 0 unless `initial` is uniform.
  std::size_t fan_in = 0;
  Role role = Role::parameter;
};

/// In PyTorch's state_dict order, running statistics included.
std::vector<ParameterSpec> parameter_specs(const ModelSizes& sizes);

/// Elements of what is learned, as PyTorch's `parameters()` has it. Throws InputError when the
/// count overflows.
std::size_t parameter_count(const std::vector<ParameterSpec>& specs);

/// Elements of all there is, buffers included. Throws InputError when the count overflows.
std::size_t state_count(const std::vector<ParameterSpec>& specs);

/// PyTorch's scheme for new layers: convolution and linear weights and biases uniform in
/// ±1/sqrt(fan_in) (what its Kaiming-uniform with a = sqrt(5) comes to), batch norm weights one,
/// biases zero, running mean zero and variance one. The generator is SplitMix64, seeded with the
/// seed and the parameter's name: the same values on every machine, in any order.
TensorMap initial_parameters(const std::vector<ParameterSpec>& specs, std::uint64_t seed);

/// `count` values of mean 0 and variance 1, uniform in ±sqrt(3), from the same generator.
std::vector<float> random_input(std::size_t count, std::uint64_t seed);

/// Throws InputError naming `path` and every missing, unexpected or misshapen parameter.
void check_parameters(const std::string& path, const std::vector<ParameterSpec>& specs,
                      const TensorMap& tensors);

}  // namespace hydraconf
