// What a device must be able to do to run the model. One backend is one file that implements
// `Backend`, plus one line in backend_registry.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shallow_resnet/tensor.hpp"

namespace hydraconf {

/// Four sizes in PyTorch's order. Vectors of features are 1x1 images.
struct TensorShape {
  std::size_t batch = 0;
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;

  /// Elements; throws InputError when that overflows.
  std::size_t count() const { return checked_product({batch, channels, height, width}); }
  Sizes sizes() const { return {batch, channels, height, width}; }
};

/// Where batch norm takes mean and variance from: the stored running statistics (PyTorch's `eval`)
/// or the batch itself, with the biased variance (PyTorch's `train`).
enum class BatchNormMode { running, batch };

/// How activations and convolution and linear weights are stored. Sums are float32 (or wider) in any
/// case, and so are biases and everything of batch norm.
enum class DataType { float32, float16, bfloat16 };

inline constexpr std::size_t element_bytes(DataType type) {
  return type == DataType::float32 ? 4 : 2;
}

inline const char* data_type_name(DataType type) {
  switch (type) {
    case DataType::float32: return "float32";
    case DataType::float16: return "float16";
    case DataType::bfloat16: return "bfloat16";
  }
  return "";
}

/// What is applied to a result before it is stored.
enum class Activation { none, relu };

/// PyTorch's default `eps` of BatchNorm2d, added to the variance.
inline constexpr float kBatchNormEpsilon = 1e-5F;

struct BatchNormParameters {
  const HostTensor& weight;
  const HostTensor& bias;
  const HostTensor& running_mean;
  const HostTensor& running_var;
};

/// A tensor on the device, by the backend's own numbering.
using BufferId = std::size_t;

/// One kernel or a few, bound to its buffers and parameters once and launched many times. Nothing
/// but the work itself may happen in `launch`: allocation, algorithm choice and uploads belong to
/// the backend's factory functions, outside of every measured range.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void launch() = 0;
};

/// What the report says about the device, in order: {"name", "..."}, {"threads", 8}, ...
using DeviceFact = std::variant<std::string, std::uint64_t>;
using DeviceFacts = std::vector<std::pair<std::string, DeviceFact>>;

/// What the device can do at most: the two lines of a roofline. Zero where it is not known.
struct DevicePeaks {
  /// Floating-point operations, a multiply-add counted as two, in the arithmetic of this backend.
  double gflops_per_second = 0;
  /// Main memory, reads and writes together; 10^9 bytes.
  double gbytes_per_second = 0;
  /// Where the numbers come from, for people.
  std::string source;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// The name in `--device` and in the report, e.g. `cpu`.
  virtual std::string name() const = 0;
  virtual DeviceFacts facts() const = 0;
  virtual DataType data_type() const { return DataType::float32; }
  /// Whether `Operation::launch` returns when the work is done. Only then does a range around it
  /// show how long the operation takes.
  virtual bool launches_wait() const { return true; }
  /// May run something for some ten milliseconds to find out.
  virtual DevicePeaks peaks() = 0;

  virtual BufferId allocate(const TensorShape& shape) = 0;
  /// Copies a whole tensor in row-major NCHW order to or from the device, whatever its layout there.
  virtual void upload(BufferId to, const std::vector<float>& values) = 0;
  virtual std::vector<float> download(BufferId from) = 0;

  /// 3x3, stride 1, zero padding 1, with bias. `weight` is [out, in, 3, 3].
  virtual std::unique_ptr<Operation> convolution(BufferId input, BufferId output,
                                                 const HostTensor& weight,
                                                 const HostTensor& bias) = 0;
  /// In place.
  virtual std::unique_ptr<Operation> batch_norm(BufferId data, const BatchNormParameters& parameters,
                                                BatchNormMode mode, Activation activation) = 0;
  /// into = relu(into + other).
  virtual std::unique_ptr<Operation> add_relu(BufferId into, BufferId other) = 0;
  /// Mean over each image's pixels, per channel.
  virtual std::unique_ptr<Operation> global_average_pool(BufferId input, BufferId output) = 0;
  /// output = input · weightᵀ + bias. `weight` is [out, in].
  virtual std::unique_ptr<Operation> linear(BufferId input, BufferId output,
                                            const HostTensor& weight, const HostTensor& bias) = 0;

  /// Called once, when all operations exist and before anything is measured: what the first launch
  /// of an operation does beside its work (loading code) is to be done here. Leaves the contents of
  /// buffers undefined.
  virtual void prepare(const std::vector<Operation*>& operations) { (void)operations; }
  /// The operations, in this order, as one; null where launching them one by one is all there is.
  /// They must outlive the result and have been prepared.
  virtual std::unique_ptr<Operation> record(const std::vector<Operation*>& operations) {
    (void)operations;
    return nullptr;
  }

  /// Returns when everything launched has finished.
  virtual void synchronize() = 0;

 protected:
  Backend() = default;
  Backend(const Backend&) = default;
  Backend& operator=(const Backend&) = default;
};

}  // namespace hydraconf
