#include "shallow_resnet/cudnn/convolution.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "common/errors.hpp"
#include "shallow_resnet/cuda/kernels.hpp"

namespace hydraconf::cudnn {
namespace {

/// What one convolution may use to be faster, at most.
constexpr std::size_t kWorkspaceLimit = std::size_t{1} << 30u;

cudnnDataType_t element_type(DataType type) {
  switch (type) {
    case DataType::float16: return CUDNN_DATA_HALF;
    case DataType::bfloat16: return CUDNN_DATA_BFLOAT16;
    case DataType::float32: break;
  }
  return CUDNN_DATA_FLOAT;
}

int size_of(std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError("cuDNN cannot number a tensor of these sizes (--gpu-library cuda can)");
  return static_cast<int>(size);
}

void describe_tensor(const TensorDescriptor& descriptor, cudnnDataType_t type,
                     const TensorShape& shape) {
  // Strides are ints as well.
  static_cast<void>(size_of(checked_product({shape.channels, shape.height, shape.width})));
  HYDRACONF_CUDNN_CHECK(cudnnSetTensor4dDescriptor(
      descriptor.get(), CUDNN_TENSOR_NCHW, type, size_of(shape.batch), size_of(shape.channels),
      size_of(shape.height), size_of(shape.width)));
}

class Convolution final : public Operation {
 public:
  Convolution(Library& library, const cuda::DeviceTensor& input,
              const cuda::DeviceTensor& output, const HostTensor& weight, const HostTensor& bias)
      : library_(library),
        input_(input),
        output_(output),
        weight_(cuda::upload_elements(library.context().data_type, weight.values)),
        ones_(cuda::upload_floats(std::vector<float>(bias.values.size(), 1.0F))),
        bias_(cuda::upload_floats(bias.values)) {
    const cudnnDataType_t type = element_type(library.context().data_type);
    describe_tensor(input_descriptor_, type, input.shape);
    describe_tensor(output_descriptor_, type, output.shape);
    HYDRACONF_CUDNN_CHECK(cudnnSetFilter4dDescriptor(
        weight_descriptor_.get(), type, CUDNN_TENSOR_NCHW, size_of(weight.sizes[0]),
        size_of(weight.sizes[1]), size_of(weight.sizes[2]), size_of(weight.sizes[3])));
    // Sums in float32 for every type.
    HYDRACONF_CUDNN_CHECK(cudnnSetConvolution2dDescriptor(convolution_.get(), 1, 1, 1, 1, 1, 1,
                                                          CUDNN_CROSS_CORRELATION,
                                                          CUDNN_DATA_FLOAT));
    HYDRACONF_CUDNN_CHECK(cudnnSetConvolutionMathType(convolution_.get(), math_type()));
    find_candidates();
  }

  void launch() override {
    if (!settled_) settle();
    else HYDRACONF_CUDNN_CHECK(convolve());
    // By a kernel of our own: cuDNN documents its addition for float32 and float16 only.
    const cuda::Context& context = library_.context();
    cuda::launch_scale_shift(context.data_type, output_.memory.data(), output_.shape,
                             ones_.as<float>(), bias_.as<float>(), false,
                             context.stream.handle());
  }

 private:
  /// The default math lets float32 be rounded to TF32: it has to be asked for here.
  cudnnMathType_t math_type() const {
    if (library_.context().data_type != DataType::float32) return CUDNN_TENSOR_OP_MATH;
    return library_.tf32() ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  }

  cudnnStatus_t convolve() {
    const float one = 1.0F;
    const float zero = 0.0F;
    const Candidate& chosen = candidates_.front();
    return cudnnConvolutionForward(
        library_.handle(), &one, input_descriptor_.get(), input_.memory.data(),
        weight_descriptor_.get(), weight_.data(), convolution_.get(), chosen.algorithm,
        library_.workspace().data(), chosen.workspace_bytes, &zero, output_descriptor_.get(),
        output_.memory.data());
  }

  /// The first launch, which measures nothing: cuDNN can propose what it then does not support.
  void settle() {
    cudnnStatus_t status = convolve();
    while (status / 1000 * 1000 == CUDNN_STATUS_NOT_SUPPORTED && candidates_.size() > 1) {
      candidates_.erase(candidates_.begin());
      library_.need_workspace(candidates_.front().workspace_bytes);
      library_.allocate_workspace();
      status = convolve();
    }
    check(status, "cudnnConvolutionForward", __FILE__, __LINE__);
    settled_ = true;
  }

  /// cuDNN's proposals, fastest first, whose workspace is acceptable; those that round as a plain sum
  /// does before the others.
  void find_candidates() {
    std::vector<cudnnConvolutionFwdAlgoPerf_t> proposals(CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    int count = 0;
    HYDRACONF_CUDNN_CHECK(cudnnGetConvolutionForwardAlgorithm_v7(
        library_.handle(), input_descriptor_.get(), weight_descriptor_.get(), convolution_.get(),
        output_descriptor_.get(), static_cast<int>(proposals.size()), &count, proposals.data()));
    proposals.resize(static_cast<std::size_t>(std::max(count, 0)));
    std::stable_partition(proposals.begin(), proposals.end(), rounds_as_a_sum);
    for (const cudnnConvolutionFwdAlgoPerf_t& proposal : proposals)
      if (proposal.status == CUDNN_STATUS_SUCCESS) consider(proposal.algo);
    if (candidates_.empty())
      throw InputError(
          std::string("cuDNN knows no algorithm on this GPU for a convolution of these sizes in ") +
          data_type_name(library_.context().data_type) +
          " (--gpu-library cuda runs without cuDNN)");
    library_.need_workspace(candidates_.front().workspace_bytes);
  }

  /// Transforms of larger tiles and of whole images lose digits of float32: some 1e-5 of the largest
  /// value, where sums lose 1e-7.
  static bool rounds_as_a_sum(const cudnnConvolutionFwdAlgoPerf_t& proposal) {
    return proposal.algo != CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED &&
           proposal.algo != CUDNN_CONVOLUTION_FWD_ALGO_FFT &&
           proposal.algo != CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING;
  }

  void consider(cudnnConvolutionFwdAlgo_t algorithm) {
    // Asked again: the heuristics' number is for the math type that they assumed.
    std::size_t bytes = 0;
    const cudnnStatus_t status = cudnnGetConvolutionForwardWorkspaceSize(
        library_.handle(), input_descriptor_.get(), weight_descriptor_.get(), convolution_.get(),
        output_descriptor_.get(), algorithm, &bytes);
    if (status == CUDNN_STATUS_SUCCESS && bytes <= kWorkspaceLimit)
      candidates_.push_back({algorithm, bytes});
  }

  struct Candidate {
    cudnnConvolutionFwdAlgo_t algorithm;
    std::size_t workspace_bytes;
  };

  Library& library_;
  const cuda::DeviceTensor& input_;
  const cuda::DeviceTensor& output_;
  cuda::DeviceMemory weight_;
  cuda::DeviceMemory ones_;
  cuda::DeviceMemory bias_;
  TensorDescriptor input_descriptor_;
  TensorDescriptor output_descriptor_;
  FilterDescriptor weight_descriptor_;
  ConvolutionDescriptor convolution_;
  /// The first one is used.
  std::vector<Candidate> candidates_;
  bool settled_ = false;
};

/// libcudnn.so.9 is a shim that aborts the process when the libraries behind it are not there.
void require_libraries() {
  for (const char* name : {"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9"}) {
    if (void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      dlclose(library);
      continue;
    }
    const char* why = dlerror();
    throw InputError(std::string("cuDNN cannot be used: ") + (why == nullptr ? name : why) +
                     " (--gpu-library cuda runs without cuDNN)");
  }
}

}  // namespace

Library::Library(const cuda::Context& context, bool tf32) : context_(context), tf32_(tf32) {
  require_libraries();
  const std::size_t loaded = cudnnGetVersion();
  if (loaded / 10000 != CUDNN_MAJOR)
    throw InputError("this program was built for cuDNN " + std::to_string(CUDNN_MAJOR) +
                     " and found cuDNN " + version() + " at run time");
  handle_ = std::make_unique<LibraryHandle>();
  HYDRACONF_CUDNN_CHECK(cudnnSetStream(handle(), context.stream.handle()));
}

std::string Library::version() const {
  const std::size_t loaded = cudnnGetVersion();
  return std::to_string(loaded / 10000) + "." + std::to_string(loaded % 10000 / 100) + "." +
         std::to_string(loaded % 100);
}

std::unique_ptr<Operation> Library::convolution(const cuda::DeviceTensor& input,
                                                const cuda::DeviceTensor& output,
                                                const HostTensor& weight,
                                                const HostTensor& bias) {
  return std::make_unique<Convolution>(*this, input, output, weight, bias);
}

void Library::need_workspace(std::size_t bytes) {
  workspace_bytes_ = std::max(workspace_bytes_, bytes);
}

void Library::allocate_workspace() {
  if (workspace_.bytes() < workspace_bytes_) workspace_ = cuda::DeviceMemory(workspace_bytes_);
}

}  // namespace hydraconf::cudnn
