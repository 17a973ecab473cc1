// 3x3 convolution on CUDA cores: a direct convolution tiled in shared memory. A block computes
// 256 pixels of one image for `kChannels` output channels; each thread holds 4 neighbouring pixels x
// 8 channels in registers, so that 12 shared loads feed 96 multiply-adds.
#include "shallow_resnet/cuda/element.hpp"
#include "shallow_resnet/cuda/grid.hpp"
#include "shallow_resnet/cuda/kernels.hpp"
#include "shallow_resnet/cuda/launch.hpp"

namespace hydraconf::cuda {
namespace {

constexpr unsigned kPixels = 256;
constexpr unsigned kThreadPixels = 4;
constexpr unsigned kThreadChannels = 8;
/// Input channels held in shared memory at a time.
constexpr unsigned kDepth = 8;

struct ConvolutionSizes {
  unsigned inputs;
  unsigned outputs;
  /// Stride of the packed weights.
  unsigned padded_outputs;
  unsigned height;
  unsigned width;
  unsigned tiles_x;
  unsigned tiles;
};

/// `kChannels` is 16, 32 or 64; `kWidth` (8, 16 or 32) x 256 / `kWidth` pixels make a tile.
template <typename T, unsigned kChannels, unsigned kWidth>
__global__ void __launch_bounds__(kPixels / kThreadPixels * kChannels / kThreadChannels)
    convolution_3x3(const T* __restrict__ input, const T* __restrict__ weights,
                    const float* __restrict__ bias, T* __restrict__ output,
                    ConvolutionSizes sizes) {
  constexpr unsigned kHeight = kPixels / kWidth;
  constexpr unsigned kThreads = kPixels / kThreadPixels * kChannels / kThreadChannels;
  // The border of one pixel on each side, rounded up so that rows begin on 16 bytes.
  constexpr unsigned kPitch = kWidth + 4;
  constexpr unsigned kPatchRows = kHeight + 2;
  constexpr unsigned kPatch = kPatchRows * (kWidth + 2);
  alignas(16) __shared__ float patch[kDepth][kPatchRows][kPitch];
  alignas(16) __shared__ float taps[kDepth][9][kChannels];

  const unsigned thread = threadIdx.x;
  const unsigned image = blockIdx.x / sizes.tiles;
  const unsigned tile = blockIdx.x % sizes.tiles;
  const int top = static_cast<int>(tile / sizes.tiles_x * kHeight);
  const int left = static_cast<int>(tile % sizes.tiles_x * kWidth);
  const unsigned first_channel = blockIdx.y * kChannels;

  // Neighbouring threads take neighbouring pixels; all threads of a warp share their channels.
  const unsigned pixel_group = thread % (kPixels / kThreadPixels);
  const unsigned channel = thread / (kPixels / kThreadPixels) * kThreadChannels;
  const unsigned y = pixel_group / (kWidth / kThreadPixels);
  const unsigned x = pixel_group % (kWidth / kThreadPixels) * kThreadPixels;

  const std::size_t plane = static_cast<std::size_t>(sizes.height) * sizes.width;
  const T* const image_input = input + static_cast<std::size_t>(image) * sizes.inputs * plane;

  float sums[kThreadChannels][kThreadPixels] = {};
  for (unsigned first = 0; first < sizes.inputs; first += kDepth) {
    for (unsigned i = thread; i < kDepth * kPatch; i += kThreads) {
      const unsigned depth = i / kPatch;
      const unsigned row = i % kPatch / (kWidth + 2);
      const unsigned column = i % kPatch % (kWidth + 2);
      const int from_y = top + static_cast<int>(row) - 1;
      const int from_x = left + static_cast<int>(column) - 1;
      const bool inside = first + depth < sizes.inputs && from_y >= 0 && from_x >= 0 &&
                          from_y < static_cast<int>(sizes.height) &&
                          from_x < static_cast<int>(sizes.width);
      patch[depth][row][column] =
          inside ? to_float(image_input[(first + depth) * plane +
                                        static_cast<std::size_t>(from_y) * sizes.width +
                                        static_cast<std::size_t>(from_x)])
                 : 0.0F;
    }
    for (unsigned i = thread; i < kDepth * 9 * kChannels; i += kThreads) {
      const unsigned row = i / kChannels;
      const unsigned depth = row / 9;
      taps[depth][row % 9][i % kChannels] =
          first + depth < sizes.inputs
              ? to_float(weights[(static_cast<std::size_t>(first) * 9 + row) *
                                     sizes.padded_outputs +
                                 first_channel + i % kChannels])
              : 0.0F;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned depth = 0; depth < kDepth; ++depth) {
#pragma unroll
      for (unsigned ky = 0; ky < 3; ++ky) {
        const float* const row = &patch[depth][y + ky][x];
        const float4 low = *reinterpret_cast<const float4*>(row);
        const float2 high = *reinterpret_cast<const float2*>(row + 4);
        const float window[6] = {low.x, low.y, low.z, low.w, high.x, high.y};
#pragma unroll
        for (unsigned kx = 0; kx < 3; ++kx) {
          const float4* const by = reinterpret_cast<const float4*>(&taps[depth][ky * 3 + kx][channel]);
          const float4 a = by[0];
          const float4 b = by[1];
          const float weight[kThreadChannels] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
          for (unsigned c = 0; c < kThreadChannels; ++c)
#pragma unroll
            for (unsigned p = 0; p < kThreadPixels; ++p) sums[c][p] += weight[c] * window[kx + p];
        }
      }
    }
    __syncthreads();
  }

  const unsigned to_y = static_cast<unsigned>(top) + y;
  const unsigned to_x = static_cast<unsigned>(left) + x;
  if (to_y >= sizes.height) return;
#pragma unroll
  for (unsigned c = 0; c < kThreadChannels; ++c) {
    const unsigned out = first_channel + channel + c;
    if (out >= sizes.outputs) break;
    T* const row = output +
                   (static_cast<std::size_t>(image) * sizes.outputs + out) * plane +
                   static_cast<std::size_t>(to_y) * sizes.width;
#pragma unroll
    for (unsigned p = 0; p < kThreadPixels; ++p)
      if (to_x + p < sizes.width) row[to_x + p] = from_float<T>(sums[c][p] + bias[out]);
  }
}

template <typename T, unsigned kChannels, unsigned kWidth>
void launch_tiles(const ConvolutionArguments& arguments, cudaStream_t stream) {
  const TensorShape& shape = arguments.input_shape;
  const std::size_t tiles_x = divide_up(shape.width, kWidth);
  const std::size_t tiles = tiles_x * divide_up(shape.height, kPixels / kWidth);
  const ConvolutionSizes sizes = {
      static_cast<unsigned>(shape.channels),
      static_cast<unsigned>(arguments.output_channels),
      static_cast<unsigned>(divide_up(arguments.output_channels, kWidestChannelTile) *
                            kWidestChannelTile),
      static_cast<unsigned>(shape.height),
      static_cast<unsigned>(shape.width),
      static_cast<unsigned>(tiles_x),
      grid_size(tiles)};
  launch(convolution_3x3<T, kChannels, kWidth>,
         dim3(grid_size(checked_multiply(tiles, shape.batch)),
              static_cast<unsigned>(divide_up(arguments.output_channels, kChannels))),
         dim3(kPixels / kThreadPixels * kChannels / kThreadChannels), stream,
         static_cast<const T*>(arguments.input), static_cast<const T*>(arguments.weights),
         arguments.bias, static_cast<T*>(arguments.output), sizes);
}

template <typename T, unsigned kChannels>
void launch_channels(const ConvolutionArguments& arguments, cudaStream_t stream) {
  const std::size_t width = arguments.input_shape.width;
  // Tiles as wide as they can be without lying beyond the image for the most part.
  if (width > 16) return launch_tiles<T, kChannels, 32>(arguments, stream);
  if (width > 8) return launch_tiles<T, kChannels, 16>(arguments, stream);
  launch_tiles<T, kChannels, 8>(arguments, stream);
}

}  // namespace

void launch_convolution(const ConvolutionArguments& arguments, cudaStream_t stream) {
  with_element(arguments.type, [&](auto element) {
    using T = decltype(element);
    const std::size_t outputs = arguments.output_channels;
    if (outputs <= 16) return launch_channels<T, 16>(arguments, stream);
    if (outputs <= 32) return launch_channels<T, 32>(arguments, stream);
    launch_channels<T, 64>(arguments, stream);
  });
}

}  // namespace hydraconf::cuda
