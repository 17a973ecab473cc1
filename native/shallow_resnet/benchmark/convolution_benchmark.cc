// How fast the convolution is, beside how fast this processor multiplies and adds at all. Both are
// measured in turns in one run, so that a busy machine slows both.
//
//   convolution_benchmark [--isa NAME] [--threads N]      prints one JSON document
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "common/json_writer.hpp"
#include "shallow_resnet/backend_registry.hpp"
#include "shallow_resnet/cpu/peaks.hpp"
#include "shallow_resnet/options.hpp"
#include "shallow_resnet/parameters.hpp"

namespace hydraconf {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Case {
  std::string name;
  std::size_t batch;
  std::size_t in_channels;
  std::size_t out_channels;
  std::size_t image_size;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"stem", 4, 3, 16, 64},           {"block", 4, 16, 16, 64},
      {"block, odd image", 4, 16, 16, 65}, {"wide block", 2, 64, 64, 56},
      {"deep block", 1, 256, 256, 14},
  };
  return all;
}

/// One convolution, ready to launch.
class Subject {
 public:
  Subject(Backend& backend, const Case& c) {
    const TensorShape input = {c.batch, c.in_channels, c.image_size, c.image_size};
    const TensorShape output = {c.batch, c.out_channels, c.image_size, c.image_size};
    const HostTensor weight = {{c.out_channels, c.in_channels, 3, 3},
                               random_input(c.out_channels * c.in_channels * 9, 1)};
    const HostTensor bias = {{c.out_channels}, random_input(c.out_channels, 2)};
    const BufferId from = backend.allocate(input);
    const BufferId to = backend.allocate(output);
    backend.upload(from, random_input(input.count(), 3));
    operation_ = backend.convolution(from, to, weight, bias);
    flops_ = static_cast<double>(output.count()) * (18.0 * static_cast<double>(c.in_channels) + 1);
  }

  /// FLOP per second over at least `seconds`.
  double rate(double seconds) {
    const Clock::time_point begin = Clock::now();
    double done = 0;
    double taken = 0;
    do {
      operation_->launch();
      done += flops_;
      taken = seconds_since(begin);
    } while (taken < seconds);
    return done / taken;
  }

 private:
  std::unique_ptr<Operation> operation_;
  double flops_ = 0;
};

void run(const BackendSettings& settings) {
  constexpr int kTurns = 5;
  constexpr double kSeconds = 0.05;
  const std::unique_ptr<Backend> backend = make_backend({}, settings);
  cpu::Context context = {
      cpu::select_kernels(settings.isa),
      ThreadPool(settings.threads == 0 ? available_processors() : settings.threads)};

  JsonWriter json;
  json.begin_object();
  json.key("isa").string(context.kernels.isa);
  json.key("threads").integer(context.pool.size());
  json.key("convolutions").begin_array();
  for (const Case& c : cases()) {
    Subject subject(*backend, c);
    subject.rate(kSeconds);
    double best = 0;
    double best_fma = 0;
    for (int turn = 0; turn < kTurns; ++turn) {
      best_fma = std::max(best_fma, cpu::multiply_add_rate(context, kSeconds));
      best = std::max(best, subject.rate(kSeconds));
    }
    json.begin_object();
    json.key("name").string(c.name);
    json.key("input").shape({c.batch, c.in_channels, c.image_size, c.image_size});
    json.key("out_channels").integer(c.out_channels);
    json.key("gflops_per_second").number(best / 1e9);
    json.key("fma_gflops_per_second").number(best_fma / 1e9);
    json.key("fraction").number(best / best_fma);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  std::fputs(json.text().c_str(), stdout);
}

}  // namespace
}  // namespace hydraconf

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    hydraconf::run(hydraconf::parse_options(arguments).backend);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convolution_benchmark: %s\n", error.what());
    return 1;
  }
}
