#include "shallow_resnet/cuda_backend.hpp"

#include <deque>
#include <stdexcept>

#include "shallow_resnet/cuda/device.hpp"
#include "shallow_resnet/cuda/operations.hpp"
#if HYDRACONF_CUDNN
#include "shallow_resnet/cudnn/convolution.hpp"
#endif

namespace hydraconf {
namespace {

using cuda::DeviceTensor;

class RecordedOperations final : public Operation {
 public:
  RecordedOperations(const cuda::Context& context, const std::vector<Operation*>& operations)
      : context_(context), graph_(context.stream.handle(), [&] {
          for (Operation* operation : operations) operation->launch();
        }) {}

  void launch() override { graph_.launch(context_.stream.handle()); }

 private:
  const cuda::Context& context_;
  cuda::Graph graph_;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::size_t index, const BackendSettings& settings)
      : device_(cuda::open_device(index)), settings_(settings), context_{settings.data_type, {}} {
#if HYDRACONF_CUDNN
    if (settings.gpu_library != GpuLibrary::cuda)
      cudnn_ = std::make_unique<cudnn::Library>(context_, settings.tf32);
#endif
  }

  std::string name() const override { return "cuda"; }
  DataType data_type() const override { return context_.data_type; }
  bool launches_wait() const override { return false; }

  DeviceFacts facts() const override {
    return {{"name", device_.name},
            {"compute_capability",
             std::to_string(device_.major) + "." + std::to_string(device_.minor)},
            {"multiprocessors", static_cast<std::uint64_t>(device_.multiprocessors)},
            {"memory_bytes", std::uint64_t{device_.memory_bytes}},
            {"driver_cuda", cuda::cuda_version_text(device_.driver_version)},
            {"runtime_cuda", cuda::cuda_version_text(device_.runtime_version)},
            {"targets", std::string(HYDRACONF_CUDA_TARGETS)},
            {"library", library()},
            {"dtype", std::string(data_type_name(context_.data_type))},
            {"tf32", std::string(settings_.tf32 ? "allowed" : "off")},
            {"launches", std::string(settings_.cuda_graph ? "graphs" : "single")}};
  }

  DevicePeaks peaks() override {
    const bool tensor_cores =
        library() != "cuda" && (settings_.tf32 || context_.data_type != DataType::float32);
    return cuda::device_peaks(device_, context_.data_type, tensor_cores);
  }

  BufferId allocate(const TensorShape& shape) override {
    if (shape.count() == 0) throw std::logic_error("a tensor without elements");
    const std::size_t bytes = checked_multiply(shape.count(), element_bytes(context_.data_type));
    tensors_.push_back({shape, cuda::DeviceMemory(bytes)});
    // Before the first pass, values are looked at by `prepare` only; but never uninitialised ones.
    HYDRACONF_CUDA_CHECK(cudaMemset(tensors_.back().memory.data(), 0, bytes));
    return tensors_.size() - 1;
  }

  void upload(BufferId to, const std::vector<float>& values) override {
    const std::vector<std::uint8_t> bytes = cuda::to_elements(context_.data_type, values);
    synchronize();
    HYDRACONF_CUDA_CHECK(cudaMemcpy(tensors_.at(to).memory.data(), bytes.data(), bytes.size(),
                                    cudaMemcpyHostToDevice));
    HYDRACONF_CUDA_CHECK(cudaDeviceSynchronize());
  }

  std::vector<float> download(BufferId from) override {
    const DeviceTensor& tensor = tensors_.at(from);
    std::vector<std::uint8_t> bytes(tensor.memory.bytes());
    synchronize();
    HYDRACONF_CUDA_CHECK(
        cudaMemcpy(bytes.data(), tensor.memory.data(), bytes.size(), cudaMemcpyDeviceToHost));
    return cuda::from_elements(context_.data_type, bytes);
  }

  std::unique_ptr<Operation> convolution(BufferId input, BufferId output, const HostTensor& weight,
                                         const HostTensor& bias) override {
#if HYDRACONF_CUDNN
    if (cudnn_)
      return cudnn_->convolution(tensors_.at(input), tensors_.at(output), weight, bias);
#endif
    return cuda::make_convolution(context_, tensors_.at(input), tensors_.at(output), weight, bias);
  }

  std::unique_ptr<Operation> batch_norm(BufferId data, const BatchNormParameters& parameters,
                                        BatchNormMode mode, Activation activation) override {
    return cuda::make_batch_norm(context_, tensors_.at(data), parameters, mode, activation);
  }

  std::unique_ptr<Operation> add_relu(BufferId into, BufferId other) override {
    return cuda::make_add_relu(context_, tensors_.at(into), tensors_.at(other));
  }

  std::unique_ptr<Operation> global_average_pool(BufferId input, BufferId output) override {
    return cuda::make_global_average_pool(context_, tensors_.at(input), tensors_.at(output));
  }

  std::unique_ptr<Operation> linear(BufferId input, BufferId output, const HostTensor& weight,
                                    const HostTensor& bias) override {
    return cuda::make_linear(context_, tensors_.at(input), tensors_.at(output), weight, bias);
  }

  /// Kernels' code is loaded, and cuDNN's own memory allocated, when they are first launched.
  void prepare(const std::vector<Operation*>& operations) override {
    // What was copied so far ran on another stream.
    HYDRACONF_CUDA_CHECK(cudaDeviceSynchronize());
#if HYDRACONF_CUDNN
    if (cudnn_) cudnn_->allocate_workspace();
#endif
    for (Operation* operation : operations) operation->launch();
    synchronize();
  }

  std::unique_ptr<Operation> record(const std::vector<Operation*>& operations) override {
    if (!settings_.cuda_graph) return nullptr;
    return std::make_unique<RecordedOperations>(context_, operations);
  }

  void synchronize() override {
    HYDRACONF_CUDA_CHECK(cudaStreamSynchronize(context_.stream.handle()));
  }

 private:
  std::string library() const {
#if HYDRACONF_CUDNN
    if (cudnn_) return "cudnn " + cudnn_->version();
#endif
    return "cuda";
  }

  cuda::Device device_;
  BackendSettings settings_;
  cuda::Context context_;
#if HYDRACONF_CUDNN
  std::unique_ptr<cudnn::Library> cudnn_;
#endif
  // A deque: operations keep references to their tensors while more are allocated.
  std::deque<DeviceTensor> tensors_;
};

/// Before the GPU is touched: whether this program can do what is asked for.
void check_settings(const BackendSettings& settings) {
  const std::vector<std::string> built = built_gpu_libraries();
  const bool has_cudnn = built.front() == "cudnn";
  if (settings.gpu_library == GpuLibrary::cudnn && !has_cudnn)
    throw InputError(
        "--gpu-library cudnn: this program was built without cuDNN; install cuDNN 9 (pip install "
        "nvidia-cudnn-cu13), or name its place in CUDNN_ROOT, and build again");
  const bool uses_cudnn = has_cudnn && settings.gpu_library != GpuLibrary::cuda;
  if (settings.tf32 && !uses_cudnn)
    throw InputError(
        "--tf32: only cuDNN's convolutions can use TF32; the kernels of --gpu-library cuda compute "
        "on CUDA cores, in float32");
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(std::size_t index, const BackendSettings& settings) {
  check_settings(settings);
  return std::make_unique<CudaBackend>(index, settings);
}

}  // namespace hydraconf
