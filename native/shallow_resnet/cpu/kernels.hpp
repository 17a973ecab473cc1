// The inner loops of the CPU backend, compiled once per instruction set and picked at run time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "shallow_resnet/cpu/blocked_tensor.hpp"

namespace hydraconf::cpu {

/// One output row of one block of 16 output channels.
struct ConvolutionRow {
  /// Pixel (0, y) of channel block 0; the window around it is read, border included.
  const float* input;
  std::size_t input_row_stride;
  std::size_t input_plane_stride;
  std::size_t input_channels;
  /// [input channel block][ky][kx][input channel in block][16 output lanes], as `pack_weights` lays.
  const float* weights;
  /// 16 lanes.
  const float* bias;
  float* output;
  std::size_t width;
};

/// Pixels are groups of 16 lanes; every pointer is a multiple of 16 floats into aligned storage.
struct Kernels {
  const char* isa;
  void (*convolve_row)(const ConvolutionRow& row);
  /// data = data * scale + shift, then max(., 0) if `relu`. 16 lanes each.
  void (*scale_shift)(float* data, std::size_t pixels, const float* scale, const float* shift,
                      bool relu);
  /// into = max(into + other, 0).
  void (*add_relu)(float* into, const float* other, std::size_t pixels);
  /// sums[lane] = sum over the pixels.
  void (*sum)(const float* data, std::size_t pixels, float* sums);
  /// sums[lane] = sum over the pixels of (data - mean)^2.
  void (*square_deviation)(const float* data, std::size_t pixels, const float* mean, float* sums);
  /// To find out the processor's peak: independent multiply-adds in registers. Returns how many FLOP it did; `sink`
  /// gets a value that depends on all of them.
  double (*fma_burst)(std::size_t rounds, float* sink);
};

/// Each null where this build or this processor has no such instructions.
const Kernels* kernels_avx512();
const Kernels* kernels_avx2();
/// What every processor of the target architecture runs.
const Kernels* kernels_baseline();

/// Names usable on this machine, best first.
std::vector<std::string> usable_isas();

/// `auto` is the best. Throws UsageError for an unknown name, InputError where this machine lacks it.
const Kernels& select_kernels(std::string_view isa);

}  // namespace hydraconf::cpu
