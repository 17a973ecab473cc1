#include "shallow_resnet/cpu/peaks.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "common/aligned_buffer.hpp"

namespace hydraconf::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls `work`, which returns how much it did, until `seconds` are over.
template <typename Work>
double rate(double seconds, const Work& work) {
  const Clock::time_point begin = Clock::now();
  double done = 0;
  std::chrono::duration<double> taken{};
  do {
    done += work();
    taken = Clock::now() - begin;
  } while (taken.count() < seconds);
  return done / taken.count();
}

}  // namespace

double multiply_add_rate(Context& context, double seconds) {
  constexpr std::size_t kRounds = 20'000;
  ThreadPool& pool = context.pool;
  std::vector<AlignedBuffer> sinks;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    sinks.emplace_back(2 * kLanes);
    std::fill_n(sinks.back().data() + kLanes, kLanes, 0.001F);
  }
  std::vector<double> flops(pool.size());
  return rate(seconds, [&] {
    pool.for_each(pool.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        // A factor just below one and a small addend keep the values finite and normal for ever.
        std::fill_n(sinks[i].data(), kLanes, 0.999F);
        flops[i] = context.kernels.fma_burst(kRounds, sinks[i].data());
      }
    });
    double sum = 0;
    for (const double flop : flops) sum += flop;
    return sum;
  });
}

double memory_rate(Context& context, double seconds) {
  // 64 MiB in all.
  constexpr std::size_t kPixels = std::size_t{1} << 19u;
  constexpr std::size_t kParts = 256;
  AlignedBuffer into(kPixels * kLanes);
  const AlignedBuffer other(kPixels * kLanes);
  return rate(seconds, [&] {
    context.pool.for_each(kParts, [&](std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        const std::size_t at = part * (kPixels / kParts) * kLanes;
        context.kernels.add_relu(into.data() + at, other.data() + at, kPixels / kParts);
      }
    });
    return 3.0 * static_cast<double>(kPixels * kLanes * sizeof(float));
  });
}

}  // namespace hydraconf::cpu
