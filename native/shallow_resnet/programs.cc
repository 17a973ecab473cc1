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

std::vector<PassTiming> run_forward(Network& network, std::size_t iterations) {
  std::vector<PassTiming> timings;
  timings.reserve(iterations);
  for (std::size_t i = 0; i < iterations; ++i) timings.push_back({"", timed_forward(network)});
  return timings;
}

/// A around one forward pass and, nested, A::A1 around another; then B around a third.
std::vector<PassTiming> run_regions(Network& network) {
  const nvtx::Domain& domain = nvtx::Domain::default_domain();
  std::vector<PassTiming> timings;
  {
    const nvtx::ScopedRange a(domain, "A");
    timings.push_back({"A", timed_forward(network)});
    const nvtx::ScopedRange a1(domain, "A::A1");
    timings.push_back({"A::A1", timed_forward(network)});
  }
  const nvtx::ScopedRange b(domain, "B");
  timings.push_back({"B", timed_forward(network)});
  return timings;
}

}  // namespace

std::vector<PassTiming> run_program(Network& network, Program program, std::size_t warmup,
                                    std::size_t iterations) {
  for (std::size_t i = 0; i < warmup; ++i) network.forward(Annotate::no);
  return program == Program::regions ? run_regions(network) : run_forward(network, iterations);
}

}  // namespace hydraconf
