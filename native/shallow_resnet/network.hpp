// ShallowResNet on a device: every layer bound to its buffers, ready to run, with its NVTX ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nvtx/nvtx.hpp"
#include "shallow_resnet/backend.hpp"
#include "shallow_resnet/parameters.hpp"

namespace hydraconf {

struct InputShape {
  std::size_t batch_size = 4;
  std::size_t image_size = 64;
};

/// Whether a forward pass opens NVTX ranges. Warm-up passes do not: what a profiler sees is what is
/// measured.
enum class Annotate { no, yes };

/// What a layer does per forward pass, counted from the shapes. A multiply-add is two FLOP; padding
/// counts, as the usual formula has it. Bytes are each operand, parameter and result once, in the
/// backend's data type.
struct LayerCost {
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
};

struct Layer {
  /// PyTorch's module name, e.g. `blocks.0.conv1`.
  std::string name;
  /// Operation and shapes: the name of its range in the domain `shallow_resnet.ops`.
  std::string label;
  /// The model's range it runs in: `stem`, `residual`, `block.conv1`, `block.conv2` or `head`.
  std::string range;
  LayerCost cost;
  std::unique_ptr<Operation> operation;
};

/// Stem: convolution, batch norm, ReLU. Residual: blocks of conv1, bn1, ReLU, conv2, bn2, add,
/// ReLU. Head: global average pool, flatten, linear to the classes.
class Network {
 public:
  /// Uploads the parameters and allocates everything a forward pass needs. `backend` must outlive
  /// the network.
  Network(Backend& backend, const ModelSizes& sizes, const InputShape& input,
          const TensorMap& parameters, BatchNormMode mode);

  TensorShape input_shape() const { return input_shape_; }
  TensorShape feature_shape() const { return feature_shape_; }
  Sizes logits_sizes() const { return {logits_shape_.batch, logits_shape_.channels}; }

  void set_input(const std::vector<float>& nchw);
  /// One pass, finished on the device when it returns.
  void forward(Annotate annotate);
  /// The three parts of `forward`, for looking at what stands between them.
  void stem(Annotate annotate);
  void residual(Annotate annotate);
  void head(Annotate annotate);

  /// After `stem` or `residual`: their result, NCHW.
  std::vector<float> features();
  /// After `head`: batch x classes.
  std::vector<float> logits();

  /// All layers in the order in which they run.
  std::vector<const Layer*> layers() const;

 private:
  /// Layers that run in one range of the model, one after the other.
  struct Sequence {
    std::vector<Layer> layers;
    /// All of them at once, where the backend can do that.
    std::unique_ptr<Operation> recorded;
  };
  struct Block {
    Sequence conv1;
    Sequence conv2;
    Sequence join;
  };

  void run(const Sequence& sequence, Annotate annotate) const;
  void record(Sequence& sequence);

  Backend& backend_;
  TensorShape input_shape_;
  TensorShape feature_shape_;
  TensorShape logits_shape_;
  BufferId input_ = 0;
  BufferId features_ = 0;
  BufferId logits_ = 0;
  Sequence stem_;
  std::vector<Block> blocks_;
  Sequence head_;
  nvtx::Domain operations_;
};

/// Bytes of host memory that a run takes, about; enough to refuse what cannot fit before allocating
/// it. Activations count where they are in host memory. Throws InputError when even the count
/// overflows.
std::size_t estimated_host_bytes(const ModelSizes& sizes, const InputShape& input,
                                 bool activations_on_host);

}  // namespace hydraconf
