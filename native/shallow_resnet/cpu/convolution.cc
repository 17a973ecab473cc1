#include "shallow_resnet/cpu/operations.hpp"
#include "shallow_resnet/cpu/rows.hpp"

namespace hydraconf::cpu {
namespace {

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

}  // namespace

std::unique_ptr<Operation> make_convolution(
    Context& context, const BlockedTensor& input,
    BlockedTensor& output, const HostTensor& weight, const HostTensor& bias) {
  return std::make_unique<Convolution>(context, input, output, weight, bias);
}

}  // namespace hydraconf::cpu
