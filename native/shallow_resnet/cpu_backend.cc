#include "shallow_resnet/cpu_backend.hpp"

#include <cmath>
#include <deque>
#include <fstream>
#include <stdexcept>

#include "common/thread_pool.hpp"
#include "shallow_resnet/cpu/blocked_tensor.hpp"
#include "shallow_resnet/cpu/kernels.hpp"

namespace hydraconf {
namespace {

using cpu::BlockedTensor;
using cpu::kLanes;
using cpu::Kernels;

struct Context {
  const Kernels& kernels;
  ThreadPool pool;
};

/// Where a flat index over all rows of a tensor points: images, then channel blocks, then rows.
struct RowPlace {
  std::size_t image;
  std::size_t block;
  std::size_t y;
};

RowPlace row_place(const BlockedTensor& tensor, std::size_t index) {
  const std::size_t height = tensor.shape().height;
  return {index / height / tensor.blocks(), index / height % tensor.blocks(), index % height};
}

std::size_t row_count(const BlockedTensor& tensor) {
  return tensor.shape().batch * tensor.blocks() * tensor.shape().height;
}

/// A vector per channel, padded with zeros to whole blocks.
AlignedBuffer pad_lanes(const std::vector<float>& values) {
  AlignedBuffer padded(((values.size() - 1) / kLanes + 1) * kLanes);
  std::copy(values.begin(), values.end(), padded.data());
  return padded;
}

/// PyTorch's [out][in][3][3] in the order in which the kernel reads it:
/// [out block][in block][ky][kx][in channel][16 out lanes], the last in block without padding.
AlignedBuffer pack_weights(const HostTensor& weight) {
  const std::size_t outputs = weight.sizes[0];
  const std::size_t inputs = weight.sizes[1];
  const std::size_t out_blocks = (outputs - 1) / kLanes + 1;
  AlignedBuffer packed(checked_product({out_blocks, inputs, 9, kLanes}));
  float* to = packed.data();
  for (std::size_t out_block = 0; out_block < out_blocks; ++out_block) {
    for (std::size_t first = 0; first < inputs; first += kLanes) {
      const std::size_t last = std::min(first + kLanes, inputs);
      for (std::size_t tap = 0; tap < 9; ++tap) {
        for (std::size_t input = first; input < last; ++input, to += kLanes) {
          for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::size_t output = out_block * kLanes + lane;
            if (output < outputs) to[lane] = weight.values[(output * inputs + input) * 9 + tap];
          }
        }
      }
    }
  }
  return packed;
}

class Convolution final : public Operation {
 public:
  Convolution(Context& context, const BlockedTensor& input, BlockedTensor& output,
              const HostTensor& weight, const HostTensor& bias)
      : context_(context),
        input_(input),
        output_(output),
        weights_(pack_weights(weight)),
        bias_(pad_lanes(bias.values)) {}

  void launch() override {
    const std::size_t weights_per_block = input_.shape().channels * 9 * kLanes;
    context_.pool.for_each(row_count(output_), [&](std::size_t begin, std::size_t end) {
      for (std::size_t index = begin; index < end; ++index) {
        const RowPlace at = row_place(output_, index);
        context_.kernels.convolve_row({input_.row(at.image, 0, at.y), input_.row_stride(),
                                       input_.plane_stride(), input_.shape().channels,
                                       weights_.data() + at.block * weights_per_block,
                                       bias_.data() + at.block * kLanes,
                                       output_.row(at.image, at.block, at.y),
                                       output_.shape().width});
      }
    });
  }

 private:
  Context& context_;
  const BlockedTensor& input_;
  BlockedTensor& output_;
  AlignedBuffer weights_;
  AlignedBuffer bias_;
};

class BatchNorm final : public Operation {
 public:
  BatchNorm(Context& context, BlockedTensor& data, const BatchNormParameters& parameters,
            BatchNormMode mode, Activation activation)
      : context_(context),
        data_(data),
        mode_(mode),
        relu_(activation == Activation::relu),
        weight_(pad_lanes(parameters.weight.values)),
        bias_(pad_lanes(parameters.bias.values)),
        mean_(pad_lanes(parameters.running_mean.values)),
        variance_(pad_lanes(parameters.running_var.values)),
        scale_(weight_.size()),
        shift_(weight_.size()),
        row_sums_(mode == BatchNormMode::batch ? checked_multiply(row_count(data), kLanes) : 0) {
    if (mode_ == BatchNormMode::running) fold();
  }

  void launch() override {
    if (mode_ == BatchNormMode::batch) {
      measure();
      fold();
    }
    for_each_row([&](float* row, std::size_t block, float*) {
      context_.kernels.scale_shift(row, data_.shape().width, scale_.data() + block * kLanes,
                                   shift_.data() + block * kLanes, relu_);
    });
  }

 private:
  /// Mean, then mean squared distance from it: in one pass of sums of squares the difference of two
  /// large numbers would lose what matters.
  void measure() {
    const std::size_t width = data_.shape().width;
    for_each_row([&](float* row, std::size_t, float* sums) {
      context_.kernels.sum(row, width, sums);
    });
    average(mean_);
    for_each_row([&](float* row, std::size_t block, float* sums) {
      context_.kernels.square_deviation(row, width, mean_.data() + block * kLanes, sums);
    });
    average(variance_);
  }

  template <typename Body>
  void for_each_row(const Body& body) {
    context_.pool.for_each(row_count(data_), [&](std::size_t begin, std::size_t end) {
      for (std::size_t index = begin; index < end; ++index) {
        const RowPlace at = row_place(data_, index);
        float* sums = row_sums_.size() == 0 ? nullptr : row_sums_.data() + index * kLanes;
        body(data_.row(at.image, at.block, at.y), at.block, sums);
      }
    });
  }

  /// Adds the rows' sums in row order, in double: the same result for any number of threads.
  void average(AlignedBuffer& to) {
    std::vector<double> totals(to.size());
    for (std::size_t index = 0; index < row_count(data_); ++index) {
      double* total = totals.data() + row_place(data_, index).block * kLanes;
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        total[lane] += static_cast<double>(row_sums_.data()[index * kLanes + lane]);
    }
    const TensorShape& shape = data_.shape();
    const double pixels = static_cast<double>(shape.batch * shape.height * shape.width);
    for (std::size_t i = 0; i < to.size(); ++i)
      to.data()[i] = static_cast<float>(totals[i] / pixels);
  }

  /// (x - mean) / sqrt(variance + eps) * weight + bias as one multiply-add. The lanes beyond the
  /// last channel have weight and bias zero, so they stay zero.
  void fold() {
    for (std::size_t i = 0; i < scale_.size(); ++i) {
      const double deviation = std::sqrt(static_cast<double>(variance_.data()[i]) +
                                         static_cast<double>(kBatchNormEpsilon));
      const double scale = static_cast<double>(weight_.data()[i]) / deviation;
      scale_.data()[i] = static_cast<float>(scale);
      shift_.data()[i] = static_cast<float>(static_cast<double>(bias_.data()[i]) -
                                            static_cast<double>(mean_.data()[i]) * scale);
    }
  }

  Context& context_;
  BlockedTensor& data_;
  BatchNormMode mode_;
  bool relu_;
  AlignedBuffer weight_;
  AlignedBuffer bias_;
  AlignedBuffer mean_;
  AlignedBuffer variance_;
  AlignedBuffer scale_;
  AlignedBuffer shift_;
  AlignedBuffer row_sums_;
};

class AddRelu final : public Operation {
 public:
  AddRelu(Context& context, BlockedTensor& into, const BlockedTensor& other)
      : context_(context), into_(into), other_(other) {}

  void launch() override {
    context_.pool.for_each(row_count(into_), [&](std::size_t begin, std::size_t end) {
      for (std::size_t index = begin; index < end; ++index) {
        const RowPlace at = row_place(into_, index);
        context_.kernels.add_relu(into_.row(at.image, at.block, at.y),
                                  other_.row(at.image, at.block, at.y), into_.shape().width);
      }
    });
  }

 private:
  Context& context_;
  BlockedTensor& into_;
  const BlockedTensor& other_;
};

class GlobalAveragePool final : public Operation {
 public:
  GlobalAveragePool(Context& context, const BlockedTensor& input, BlockedTensor& output)
      : context_(context), input_(input), output_(output) {}

  void launch() override {
    const TensorShape& shape = input_.shape();
    const double pixels = static_cast<double>(shape.height) * static_cast<double>(shape.width);
    context_.pool.for_each(shape.batch * input_.blocks(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t index = begin; index < end; ++index) {
        const std::size_t image = index / input_.blocks();
        const std::size_t block = index % input_.blocks();
        alignas(AlignedBuffer::kAlignment) float sums[kLanes];
        double totals[kLanes] = {};
        for (std::size_t y = 0; y < shape.height; ++y) {
          context_.kernels.sum(input_.row(image, block, y), shape.width, sums);
          for (std::size_t lane = 0; lane < kLanes; ++lane)
            totals[lane] += static_cast<double>(sums[lane]);
        }
        float* to = output_.row(image, block, 0);
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          to[lane] = static_cast<float>(totals[lane] / pixels);
      }
    });
  }

 private:
  Context& context_;
  const BlockedTensor& input_;
  BlockedTensor& output_;
};

class Linear final : public Operation {
 public:
  Linear(Context& context, const BlockedTensor& input, BlockedTensor& output,
         const HostTensor& weight, const HostTensor& bias)
      : context_(context), input_(input), output_(output), weight_(weight), bias_(bias) {}

  void launch() override {
    const std::size_t inputs = input_.shape().channels;
    const std::size_t outputs = output_.shape().channels;
    context_.pool.for_each(output_.shape().batch, [&](std::size_t begin, std::size_t end) {
      for (std::size_t image = begin; image < end; ++image) {
        for (std::size_t output = 0; output < outputs; ++output) {
          const float* weights = weight_.values.data() + output * inputs;
          double total = static_cast<double>(bias_.values[output]);
          for (std::size_t block = 0; block < input_.blocks(); ++block) {
            const float* lanes = input_.row(image, block, 0);
            for (std::size_t lane = 0; lane < input_.channels_in(block); ++lane)
              total += static_cast<double>(weights[block * kLanes + lane]) *
                       static_cast<double>(lanes[lane]);
          }
          output_.row(image, output / kLanes, 0)[output % kLanes] = static_cast<float>(total);
        }
      }
    });
  }

 private:
  Context& context_;
  const BlockedTensor& input_;
  BlockedTensor& output_;
  const HostTensor weight_;
  const HostTensor bias_;
};

/// The processor's name for people; "unknown" where the system does not tell.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendSettings& settings)
      : context_{cpu::select_kernels(settings.isa),
                 ThreadPool(settings.threads == 0 ? available_processors() : settings.threads)} {}

  std::string name() const override { return "cpu"; }

  DeviceFacts facts() const override {
    return {{"name", processor_name()},
            {"isa", context_.kernels.isa},
            {"threads", std::to_string(context_.pool.size())}};
  }

  BufferId allocate(const TensorShape& shape) override {
    if (checked_product({shape.batch, shape.channels, shape.height, shape.width}) == 0)
      throw std::logic_error("a tensor without elements");
    tensors_.emplace_back(shape);
    return tensors_.size() - 1;
  }

  void upload(BufferId to, const std::vector<float>& values) override {
    BlockedTensor& tensor = tensors_.at(to);
    for_each_element(tensor, [&](float& lane, std::size_t i) { lane = values[i]; });
  }

  std::vector<float> download(BufferId from) override {
    BlockedTensor& tensor = tensors_.at(from);
    std::vector<float> values(tensor.shape().count());
    for_each_element(tensor, [&](const float& lane, std::size_t i) { values[i] = lane; });
    return values;
  }

  std::unique_ptr<Operation> convolution(BufferId input, BufferId output, const HostTensor& weight,
                                         const HostTensor& bias) override {
    return std::make_unique<Convolution>(context_, tensors_.at(input), tensors_.at(output), weight,
                                         bias);
  }

  std::unique_ptr<Operation> batch_norm(BufferId data, const BatchNormParameters& parameters,
                                        BatchNormMode mode, Activation activation) override {
    return std::make_unique<BatchNorm>(context_, tensors_.at(data), parameters, mode, activation);
  }

  std::unique_ptr<Operation> add_relu(BufferId into, BufferId other) override {
    return std::make_unique<AddRelu>(context_, tensors_.at(into), tensors_.at(other));
  }

  std::unique_ptr<Operation> global_average_pool(BufferId input, BufferId output) override {
    return std::make_unique<GlobalAveragePool>(context_, tensors_.at(input), tensors_.at(output));
  }

  std::unique_ptr<Operation> linear(BufferId input, BufferId output, const HostTensor& weight,
                                    const HostTensor& bias) override {
    return std::make_unique<Linear>(context_, tensors_.at(input), tensors_.at(output), weight,
                                    bias);
  }

  /// Launching already waits.
  void synchronize() override {}

 private:
  /// Visits the elements in NCHW order, the order of the outside world.
  template <typename Body>
  static void for_each_element(BlockedTensor& tensor, const Body& body) {
    const TensorShape& shape = tensor.shape();
    std::size_t i = 0;
    for (std::size_t image = 0; image < shape.batch; ++image)
      for (std::size_t channel = 0; channel < shape.channels; ++channel)
        for (std::size_t y = 0; y < shape.height; ++y)
          for (std::size_t x = 0; x < shape.width; ++x, ++i)
            body(tensor.row(image, channel / kLanes, y)[x * kLanes + channel % kLanes], i);
  }

  Context context_;
  // A deque: operations keep references to their tensors while more are allocated.
  std::deque<BlockedTensor> tensors_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::size_t, const BackendSettings& settings) {
  return std::make_unique<CpuBackend>(settings);
}

}  // namespace hydraconf
