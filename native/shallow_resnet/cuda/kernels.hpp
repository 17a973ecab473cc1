// The GPU kernels as host code sees them: each function launches on a stream and returns. Tensors
// are row-major NCHW of the element type that `type` names; biases, statistics, scales and shifts
// are float.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "shallow_resnet/backend.hpp"

namespace hydraconf::cuda {

/// Output channels per block of `convolution`; weights are padded to a multiple of the widest.
inline constexpr std::size_t kWidestChannelTile = 64;

struct ConvolutionArguments {
  DataType type;
  const void* input;
  /// [input channel][3][3][output channel, padded with zeros to a multiple of kWidestChannelTile].
  const void* weights;
  /// One per output channel.
  const float* bias;
  void* output;
  TensorShape input_shape;
  std::size_t output_channels;
};

/// 3x3, stride 1, zero padding 1. Throws InputError where the grid would be too large.
void launch_convolution(const ConvolutionArguments& arguments, cudaStream_t stream);

/// data = activation(data * scale[channel] + shift[channel]).
void launch_scale_shift(DataType type, void* data, const TensorShape& shape, const float* scale,
                        const float* shift, bool relu, cudaStream_t stream);

/// Blocks per channel of `launch_batch_sums`: as many partial sums as a channel gets.
std::size_t batch_splits(const TensorShape& shape);

/// partials[channel][split] = sum of the channel's values, or, where `means` (of the same layout: the
/// partials of such sums) is given, of their squared distances from the mean.
void launch_batch_sums(DataType type, const void* data, const TensorShape& shape,
                       const float* sums, float* partials, cudaStream_t stream);

/// Scale and shift of batch norm from the partial sums and squared distances.
void launch_fold_statistics(const TensorShape& shape, const float* sums, const float* squares,
                            const float* weight, const float* bias, float* scale, float* shift,
                            cudaStream_t stream);

/// into = relu(into + other).
void launch_add_relu(DataType type, void* into, const void* other, std::size_t count,
                     cudaStream_t stream);

/// output[image][channel] = mean over the plane.
void launch_global_average_pool(DataType type, const void* input, const TensorShape& shape,
                                void* output, cudaStream_t stream);

/// output[image][o] = bias[o] + sum over i of input[image][i] * weight[o][i].
void launch_linear(DataType type, const void* input, const void* weight, const float* bias,
                   void* output, std::size_t batch, std::size_t inputs, std::size_t outputs,
                   cudaStream_t stream);

}  // namespace hydraconf::cuda
