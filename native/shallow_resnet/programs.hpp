// What the executable does with a network: the programs behind `--program`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shallow_resnet/network.hpp"
#include "shallow_resnet/options.hpp"

namespace hydraconf {

/// Wall time of one forward pass.
struct PassTiming {
  /// The program's own range around it; empty for `forward`, which opens none.
  std::string range;
  double milliseconds = 0;
};

/// Warm-up without ranges, then the program; one entry per forward pass. `iterations` are those of
/// `forward`; `regions` makes its three passes once.
std::vector<PassTiming> run_program(Network& network, Program program, std::size_t warmup,
                                    std::size_t iterations);

}  // namespace hydraconf
