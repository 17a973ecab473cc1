#include "shallow_resnet/network.hpp"

#include <optional>

#include "shallow_resnet/layer_factory.hpp"

namespace hydraconf {
namespace {

/// A range for the scope, or nothing during warm-up.
class MaybeRange {
 public:
  MaybeRange(Annotate annotate, const nvtx::Domain& domain, const char* name) {
    if (annotate == Annotate::yes) range_.emplace(domain, name);
  }
  MaybeRange(Annotate annotate, const char* name)
      : MaybeRange(annotate, nvtx::Domain::default_domain(), name) {}

 private:
  std::optional<nvtx::ScopedRange> range_;
};

}  // namespace

Network::Network(Backend& backend, const ModelSizes& sizes, const InputShape& input,
                 const TensorMap& parameters, BatchNormMode mode)
    : backend_(backend),
      input_shape_{input.batch_size, sizes.in_channels, input.image_size, input.image_size},
      feature_shape_{input.batch_size, sizes.base_channels, input.image_size, input.image_size},
      logits_shape_{input.batch_size, sizes.num_classes, 1, 1},
      operations_("shallow_resnet.ops") {
  const auto tensor = [&](const TensorShape& shape) {
    return DeviceTensor{backend_.allocate(shape), shape};
  };
  const DeviceTensor image = tensor(input_shape_);
  const DeviceTensor features = tensor(feature_shape_);
  const DeviceTensor hidden = tensor(feature_shape_);
  const DeviceTensor branch = tensor(feature_shape_);
  const DeviceTensor pooled = tensor({input.batch_size, sizes.base_channels, 1, 1});
  const DeviceTensor logits = tensor(logits_shape_);
  input_ = image.id;
  features_ = features.id;
  logits_ = logits.id;

  const LayerFactory make(backend_, parameters, mode);
  stem_.layers.push_back(make.convolution("stem", "stem.0", image, features));
  stem_.layers.push_back(make.batch_norm("stem", "stem.1", features, Activation::relu));
  for (std::size_t i = 0; i < sizes.num_blocks; ++i) {
    const std::string name = "blocks." + std::to_string(i);
    Block& block = blocks_.emplace_back();
    block.conv1.layers.push_back(make.convolution("block.conv1", name + ".conv1", features, hidden));
    block.conv1.layers.push_back(make.batch_norm("block.conv1", name + ".bn1", hidden, Activation::relu));
    block.conv2.layers.push_back(make.convolution("block.conv2", name + ".conv2", hidden, branch));
    block.conv2.layers.push_back(make.batch_norm("block.conv2", name + ".bn2", branch, Activation::none));
    block.join.layers.push_back(make.add_relu("residual", name, features, branch));
  }
  head_.layers.push_back(make.global_average_pool("head", "head.0", features, pooled));
  head_.layers.push_back(make.linear("head", "head.2", pooled, logits));

  std::vector<Operation*> operations;
  for (const Layer* layer : layers()) operations.push_back(layer->operation.get());
  backend_.prepare(operations);
  record(stem_);
  for (Block& block : blocks_) {
    record(block.conv1);
    record(block.conv2);
    record(block.join);
  }
  record(head_);
}

void Network::record(Sequence& sequence) {
  std::vector<Operation*> operations;
  for (const Layer& layer : sequence.layers) operations.push_back(layer.operation.get());
  sequence.recorded = backend_.record(operations);
}

void Network::set_input(const std::vector<float>& nchw) { backend_.upload(input_, nchw); }

void Network::forward(Annotate annotate) {
  stem(annotate);
  residual(annotate);
  head(annotate);
  backend_.synchronize();
}

void Network::stem(Annotate annotate) {
  const MaybeRange range(annotate, "stem");
  run(stem_, annotate);
}

void Network::residual(Annotate annotate) {
  const MaybeRange range(annotate, "residual");
  for (const Block& block : blocks_) {
    {
      const MaybeRange conv1(annotate, "block.conv1");
      run(block.conv1, annotate);
    }
    {
      const MaybeRange conv2(annotate, "block.conv2");
      run(block.conv2, annotate);
    }
    run(block.join, annotate);
  }
}

void Network::head(Annotate annotate) {
  const MaybeRange range(annotate, "head");
  run(head_, annotate);
}

void Network::run(const Sequence& sequence, Annotate annotate) const {
  if (sequence.recorded) return sequence.recorded->launch();
  // A range around a launch that does not wait would show the launch, not the operation.
  const Annotate each = backend_.launches_wait() ? annotate : Annotate::no;
  for (const Layer& layer : sequence.layers) {
    const MaybeRange range(each, operations_, layer.label.c_str());
    layer.operation->launch();
  }
}

std::vector<float> Network::features() { return backend_.download(features_); }
std::vector<float> Network::logits() { return backend_.download(logits_); }

std::vector<const Layer*> Network::layers() const {
  std::vector<const Layer*> all;
  const auto add = [&](const Sequence& sequence) {
    for (const Layer& layer : sequence.layers) all.push_back(&layer);
  };
  add(stem_);
  for (const Block& block : blocks_) {
    add(block.conv1);
    add(block.conv2);
    add(block.join);
  }
  add(head_);
  return all;
}

std::size_t estimated_host_bytes(const ModelSizes& sizes, const InputShape& input,
                                 bool activations_on_host) {
  const std::size_t side = input.image_size;
  const std::size_t batch = input.batch_size;
  // As given, and packed for the kernels.
  const std::size_t state = checked_multiply(2, state_count(parameter_specs(sizes)));
  const std::size_t image = checked_product({batch, sizes.in_channels, side, side});
  // As they come from the device, and as they are written.
  const std::size_t logits = checked_product({2, batch, sizes.num_classes});
  std::size_t values = checked_add(state, checked_add(image, logits));
  if (activations_on_host) {
    const auto add = [&](std::size_t tensors, std::size_t channels, std::size_t size) {
      const std::size_t border = checked_add(size, 2);
      const std::size_t padded = (channels + 15) / 16 * 16;
      values = checked_add(values, checked_product({tensors, batch, padded, border, border}));
    };
    add(1, sizes.in_channels, side);
    add(3, sizes.base_channels, side);
    add(1, sizes.base_channels, 1);  // pooled
    add(1, sizes.num_classes, 1);
  }
  return checked_multiply(values, sizeof(float));
}

}  // namespace hydraconf
