#include "shallow_resnet/cpu/peaks.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "common/aligned_buffer.hpp"

namespace hydraconf::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls `work`, which returns how much it did, until `seconds` are over, and a few times at least.
/// Its best call counts: all else that happens on a machine only ever makes it slower.
template <typename Work>
double best_rate(double seconds, const Work& work) {
  constexpr int kLeast = 10;
  double best = 0;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  for (int call = 0; call < kLeast || std::chrono::duration<double>(last - begin).count() < seconds;
       ++call) {
    const double done = work();
    const Clock::time_point now = Clock::now();
    best = std::max(best, done / std::chrono::duration<double>(now - last).count());
    last = now;
  }
  return best;
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
  return best_rate(seconds, [&] {
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
  // A call goes through a part of them, short beside the time slices of a busy machine, and the next
  // one goes on from there.
  constexpr std::size_t kPartsOfCall = 32;
  AlignedBuffer into(kPixels * kLanes);
  const AlignedBuffer other(kPixels * kLanes);
  std::size_t next = 0;
  return best_rate(seconds, [&] {
    const std::size_t begin = std::exchange(next, (next + kPartsOfCall) % kParts);
    context.pool.for_each(kPartsOfCall, [&](std::size_t first, std::size_t last) {
      for (std::size_t part = first; part < last; ++part) {
        const std::size_t at = (begin + part) * (kPixels / kParts) * kLanes;
        context.kernels.add_relu(into.data() + at, other.data() + at, kPixels / kParts);
      }
    });
    return 3.0 * static_cast<double>(kPixels / kParts * kPartsOfCall * kLanes * sizeof(float));
  });
}

}  // namespace hydraconf::cpu
