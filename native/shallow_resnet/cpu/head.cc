#include "shallow_resnet/cpu/operations.hpp"
#include "shallow_resnet/cpu/rows.hpp"

namespace hydraconf::cpu {
namespace {

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

}  // namespace

std::unique_ptr<Operation> make_global_average_pool(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output) {
  return std::make_unique<GlobalAveragePool>(context, input, output);
}

std::unique_ptr<Operation> make_linear(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output, const HostTensor& weight, const HostTensor& bias) {
  return std::make_unique<Linear>(context, input, output, weight, bias);
}

}  // namespace hydraconf::cpu
