#include <cmath>
#include <vector>

#include "shallow_resnet/cpu/operations.hpp"
#include "shallow_resnet/cpu/rows.hpp"

namespace hydraconf::cpu {
namespace {

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

}  // namespace

std::unique_ptr<Operation> make_batch_norm(
    Context& context, BlockedTensor& data,
    const BatchNormParameters& parameters, BatchNormMode mode, Activation activation) {
  return std::make_unique<BatchNorm>(context, data, parameters, mode, activation);
}

}  // namespace hydraconf::cpu
