#include "common/nearest.hpp"
#include "shallow_resnet/cpu/kernels.hpp"

namespace hydraconf::cpu {
namespace {

struct Variant {
  std::string name;
  const Kernels* kernels;
};

/// Best first.
std::vector<Variant> variants() {
  return {{"avx512", kernels_avx512()},
          {"avx2", kernels_avx2()},
          {kernels_baseline()->isa, kernels_baseline()}};
}

}  // namespace

std::vector<std::string> usable_isas() {
  std::vector<std::string> names;
  for (const Variant& variant : variants())
    if (variant.kernels != nullptr) names.push_back(variant.name);
  return names;
}

const Kernels& select_kernels(std::string_view isa) {
  std::vector<std::string> known = {"auto"};
  for (const Variant& variant : variants()) {
    known.push_back(variant.name);
    if (isa == "auto" && variant.kernels != nullptr) return *variant.kernels;
    if (isa != variant.name) continue;
    if (variant.kernels != nullptr) return *variant.kernels;
    throw InputError("--isa " + variant.name + ": this processor does not have these instructions");
  }
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  throw UsageError("--isa: '" + std::string(isa) + "' is not one of " + list +
                   did_you_mean(isa, known));
}

}  // namespace hydraconf::cpu
