#include "shallow_resnet/cuda/operations.hpp"

#include <cmath>

#include "shallow_resnet/cuda/grid.hpp"
#include "shallow_resnet/cuda/kernels.hpp"

namespace hydraconf::cuda {
namespace {

/// PyTorch's [out][in][3][3] as [in][3][3][out], padded with zeros: neighbouring threads then read
/// neighbouring output channels.
std::vector<float> pack_weights(const HostTensor& weight, std::size_t padded) {
  const std::size_t outputs = weight.sizes[0];
  const std::size_t rows = weight.sizes[1] * 9;
  std::vector<float> packed(checked_multiply(rows, padded));
  for (std::size_t out = 0; out < outputs; ++out)
    for (std::size_t row = 0; row < rows; ++row)
      packed[row * padded + out] = weight.values[out * rows + row];
  return packed;
}

class Convolution final : public Operation {
 public:
  Convolution(const Context& context, const DeviceTensor& input, const DeviceTensor& output,
              const HostTensor& weight, const HostTensor& bias)
      : context_(context),
        padded_(checked_multiply(divide_up(weight.sizes[0], kWidestChannelTile),
                                 kWidestChannelTile)),
        weights_(upload_elements(context.data_type, pack_weights(weight, padded_))),
        bias_(upload_floats(bias.values)),
        arguments_{context.data_type,    input.memory.data(), weights_.data(), bias_.as<float>(),
                   output.memory.data(), input.shape,         weight.sizes[0]} {}

  void launch() override { launch_convolution(arguments_, context_.stream.handle()); }

 private:
  const Context& context_;
  std::size_t padded_;
  DeviceMemory weights_;
  DeviceMemory bias_;
  ConvolutionArguments arguments_;
};

/// (x - mean) / sqrt(variance + eps) * weight + bias as one multiply-add per value, and ReLU with it.
class BatchNorm final : public Operation {
 public:
  BatchNorm(const Context& context, const DeviceTensor& data,
            const BatchNormParameters& parameters, BatchNormMode mode, Activation activation)
      : context_(context), data_(data), mode_(mode), relu_(activation == Activation::relu) {
    const std::size_t channels = data.shape.channels;
    if (mode == BatchNormMode::running) {
      fold(parameters);
      return;
    }
    const std::size_t partials = checked_multiply(channels, batch_splits(data.shape));
    weight_ = upload_floats(parameters.weight.values);
    bias_ = upload_floats(parameters.bias.values);
    scale_ = DeviceMemory(channels * sizeof(float));
    shift_ = DeviceMemory(channels * sizeof(float));
    sums_ = DeviceMemory(checked_multiply(partials, sizeof(float)));
    squares_ = DeviceMemory(checked_multiply(partials, sizeof(float)));
  }

  void launch() override {
    const cudaStream_t stream = context_.stream.handle();
    if (mode_ == BatchNormMode::batch) {
      launch_batch_sums(context_.data_type, data_.memory.data(), data_.shape, nullptr,
                        sums_.as<float>(), stream);
      launch_batch_sums(context_.data_type, data_.memory.data(), data_.shape, sums_.as<float>(),
                        squares_.as<float>(), stream);
      launch_fold_statistics(data_.shape, sums_.as<float>(), squares_.as<float>(),
                             weight_.as<float>(), bias_.as<float>(), scale_.as<float>(),
                             shift_.as<float>(), stream);
    }
    launch_scale_shift(context_.data_type, data_.memory.data(), data_.shape, scale_.as<float>(),
                       shift_.as<float>(), relu_, stream);
  }

 private:
  void fold(const BatchNormParameters& parameters) {
    const std::size_t channels = data_.shape.channels;
    std::vector<float> scale(channels);
    std::vector<float> shift(channels);
    for (std::size_t i = 0; i < channels; ++i) {
      const double deviation = std::sqrt(static_cast<double>(parameters.running_var.values[i]) +
                                         static_cast<double>(kBatchNormEpsilon));
      const double by = static_cast<double>(parameters.weight.values[i]) / deviation;
      scale[i] = static_cast<float>(by);
      shift[i] =
          static_cast<float>(static_cast<double>(parameters.bias.values[i]) -
                             static_cast<double>(parameters.running_mean.values[i]) * by);
    }
    scale_ = upload_floats(scale);
    shift_ = upload_floats(shift);
  }

  const Context& context_;
  const DeviceTensor& data_;
  BatchNormMode mode_;
  bool relu_;
  DeviceMemory weight_;
  DeviceMemory bias_;
  DeviceMemory scale_;
  DeviceMemory shift_;
  DeviceMemory sums_;
  DeviceMemory squares_;
};

class AddRelu final : public Operation {
 public:
  AddRelu(const Context& context, const DeviceTensor& into, const DeviceTensor& other)
      : context_(context), into_(into), other_(other) {}

  void launch() override {
    launch_add_relu(context_.data_type, into_.memory.data(), other_.memory.data(),
                    into_.shape.count(), context_.stream.handle());
  }

 private:
  const Context& context_;
  const DeviceTensor& into_;
  const DeviceTensor& other_;
};

class GlobalAveragePool final : public Operation {
 public:
  GlobalAveragePool(const Context& context, const DeviceTensor& input, const DeviceTensor& output)
      : context_(context), input_(input), output_(output) {}

  void launch() override {
    launch_global_average_pool(context_.data_type, input_.memory.data(), input_.shape,
                               output_.memory.data(), context_.stream.handle());
  }

 private:
  const Context& context_;
  const DeviceTensor& input_;
  const DeviceTensor& output_;
};

class Linear final : public Operation {
 public:
  Linear(const Context& context, const DeviceTensor& input, const DeviceTensor& output,
         const HostTensor& weight, const HostTensor& bias)
      : context_(context),
        input_(input),
        output_(output),
        weight_(upload_elements(context.data_type, weight.values)),
        bias_(upload_floats(bias.values)) {}

  void launch() override {
    launch_linear(context_.data_type, input_.memory.data(), weight_.data(), bias_.as<float>(),
                  output_.memory.data(), input_.shape.batch, input_.shape.channels,
                  output_.shape.channels, context_.stream.handle());
  }

 private:
  const Context& context_;
  const DeviceTensor& input_;
  const DeviceTensor& output_;
  DeviceMemory weight_;
  DeviceMemory bias_;
};

}  // namespace

std::unique_ptr<Operation> make_convolution(const Context& context, const DeviceTensor& input,
                                            const DeviceTensor& output, const HostTensor& weight,
                                            const HostTensor& bias) {
  return std::make_unique<Convolution>(context, input, output, weight, bias);
}

std::unique_ptr<Operation> make_batch_norm(const Context& context, const DeviceTensor& data,
                                           const BatchNormParameters& parameters,
                                           BatchNormMode mode, Activation activation) {
  return std::make_unique<BatchNorm>(context, data, parameters, mode, activation);
}

std::unique_ptr<Operation> make_add_relu(const Context& context, const DeviceTensor& into,
                                         const DeviceTensor& other) {
  return std::make_unique<AddRelu>(context, into, other);
}

std::unique_ptr<Operation> make_global_average_pool(const Context& context,
                                                    const DeviceTensor& input,
                                                    const DeviceTensor& output) {
  return std::make_unique<GlobalAveragePool>(context, input, output);
}

std::unique_ptr<Operation> make_linear(const Context& context, const DeviceTensor& input,
                                       const DeviceTensor& output, const HostTensor& weight,
                                       const HostTensor& bias) {
  return std::make_unique<Linear>(context, input, output, weight, bias);
}

}  // namespace hydraconf::cuda
