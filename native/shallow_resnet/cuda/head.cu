// What is neither convolution nor batch norm: the residual sum, the pooling, the linear layer.
#include "shallow_resnet/cuda/element.hpp"
#include "shallow_resnet/cuda/grid.hpp"
#include "shallow_resnet/cuda/kernels.hpp"
#include "shallow_resnet/cuda/launch.hpp"
#include "shallow_resnet/cuda/reduce.hpp"

namespace hydraconf::cuda {
namespace {

constexpr unsigned kThreads = 256;

/// `packs` whole packs, then the `count` - `packs` * pack size values behind them.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    add_relu(T* __restrict__ into, const T* __restrict__ other, std::size_t packs,
             std::size_t count) {
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index < packs) {
    Pack<T> sum = reinterpret_cast<const Pack<T>*>(into)[index];
    const Pack<T> term = reinterpret_cast<const Pack<T>*>(other)[index];
#pragma unroll
    for (unsigned i = 0; i < Pack<T>::kCount; ++i)
      sum.values[i] = from_float<T>(relu_of(to_float(sum.values[i]) + to_float(term.values[i])));
    reinterpret_cast<Pack<T>*>(into)[index] = sum;
    return;
  }
  const std::size_t at = packs * Pack<T>::kCount + (index - packs);
  if (at < count) into[at] = from_float<T>(relu_of(to_float(into[at]) + to_float(other[at])));
}

/// One block per plane.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    global_average_pool(const T* __restrict__ input, std::size_t plane, T* __restrict__ output) {
  __shared__ float scratch[kThreads / kWarp];
  const T* const values = input + blockIdx.x * plane;
  float sum = 0.0F;
  for (std::size_t i = threadIdx.x; i < plane; i += kThreads) sum += to_float(values[i]);
  sum = block_sum<kThreads>(sum, scratch);
  if (threadIdx.x == 0) output[blockIdx.x] = from_float<T>(sum / static_cast<float>(plane));
}

/// One warp per output value.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    linear(const T* __restrict__ input, const T* __restrict__ weight,
           const float* __restrict__ bias, T* __restrict__ output, std::size_t count,
           unsigned inputs, unsigned outputs) {
  const std::size_t index =
      static_cast<std::size_t>(blockIdx.x) * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (index >= count) return;
  const std::size_t image = index / outputs;
  const unsigned out = static_cast<unsigned>(index % outputs);
  const T* const features = input + image * inputs;
  const T* const factors = weight + static_cast<std::size_t>(out) * inputs;
  float sum = 0.0F;
  for (unsigned i = threadIdx.x % kWarp; i < inputs; i += kWarp)
    sum += to_float(features[i]) * to_float(factors[i]);
  sum = warp_sum(sum);
  if (threadIdx.x % kWarp == 0) output[index] = from_float<T>(sum + bias[out]);
}

}  // namespace

void launch_add_relu(DataType type, void* into, const void* other, std::size_t count,
                     cudaStream_t stream) {
  with_element(type, [&](auto element) {
    using T = decltype(element);
    const std::size_t packs = count / Pack<T>::kCount;
    const std::size_t threads = packs + count % Pack<T>::kCount;
    launch(add_relu<T>, dim3(grid_size(divide_up(threads, kThreads))), dim3(kThreads), stream,
           static_cast<T*>(into), static_cast<const T*>(other), packs, count);
  });
}

void launch_global_average_pool(DataType type, const void* input, const TensorShape& shape,
                                void* output, cudaStream_t stream) {
  with_element(type, [&](auto element) {
    using T = decltype(element);
    launch(global_average_pool<T>, dim3(grid_size(checked_multiply(shape.batch, shape.channels))),
           dim3(kThreads), stream, static_cast<const T*>(input), shape.height * shape.width,
           static_cast<T*>(output));
  });
}

void launch_linear(DataType type, const void* input, const void* weight, const float* bias,
                   void* output, std::size_t batch, std::size_t inputs, std::size_t outputs,
                   cudaStream_t stream) {
  with_element(type, [&](auto element) {
    using T = decltype(element);
    const std::size_t count = checked_multiply(batch, outputs);
    launch(linear<T>, dim3(grid_size(divide_up(count, kThreads / kWarp))), dim3(kThreads), stream,
           static_cast<const T*>(input), static_cast<const T*>(weight), bias,
           static_cast<T*>(output), count, static_cast<unsigned>(inputs),
           static_cast<unsigned>(outputs));
  });
}

}  // namespace hydraconf::cuda
