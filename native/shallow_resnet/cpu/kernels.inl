// The kernels, written once on vectors of the compiler and included by one file per instruction
// set, which defines:
//   HYDRACONF_KERNELS        namespace, so that no two sets of instructions share a symbol
//   HYDRACONF_VECTOR_BYTES   width of a vector register
//   HYDRACONF_PIXEL_TILE     pixels held in registers by the convolution
//   HYDRACONF_ISA            name shown to people
// Nothing of the standard library may be used here: its inline functions would be compiled for the
// wider instruction set and the linker could pick that copy for the whole program.

namespace hydraconf::cpu {
namespace HYDRACONF_KERNELS {

// may_alias: these are windows onto arrays of float.
typedef float Vector __attribute__((vector_size(HYDRACONF_VECTOR_BYTES), may_alias));

constexpr std::size_t kWidth = HYDRACONF_VECTOR_BYTES / sizeof(float);
constexpr std::size_t kVectors = kLanes / kWidth;
constexpr std::size_t kTile = HYDRACONF_PIXEL_TILE;

#if defined(__clang__)
#define HYDRACONF_UNROLL _Pragma("unroll")
#else
#define HYDRACONF_UNROLL _Pragma("GCC unroll 32")
#endif

static inline Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
static inline void store(float* to, Vector value) { *reinterpret_cast<Vector*>(to) = value; }
/// A NaN stays one, as in PyTorch: it must reach the logits, not disappear half way.
static inline Vector relu_of(Vector value) {
  const Vector zero = {};
  return zero > value ? zero : value;
}

/// `Tile` neighbouring pixels x 16 output channels stay in registers over the whole sum: per
/// input value one broadcast, per 16 weights one load, used for `Tile` pixels.
template <std::size_t Tile>
static inline void convolve_tile(const ConvolutionRow& row, std::size_t x) {
  Vector sums[Tile][kVectors];
  HYDRACONF_UNROLL for (std::size_t t = 0; t < Tile; ++t)
    HYDRACONF_UNROLL for (std::size_t v = 0; v < kVectors; ++v)
      sums[t][v] = load(row.bias + v * kWidth);

  const float* weights = row.weights;
  const float* plane = row.input + x * kLanes - row.input_row_stride - kLanes;
  for (std::size_t first = 0; first < row.input_channels; first += kLanes) {
    const std::size_t left = row.input_channels - first;
    const std::size_t channels = left < kLanes ? left : kLanes;
    for (std::size_t ky = 0; ky < 3; ++ky) {
      for (std::size_t kx = 0; kx < 3; ++kx) {
        const float* tap = plane + ky * row.input_row_stride + kx * kLanes;
        for (std::size_t channel = 0; channel < channels; ++channel) {
          Vector weight[kVectors];
          HYDRACONF_UNROLL for (std::size_t v = 0; v < kVectors; ++v)
            weight[v] = load(weights + v * kWidth);
          HYDRACONF_UNROLL for (std::size_t t = 0; t < Tile; ++t) {
            const float value = tap[t * kLanes + channel];
            HYDRACONF_UNROLL for (std::size_t v = 0; v < kVectors; ++v)
              sums[t][v] += weight[v] * value;
          }
          weights += kLanes;
        }
      }
    }
    plane += row.input_plane_stride;
  }

  float* output = row.output + x * kLanes;
  HYDRACONF_UNROLL for (std::size_t t = 0; t < Tile; ++t)
    HYDRACONF_UNROLL for (std::size_t v = 0; v < kVectors; ++v)
      store(output + t * kLanes + v * kWidth, sums[t][v]);
}

/// Covers the row with tiles of one size. The last tile is moved left to end with the row: a few
/// pixels are computed twice, to the same value, instead of by slower code for the rest.
template <std::size_t Tile>
static void convolve_row_by(const ConvolutionRow& row) {
  for (std::size_t x = 0; x < row.width; x += Tile)
    convolve_tile<Tile>(row, x + Tile <= row.width ? x : row.width - Tile);
}

template <std::size_t Tile>
static void convolve_row_at_most(const ConvolutionRow& row) {
  if constexpr (Tile == 1) {
    convolve_row_by<1>(row);
  } else {
    if (row.width >= Tile) return convolve_row_by<Tile>(row);
    convolve_row_at_most<Tile / 2>(row);
  }
}

static void convolve_row(const ConvolutionRow& row) { convolve_row_at_most<kTile>(row); }

static void scale_shift(float* data, std::size_t pixels, const float* scale, const float* shift,
                        bool relu) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Vector by = load(scale + v * kWidth);
    const Vector plus = load(shift + v * kWidth);
    float* at = data + v * kWidth;
    if (relu) {
      for (std::size_t i = 0; i < pixels; ++i, at += kLanes) store(at, relu_of(load(at) * by + plus));
    } else {
      for (std::size_t i = 0; i < pixels; ++i, at += kLanes) store(at, load(at) * by + plus);
    }
  }
}

static void add_relu(float* into, const float* other, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels * kLanes; i += kWidth)
    store(into + i, relu_of(load(into + i) + load(other + i)));
}

static void sum(const float* data, std::size_t pixels, float* sums) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    // Four chains of additions: one alone would wait for each addition to finish.
    Vector total[4] = {};
    const float* at = data + v * kWidth;
    std::size_t i = 0;
    for (; i + 4 <= pixels; i += 4)
      HYDRACONF_UNROLL for (std::size_t k = 0; k < 4; ++k) total[k] += load(at + (i + k) * kLanes);
    for (; i < pixels; ++i) total[0] += load(at + i * kLanes);
    store(sums + v * kWidth, (total[0] + total[1]) + (total[2] + total[3]));
  }
}

static void square_deviation(const float* data, std::size_t pixels, const float* mean,
                             float* sums) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Vector centre = load(mean + v * kWidth);
    Vector total[4] = {};
    const float* at = data + v * kWidth;
    std::size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
      HYDRACONF_UNROLL for (std::size_t k = 0; k < 4; ++k) {
        const Vector off = load(at + (i + k) * kLanes) - centre;
        total[k] += off * off;
      }
    }
    for (; i < pixels; ++i) {
      const Vector off = load(at + i * kLanes) - centre;
      total[0] += off * off;
    }
    store(sums + v * kWidth, (total[0] + total[1]) + (total[2] + total[3]));
  }
}

static double fma_burst(std::size_t rounds, float* sink) {
  // Enough independent chains to cover latency times ports on any current core (4 x 2), few enough
  // for the 16 registers of SSE and AVX.
  constexpr std::size_t kChains = 12;
  Vector chains[kChains];
  HYDRACONF_UNROLL for (std::size_t c = 0; c < kChains; ++c) {
    const Vector zero = {};
    chains[c] = zero + static_cast<float>(c + 1);
  }
  const Vector factor = load(sink);
  const Vector addend = load(sink + kLanes);
  for (std::size_t i = 0; i < rounds; ++i)
    HYDRACONF_UNROLL for (std::size_t c = 0; c < kChains; ++c)
      chains[c] = chains[c] * factor + addend;
  Vector total = chains[0];
  HYDRACONF_UNROLL for (std::size_t c = 1; c < kChains; ++c) total += chains[c];
  store(sink, total);
  return 2.0 * static_cast<double>(kWidth * kChains) * static_cast<double>(rounds);
}

static constexpr Kernels kTable = {HYDRACONF_ISA, convolve_row, scale_shift, add_relu,
                                   sum,           square_deviation, fma_burst};

}  // namespace HYDRACONF_KERNELS
}  // namespace hydraconf::cpu
