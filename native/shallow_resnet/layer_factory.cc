#include "shallow_resnet/layer_factory.hpp"

namespace hydraconf {
namespace {

/// Biases and batch norm's parameters are float32 whatever the rest is.
constexpr std::size_t kFloat = sizeof(float);

std::string text(const TensorShape& shape) { return sizes_text(shape.sizes()); }

/// Feature vectors are 1x1 images on the device; people know them as batch x features.
std::string vector_text(const TensorShape& shape) {
  return sizes_text({shape.batch, shape.channels});
}

}  // namespace

Layer LayerFactory::convolution(const std::string& range, const std::string& name,
                                DeviceTensor input, DeviceTensor output) const {
  const HostTensor& weight = parameter(name, "weight");
  const HostTensor& bias = parameter(name, "bias");
  const std::size_t outputs = output.shape.count();
  // Per output: 9 multiply-adds per input channel, and the bias.
  const std::size_t per_output = checked_add(checked_product({2, 9, input.shape.channels}), 1);
  const std::size_t values = input.shape.count() + outputs + weight.values.size();
  return {name,
          "conv2d " + text(input.shape) + " -> " + text(output.shape) + " k3",
          range,
          {checked_multiply(outputs, per_output), values * element_ + bias.values.size() * kFloat},
          backend_.convolution(input.id, output.id, weight, bias)};
}

Layer LayerFactory::batch_norm(const std::string& range, const std::string& name,
                               DeviceTensor data, Activation activation) const {
  const BatchNormParameters parameters = {parameter(name, "weight"), parameter(name, "bias"),
                                          parameter(name, "running_mean"),
                                          parameter(name, "running_var")};
  const bool relu = activation == Activation::relu;
  const bool measures = mode_ == BatchNormMode::batch;
  const std::size_t count = data.shape.count();
  // Scale and shift: 2. Mean: 1. Variance: subtract, square, add: 3. ReLU: 1. Measuring reads the
  // data twice more.
  const std::size_t per_value = 2u + (measures ? 4u : 0u) + (relu ? 1u : 0u);
  const std::size_t passes = 2u + (measures ? 2u : 0u);
  const std::size_t parameter_values = (measures ? 2 : 4) * data.shape.channels;
  return {name,
          (relu ? "batch_norm_relu " : "batch_norm ") + text(data.shape),
          range,
          {checked_multiply(count, per_value), passes * count * element_ + parameter_values * kFloat},
          backend_.batch_norm(data.id, parameters, mode_, activation)};
}

Layer LayerFactory::add_relu(const std::string& range, const std::string& name, DeviceTensor into,
                             DeviceTensor other) const {
  const std::size_t count = into.shape.count();
  return {name,
          "add_relu " + text(into.shape),
          range,
          {2 * count, 3 * count * element_},
          backend_.add_relu(into.id, other.id)};
}

Layer LayerFactory::global_average_pool(const std::string& range, const std::string& name,
                                        DeviceTensor input, DeviceTensor output) const {
  const std::size_t count = input.shape.count();
  const std::size_t outputs = output.shape.count();
  return {name,
          "global_average_pool " + text(input.shape) + " -> " + vector_text(output.shape),
          range,
          {count + outputs, (count + outputs) * element_},
          backend_.global_average_pool(input.id, output.id)};
}

Layer LayerFactory::linear(const std::string& range, const std::string& name, DeviceTensor input,
                           DeviceTensor output) const {
  const HostTensor& weight = parameter(name, "weight");
  const HostTensor& bias = parameter(name, "bias");
  const std::size_t outputs = output.shape.count();
  const std::size_t values = input.shape.count() + outputs + weight.values.size();
  return {name,
          "linear " + vector_text(input.shape) + " -> " + vector_text(output.shape),
          range,
          {outputs * (2 * input.shape.channels + 1), values * element_ + bias.values.size() * kFloat},
          backend_.linear(input.id, output.id, weight, bias)};
}

}  // namespace hydraconf
