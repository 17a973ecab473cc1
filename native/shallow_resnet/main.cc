// shallow_resnet: runs the model under NVTX ranges and prints a JSON document about the run.
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "common/memory_limit.hpp"
#include "shallow_resnet/backend_registry.hpp"
#include "shallow_resnet/build_info.hpp"
#include "shallow_resnet/model_registry.hpp"
#include "shallow_resnet/options.hpp"
#include "shallow_resnet/programs.hpp"
#include "shallow_resnet/report.hpp"
#include "shallow_resnet/safetensors.hpp"

namespace hydraconf {
namespace {

/// Refuses before allocating what the system would hand out and then kill the process for using.
void check_memory(const Options& options) {
  const std::size_t needed = estimated_host_bytes(options.sizes, options.input_shape,
                                                  options.device.kind == "cpu");
  const std::size_t present = memory_limit();
  if (present == 0 || needed <= present) return;
  throw InputError("these sizes need about " + std::to_string(needed >> 20u) +
                   " MiB of memory; there are " + std::to_string(present >> 20u) + " MiB here");
}

TensorMap load_parameters(const Options& options, const std::vector<ParameterSpec>& specs) {
  if (options.weights.empty()) return initial_parameters(specs, options.seed);
  TensorMap parameters = read_safetensors(options.weights);
  check_parameters(options.weights, specs, parameters);
  return parameters;
}

std::vector<float> load_input(const Options& options, const TensorShape& shape) {
  if (options.input.empty()) return random_input(shape.count(), options.seed);
  TensorMap tensors = read_safetensors(options.input);
  const auto found = tensors.find("x");
  if (found == tensors.end()) throw InputError(options.input + " holds no tensor 'x'");
  if (found->second.sizes != shape.sizes())
    throw InputError(options.input + ": tensor 'x' is " + sizes_text(found->second.sizes) +
                     ", expected " + sizes_text(shape.sizes()) +
                     " (--batch-size, --in-channels, --image-size)");
  return std::move(found->second.values);
}

void save_parameters(const std::string& path, const std::vector<ParameterSpec>& specs,
                     const TensorMap& parameters) {
  std::vector<std::pair<std::string, const HostTensor*>> tensors;
  for (const ParameterSpec& spec : specs)
    tensors.emplace_back(spec.name, &parameters.at(spec.name));
  write_safetensors(path, tensors);
}

void save_output(const Options& options, Network& network, const std::vector<float>& logits) {
  const HostTensor logits_tensor = {network.logits_sizes(), logits};
  std::vector<std::pair<std::string, const HostTensor*>> tensors = {{"logits", &logits_tensor}};
  HostTensor stem;
  HostTensor residual;
  if (options.save_activations) {
    // The stages share a buffer, so they are looked at in one more pass, unseen by profilers.
    network.stem(Annotate::no);
    stem = {network.feature_shape().sizes(), network.features()};
    network.residual(Annotate::no);
    residual = {network.feature_shape().sizes(), network.features()};
    tensors.insert(tensors.end(), {{"stem", &stem}, {"residual", &residual}});
  }
  write_safetensors(options.output, tensors);
}

void check_finite(const std::vector<float>& logits, DataType type) {
  for (const float value : logits)
    if (!std::isfinite(value))
      throw InputError(
          std::string("the logits are not finite: parameters or input are too large for ") +
          data_type_name(type));
}

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw InputError("cannot write to standard output");
}

void run(const Options& options) {
  const Model& model = find_model(options.model);
  check_memory(options);
  const std::unique_ptr<Backend> backend = make_backend(options.device, options.backend);
  const std::vector<ParameterSpec> specs = model.parameters(options.sizes);
  const TensorMap parameters = load_parameters(options, specs);
  const std::unique_ptr<Network> network =
      model.make(*backend, options.sizes, options.input_shape, parameters, options.batch_norm);
  network->set_input(load_input(options, network->input_shape()));
  if (!options.save_weights.empty()) save_parameters(options.save_weights, specs, parameters);

  const std::vector<PassTiming> timings =
      run_program(*network, options.program, options.warmup, options.iterations);
  const std::vector<float> logits = network->logits();
  check_finite(logits, backend->data_type());
  if (!options.output.empty()) save_output(options, *network, logits);
  std::optional<DevicePeaks> peaks;
  if (options.peaks) peaks = backend->peaks();
  print(report_text({options, *backend, *network, specs, timings, logits,
                     peaks ? &*peaks : nullptr}));
}

std::string version_text() {
  return std::string("shallow_resnet ") + kVersion + " (" + compiler_name() +
         "; NVTX: " + kNvtxClient + ")\n";
}

std::string model_list() {
  std::string text;
  for (const Model& model : models()) text += model.name + "\t" + model.summary + "\n";
  return text;
}

void dispatch(const Options& options) {
  switch (options.request) {
    case Request::run: return run(options);
    case Request::help: return print(help_text());
    case Request::version: return print(version_text());
    case Request::list_models: return print(model_list());
  }
}

int fail(int code, const std::string& message) {
  std::fprintf(stderr, "shallow_resnet: %s\n", message.c_str());
  return code;
}

}  // namespace
}  // namespace hydraconf

int main(int argc, char** argv) {
  using namespace hydraconf;
  // A file beyond the limit on sizes is an error that is told, like a full disk, and no death on the way.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    dispatch(parse_options(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
    return 0;
  } catch (const UsageError& error) {
    return fail(2, std::string(error.what()) + "\nTry 'shallow_resnet --help'.");
  } catch (const std::bad_alloc&) {
    return fail(1, "not enough memory for these sizes");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
