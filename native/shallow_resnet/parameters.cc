#include "shallow_resnet/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "common/nearest.hpp"
#include "common/text.hpp"

namespace hydraconf {
namespace {

/// SplitMix64: one multiply-xor round per number, and any seed is a good one.
class Random {
 public:
  Random(std::uint64_t seed, const std::string& stream) : state_(seed) {
    // FNV-1a of the stream's name keeps tensors of equal shape different.
    std::uint64_t hash = 0xCBF29CE484222325u;
    for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    state_ ^= hash;
    next();
  }

  /// In [-bound, bound): 24 bits, all that a float keeps.
  float uniform(double bound) {
    const double unit = static_cast<double>(next() >> 40u) * 0x1p-24;
    return static_cast<float>((2.0 * unit - 1.0) * bound);
  }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30u)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27u)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31u);
  }

  std::uint64_t state_;
};

void add_convolution(std::vector<ParameterSpec>& specs, const std::string& name, std::size_t in,
                     std::size_t out) {
  const std::size_t fan_in = in * 9;
  specs.push_back({name + ".weight", {out, in, 3, 3}, Initial::uniform, fan_in});
  specs.push_back({name + ".bias", {out}, Initial::uniform, fan_in});
}

void add_batch_norm(std::vector<ParameterSpec>& specs, const std::string& name,
                    std::size_t channels) {
  specs.push_back({name + ".weight", {channels}, Initial::ones});
  specs.push_back({name + ".bias", {channels}, Initial::zeros});
  specs.push_back({name + ".running_mean", {channels}, Initial::zeros, 0, Role::buffer});
  specs.push_back({name + ".running_var", {channels}, Initial::ones, 0, Role::buffer});
}

HostTensor initial_tensor(const ParameterSpec& spec, std::uint64_t seed) {
  HostTensor tensor{spec.sizes, std::vector<float>(element_count(spec.sizes))};
  if (spec.initial == Initial::ones) std::fill(tensor.values.begin(), tensor.values.end(), 1.0F);
  if (spec.initial == Initial::uniform) {
    Random random(seed, spec.name);
    const double bound = 1.0 / std::sqrt(static_cast<double>(spec.fan_in));
    for (float& value : tensor.values) value = random.uniform(bound);
  }
  return tensor;
}

/// What is wrong with one parameter's values; empty if nothing.
std::string value_problem(const ParameterSpec& spec, const HostTensor& tensor) {
  if (!ends_with(spec.name, ".running_var")) return "";
  const bool negative = std::any_of(tensor.values.begin(), tensor.values.end(),
                                    [](float value) { return value < 0.0F; });
  return negative ? "\n  '" + spec.name + "' holds a negative variance" : "";
}

}  // namespace

std::vector<ParameterSpec> parameter_specs(const ModelSizes& sizes) {
  const std::size_t base = sizes.base_channels;
  std::vector<ParameterSpec> specs;
  add_convolution(specs, "stem.0", sizes.in_channels, base);
  add_batch_norm(specs, "stem.1", base);
  for (std::size_t i = 0; i < sizes.num_blocks; ++i) {
    const std::string block = "blocks." + std::to_string(i);
    add_convolution(specs, block + ".conv1", base, base);
    add_batch_norm(specs, block + ".bn1", base);
    add_convolution(specs, block + ".conv2", base, base);
    add_batch_norm(specs, block + ".bn2", base);
  }
  specs.push_back({"head.2.weight", {sizes.num_classes, base}, Initial::uniform, base});
  specs.push_back({"head.2.bias", {sizes.num_classes}, Initial::uniform, base});
  return specs;
}

std::size_t parameter_count(const std::vector<ParameterSpec>& specs) {
  std::size_t count = 0;
  for (const ParameterSpec& spec : specs)
    if (spec.role == Role::parameter) count = checked_add(count, element_count(spec.sizes));
  return count;
}

std::size_t state_count(const std::vector<ParameterSpec>& specs) {
  std::size_t count = 0;
  for (const ParameterSpec& spec : specs) count = checked_add(count, element_count(spec.sizes));
  return count;
}

TensorMap initial_parameters(const std::vector<ParameterSpec>& specs, std::uint64_t seed) {
  TensorMap tensors;
  for (const ParameterSpec& spec : specs) tensors.emplace(spec.name, initial_tensor(spec, seed));
  return tensors;
}

std::vector<float> random_input(std::size_t count, std::uint64_t seed) {
  Random random(seed, "x");
  std::vector<float> values(count);
  for (float& value : values) value = random.uniform(std::sqrt(3.0));
  return values;
}

void check_parameters(const std::string& path, const std::vector<ParameterSpec>& specs,
                      const TensorMap& tensors) {
  std::string problems;
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) {
    names.push_back(spec.name);
    const auto found = tensors.find(spec.name);
    if (found == tensors.end()) {
      problems += "\n  '" + spec.name + "' is missing";
    } else if (found->second.sizes != spec.sizes) {
      problems += "\n  '" + spec.name + "' is " + sizes_text(found->second.sizes) + ", expected " +
                  sizes_text(spec.sizes);
    } else {
      problems += value_problem(spec, found->second);
    }
  }
  for (const auto& [name, tensor] : tensors)
    if (std::find(names.begin(), names.end(), name) == names.end())
      problems += "\n  '" + printable(name) + "' is not a parameter of this model" + did_you_mean(name, names);
  if (!problems.empty())
    throw InputError(path + " does not fit the model (--in-channels, --base-channels, " +
                     "--num-blocks and --num-classes must be those it was saved with):" + problems);
}

}  // namespace hydraconf
