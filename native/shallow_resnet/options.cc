#include "shallow_resnet/options.hpp"

#include <charconv>
#include <limits>

#include "common/nearest.hpp"

namespace hydraconf {
namespace {

/// One option as data: the parser and the help text read the same table.
struct OptionSpec {
  std::string name;
  /// Placeholder of the value in the help text; empty for a switch.
  std::string value;
  std::string help;
  void (*apply)(Options& options, const std::string& name, const std::string& value);
};

std::uint64_t whole_number(const std::string& name, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool parsed = error == std::errc() && rest == end && !text.empty();
  if (parsed && value >= least && value <= most) return value;
  const std::string range = "expected a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most);
  throw UsageError(name + ": '" + text + "' is not possible; " + range);
}

/// A size whose product with the others is checked later; the bound only keeps nonsense out.
std::size_t size_value(const std::string& name, const std::string& text) {
  return static_cast<std::size_t>(whole_number(name, text, 1, 65536));
}

std::string path_value(const std::string& name, const std::string& text) {
  if (text.empty()) throw UsageError(name + ": the file name is empty");
  return text;
}

template <typename Value>
Value choice(const std::string& name, const std::string& text,
             const std::vector<std::pair<std::string, Value>>& choices) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& [spelling, value] : choices) {
    if (spelling == text) return value;
    names.push_back(spelling);
    list += (list.empty() ? "" : " or ") + spelling;
  }
  throw UsageError(name + ": '" + text + "' is not possible; expected " + list +
                   did_you_mean(text, names));
}

// Every pass is listed in the document.
constexpr std::uint64_t kMostRuns = 1'000'000;

const std::vector<OptionSpec>& option_specs() {
  using Text = const std::string&;
  static const std::vector<OptionSpec> specs = {
      {"--model", "NAME", "model to run (default dummy_shallow_resnet; see --list-models)",
       [](Options& o, Text, Text v) { o.model = v; }},
      {"--in-channels", "N", "channels of the input images (default 3)",
       [](Options& o, Text n, Text v) { o.sizes.in_channels = size_value(n, v); }},
      {"--base-channels", "N", "channels of stem and residual blocks (default 16)",
       [](Options& o, Text n, Text v) { o.sizes.base_channels = size_value(n, v); }},
      {"--num-blocks", "N", "residual blocks (default 3)",
       [](Options& o, Text n, Text v) { o.sizes.num_blocks = size_value(n, v); }},
      {"--num-classes", "N", "outputs of the linear head (default 10)",
       [](Options& o, Text n, Text v) { o.sizes.num_classes = size_value(n, v); }},
      {"--batch-size", "N", "images per forward pass (default 4)",
       [](Options& o, Text n, Text v) { o.input_shape.batch_size = size_value(n, v); }},
      {"--image-size", "N", "height and width of the images (default 64)",
       [](Options& o, Text n, Text v) { o.input_shape.image_size = size_value(n, v); }},
      {"--device", "DEVICE", "cpu (default) or cuda:N",
       [](Options& o, Text, Text v) { o.device = parse_device(v); }},
      {"--dtype", "TYPE", "GPU: float32 (default), float16 or bfloat16; sums are float32",
       [](Options& o, Text n, Text v) {
         o.backend.data_type = choice<DataType>(n, v,
                                                {{"float32", DataType::float32},
                                                 {"float16", DataType::float16},
                                                 {"bfloat16", DataType::bfloat16}});
       }},
      {"--tf32", "", "GPU: float32 convolutions may round their inputs to TF32 (cuDNN only)",
       [](Options& o, Text, Text) { o.backend.tf32 = true; }},
      {"--gpu-library", "NAME",
       "GPU: cudnn or cuda (own kernels); auto (default): cudnn where built in",
       [](Options& o, Text n, Text v) {
         o.backend.gpu_library = choice<GpuLibrary>(n, v,
                                                    {{"auto", GpuLibrary::automatic},
                                                     {"cudnn", GpuLibrary::cudnn},
                                                     {"cuda", GpuLibrary::cuda}});
       }},
      {"--cuda-graph", "", "GPU: launch the layers of a range as one CUDA graph",
       [](Options& o, Text, Text) { o.backend.cuda_graph = true; }},
      {"--batch-norm", "MODE", "statistics: running (default, the stored ones) or batch",
       [](Options& o, Text n, Text v) {
         o.batch_norm = choice<BatchNormMode>(
             n, v, {{"running", BatchNormMode::running}, {"batch", BatchNormMode::batch}});
       }},
      {"--program", "PROGRAM",
       "forward (default): passes one by one; regions: A { A::A1 {} } B {}",
       [](Options& o, Text n, Text v) {
         o.program = choice<Program>(
             n, v, {{"forward", Program::forward}, {"regions", Program::regions}});
       }},
      {"--warmup", "N", "forward passes before measuring, without NVTX ranges (default 2)",
       [](Options& o, Text n, Text v) { o.warmup = whole_number(n, v, 0, kMostRuns); }},
      {"--iterations", "N", "forward passes of --program forward (default 10)",
       [](Options& o, Text n, Text v) { o.iterations = whole_number(n, v, 1, kMostRuns); }},
      {"--seed", "N", "seed of parameters and input where no file gives them (default 0)",
       [](Options& o, Text n, Text v) {
         o.seed = whole_number(n, v, 0, std::numeric_limits<std::uint64_t>::max());
       }},
      {"--weights", "FILE", "read the parameters (safetensors, PyTorch's names)",
       [](Options& o, Text n, Text v) { o.weights = path_value(n, v); }},
      {"--save-weights", "FILE", "write the parameters used (safetensors)",
       [](Options& o, Text n, Text v) { o.save_weights = path_value(n, v); }},
      {"--input", "FILE", "read the input, tensor 'x' (safetensors)",
       [](Options& o, Text n, Text v) { o.input = path_value(n, v); }},
      {"--output", "FILE", "write the result, tensor 'logits' (safetensors)",
       [](Options& o, Text n, Text v) { o.output = path_value(n, v); }},
      {"--save-activations", "", "add the tensors 'stem' and 'residual' to the output file",
       [](Options& o, Text, Text) { o.save_activations = true; }},
      {"--threads", "N", "CPU: threads (default: every processor available)",
       [](Options& o, Text n, Text v) { o.backend.threads = whole_number(n, v, 1, 1024); }},
      {"--isa", "NAME", "CPU: instruction set (default auto: the best this machine has)",
       [](Options& o, Text, Text v) { o.backend.isa = v; }},
      {"--peaks", "", "add what the device can do at most: FLOP/s and bytes/s of memory",
       [](Options& o, Text, Text) { o.peaks = true; }},
      {"--list-models", "", "print the names of the models",
       [](Options& o, Text, Text) { o.request = Request::list_models; }},
      {"--version", "", "print the version",
       [](Options& o, Text, Text) { o.request = Request::version; }},
      {"--help", "", "print this text",
       [](Options& o, Text, Text) { o.request = Request::help; }},
  };
  return specs;
}

const OptionSpec& find_option(const std::string& name) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : option_specs()) {
    if (spec.name == name) return spec;
    names.push_back(spec.name);
  }
  if (name.rfind('-', 0) != 0)
    throw UsageError("unexpected argument '" + name + "': every argument is an option" +
                     did_you_mean("--" + name, names));
  throw UsageError("unknown option '" + name + "'" + did_you_mean(name, names));
}

void check_together(const Options& options) {
  if (options.save_activations && options.output.empty())
    throw UsageError("--save-activations needs --output");
  if (options.batch_norm == BatchNormMode::batch && options.input_shape.batch_size == 1 &&
      options.input_shape.image_size == 1)
    throw UsageError(
        "--batch-norm batch needs more than one value per channel: raise --batch-size or "
        "--image-size");
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i] == "-h" ? std::string("--help") : arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const OptionSpec& spec = find_option(name);
    const bool attached = equals != std::string::npos;
    if (spec.value.empty()) {
      if (attached) throw UsageError(spec.name + " takes no value");
      spec.apply(options, spec.name, "");
    } else if (attached) {
      spec.apply(options, spec.name, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      spec.apply(options, spec.name, arguments[++i]);
    } else {
      throw UsageError(spec.name + " needs a value: " + spec.name + " " + spec.value);
    }
  }
  check_together(options);
  return options;
}

std::string help_text() {
  constexpr std::size_t kColumn = 26;
  std::string text =
      "Usage: shallow_resnet [options]\n"
      "\n"
      "Runs a small residual network and prints one JSON document about it: device, shapes,\n"
      "FLOPs and bytes per layer, timings, and a checksum of the logits. Its NVTX ranges are what\n"
      "deep-profile and other NVTX tools see.\n"
      "\n"
      "Options (--name VALUE or --name=VALUE):\n";
  for (const OptionSpec& spec : option_specs()) {
    std::string left = "  " + spec.name + (spec.value.empty() ? "" : " " + spec.value);
    left.append(left.size() < kColumn ? kColumn - left.size() : 1, ' ');
    text += left + spec.help + "\n";
  }
  return text +
         "\n"
         "Exit code: 0 done; 1 a file, device or size cannot be used; 2 wrong command line.\n";
}

}  // namespace hydraconf
