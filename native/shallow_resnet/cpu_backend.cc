#include "shallow_resnet/cpu_backend.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "common/processor_name.hpp"
#include "shallow_resnet/cpu/operations.hpp"
#include "shallow_resnet/cpu/peaks.hpp"

namespace hydraconf {
namespace {

using cpu::BlockedTensor;
using cpu::kLanes;

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendSettings& settings)
      : context_{cpu::select_kernels(settings.isa),
                 ThreadPool(settings.threads == 0 ? available_processors() : settings.threads)} {}

  std::string name() const override { return "cpu"; }

  DeviceFacts facts() const override {
    return {{"name", processor_name()},
            {"isa", std::string(context_.kernels.isa)},
            {"threads", std::uint64_t{context_.pool.size()}}};
  }

  DevicePeaks peaks() override {
    // The best of a few turns, with the other measurement between them: a machine may be busy, or slowed
    // down, for longer than one of them takes.
    constexpr int kTurns = 4;
    constexpr double kSeconds = 0.01;
    DevicePeaks peaks;
    peaks.source = "measured on this machine";
    for (int turn = 0; turn < kTurns; ++turn) {
      peaks.gflops_per_second =
          std::max(peaks.gflops_per_second, cpu::multiply_add_rate(context_, kSeconds) / 1e9);
      peaks.gbytes_per_second =
          std::max(peaks.gbytes_per_second, cpu::memory_rate(context_, kSeconds) / 1e9);
    }
    return peaks;
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
    return cpu::make_convolution(context_, tensors_.at(input), tensors_.at(output), weight,
                                         bias);
  }

  std::unique_ptr<Operation> batch_norm(BufferId data, const BatchNormParameters& parameters,
                                        BatchNormMode mode, Activation activation) override {
    return cpu::make_batch_norm(context_, tensors_.at(data), parameters, mode, activation);
  }

  std::unique_ptr<Operation> add_relu(BufferId into, BufferId other) override {
    return cpu::make_add_relu(context_, tensors_.at(into), tensors_.at(other));
  }

  std::unique_ptr<Operation> global_average_pool(BufferId input, BufferId output) override {
    return cpu::make_global_average_pool(context_, tensors_.at(input), tensors_.at(output));
  }

  std::unique_ptr<Operation> linear(BufferId input, BufferId output, const HostTensor& weight,
                                    const HostTensor& bias) override {
    return cpu::make_linear(context_, tensors_.at(input), tensors_.at(output), weight,
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

  cpu::Context context_;
  // A deque: operations keep references to their tensors while more are allocated.
  std::deque<BlockedTensor> tensors_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::size_t, const BackendSettings& settings) {
  const auto refuse = [](const std::string& option) {
    throw InputError(option + ": only on a GPU (--device cuda:N); the CPU computes in float32");
  };
  if (settings.data_type != DataType::float32)
    refuse(std::string("--dtype ") + data_type_name(settings.data_type));
  if (settings.tf32) refuse("--tf32");
  if (settings.gpu_library != GpuLibrary::automatic) refuse("--gpu-library");
  if (settings.cuda_graph) refuse("--cuda-graph");
  return std::make_unique<CpuBackend>(settings);
}

}  // namespace hydraconf
