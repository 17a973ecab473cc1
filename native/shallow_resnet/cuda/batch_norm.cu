// Batch norm: scale and shift per channel, and the statistics of a batch. A channel's values are
// split over blocks whose partial sums are added in order, without atomics: the same result every
// time. Mean first, squared distances after it: in one pass of sums of squares the difference of two
// large numbers would lose what matters.
#include <algorithm>
#include <cmath>

#include "shallow_resnet/cuda/element.hpp"
#include "shallow_resnet/cuda/grid.hpp"
#include "shallow_resnet/cuda/kernels.hpp"
#include "shallow_resnet/cuda/launch.hpp"
#include "shallow_resnet/cuda/reduce.hpp"

namespace hydraconf::cuda {
namespace {

constexpr unsigned kThreads = 256;
/// Packs, or single values, per thread of `scale_shift`.
constexpr unsigned kRounds = 4;

/// `Unit` is T, or a pack of T where planes are whole packs.
template <typename T, typename Unit>
__global__ void __launch_bounds__(kThreads)
    scale_shift(Unit* __restrict__ data, std::size_t plane_units, unsigned chunks,
                unsigned channels, const float* __restrict__ scale,
                const float* __restrict__ shift, bool relu) {
  const unsigned plane = blockIdx.x / chunks;
  const std::size_t begin =
      static_cast<std::size_t>(blockIdx.x % chunks) * kThreads * kRounds + threadIdx.x;
  const float by = scale[plane % channels];
  const float plus = shift[plane % channels];
  Unit* const units = data + plane * plane_units;
  constexpr unsigned kCount = sizeof(Unit) / sizeof(T);
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::size_t at = begin + static_cast<std::size_t>(round) * kThreads;
    if (at >= plane_units) return;
    Unit unit = units[at];
    T* const values = reinterpret_cast<T*>(&unit);
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
      const float value = to_float(values[i]) * by + plus;
      values[i] = from_float<T>(relu ? relu_of(value) : value);
    }
    units[at] = unit;
  }
}

/// The sum of a channel's partial sums.
__device__ inline float total_of(const float* partials, unsigned splits, float* scratch) {
  float sum = 0.0F;
  for (unsigned i = threadIdx.x; i < splits; i += kThreads) sum += partials[i];
  return block_sum<kThreads>(sum, scratch);
}

/// Block = channel * splits + split. `sums` null: plain sums.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    batch_sums(const T* __restrict__ data, std::size_t batch, unsigned channels, std::size_t plane,
               unsigned splits, const float* __restrict__ sums, float* __restrict__ partials) {
  __shared__ float scratch[kThreads / kWarp];
  const unsigned channel = blockIdx.x / splits;
  const unsigned split = blockIdx.x % splits;
  const std::size_t count = batch * plane;
  const float mean = sums == nullptr ? 0.0F
                                     : total_of(sums + static_cast<std::size_t>(channel) * splits,
                                                splits, scratch) /
                                           static_cast<float>(count);
  // All splits together stride over the channel; image and pixel are carried along, which spares a
  // division per value.
  const std::size_t step = static_cast<std::size_t>(splits) * kThreads;
  const std::size_t step_images = step / plane;
  const std::size_t step_pixels = step % plane;
  const std::size_t first = static_cast<std::size_t>(split) * kThreads + threadIdx.x;
  std::size_t image = first / plane;
  std::size_t pixel = first % plane;
  float sum = 0.0F;
  while (image < batch) {
    const float value = to_float(data[(image * channels + channel) * plane + pixel]);
    const float off = value - mean;
    sum += sums == nullptr ? value : off * off;
    image += step_images;
    pixel += step_pixels;
    if (pixel >= plane) {
      pixel -= plane;
      ++image;
    }
  }
  sum = block_sum<kThreads>(sum, scratch);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// One block per channel.
__global__ void __launch_bounds__(kThreads)
    fold_statistics(unsigned splits, float count, const float* __restrict__ sums,
                    const float* __restrict__ squares, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ scale,
                    float* __restrict__ shift) {
  __shared__ float scratch[kThreads / kWarp];
  const unsigned channel = blockIdx.x;
  const std::size_t from = static_cast<std::size_t>(channel) * splits;
  const float mean = total_of(sums + from, splits, scratch) / count;
  const float variance = total_of(squares + from, splits, scratch) / count;
  if (threadIdx.x != 0) return;
  const float by = weight[channel] / sqrtf(variance + kBatchNormEpsilon);
  scale[channel] = by;
  shift[channel] = bias[channel] - mean * by;
}

template <typename T, typename Unit>
void launch_scale_shift_by(Unit* data, const TensorShape& shape, std::size_t plane_units,
                           const float* scale, const float* shift, bool relu,
                           cudaStream_t stream) {
  const std::size_t chunks = divide_up(plane_units, kThreads * kRounds);
  launch(scale_shift<T, Unit>,
         dim3(grid_size(checked_product({shape.batch, shape.channels, chunks}))), dim3(kThreads),
         stream, data, plane_units, static_cast<unsigned>(chunks),
         static_cast<unsigned>(shape.channels), scale, shift, relu);
}

std::size_t per_channel(const TensorShape& shape) {
  return checked_product({shape.batch, shape.height, shape.width});
}

}  // namespace

void launch_scale_shift(DataType type, void* data, const TensorShape& shape, const float* scale,
                        const float* shift, bool relu, cudaStream_t stream) {
  with_element(type, [&](auto element) {
    using T = decltype(element);
    using Unit = Pack<T>;
    const std::size_t plane = shape.height * shape.width;
    if (plane % Unit::kCount == 0) {
      launch_scale_shift_by<T>(static_cast<Unit*>(data), shape, plane / Unit::kCount, scale, shift,
                               relu, stream);
    } else {
      launch_scale_shift_by<T>(static_cast<T*>(data), shape, plane, scale, shift, relu, stream);
    }
  });
}

std::size_t batch_splits(const TensorShape& shape) {
  // At least 8 values per thread; at most what one block adds up in two rounds.
  return std::clamp<std::size_t>(per_channel(shape) / (kThreads * 8), 1, 2 * kThreads);
}

void launch_batch_sums(DataType type, const void* data, const TensorShape& shape,
                       const float* sums, float* partials, cudaStream_t stream) {
  const std::size_t splits = batch_splits(shape);
  with_element(type, [&](auto element) {
    using T = decltype(element);
    launch(batch_sums<T>, dim3(grid_size(checked_multiply(shape.channels, splits))),
           dim3(kThreads), stream, static_cast<const T*>(data), shape.batch,
           static_cast<unsigned>(shape.channels), shape.height * shape.width,
           static_cast<unsigned>(splits), sums, partials);
  });
}

void launch_fold_statistics(const TensorShape& shape, const float* sums, const float* squares,
                            const float* weight, const float* bias, float* scale, float* shift,
                            cudaStream_t stream) {
  launch(fold_statistics, dim3(grid_size(shape.channels)), dim3(kThreads), stream,
         static_cast<unsigned>(batch_splits(shape)), static_cast<float>(per_channel(shape)), sums,
         squares, weight, bias, scale, shift);
}

}  // namespace hydraconf::cuda
