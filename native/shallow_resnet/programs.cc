#include "shallow_resnet/programs.hpp"

#include <chrono>

#include "nvtx/nvtx.hpp"

namespace hydraconf {
namespace {

double timed_forward(Network& network) {
  const auto begin = std::chrono::steady_clock::now();
  network.forward(Annotate::yes);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  return taken.count();
}

/// A around one forward pass and, nested, A::A1 around another; then B around a third.
void run_regions(Network& network, std::vector<PassTiming>& timings) {
  const nvtx::Domain& domain = nvtx::Domain::default_domain();
  {
    const nvtx::ScopedRange a(domain, "A");
    timings.push_back({"A", timed_forward(network)});
    const nvtx::ScopedRange a1(domain, "A::A1");
    timings.push_back({"A::A1", timed_forward(network)});
  }
  const nvtx::ScopedRange b(domain, "B");
  timings.push_back({"B", timed_forward(network)});
}

}  // namespace

std::vector<PassTiming> run_program(Network& network, Program program, std::size_t warmup,
                                    std::size_t iterations) {
  for (std::size_t i = 0; i < warmup; ++i) network.forward(Annotate::no);
  std::vector<PassTiming> timings;
  for (std::size_t i = 0; i < iterations; ++i) {
    if (program == Program::regions) {
      run_regions(network, timings);
    } else {
      timings.push_back({"", timed_forward(network)});
    }
  }
  return timings;
}

}  // namespace hydraconf
