#include "common/processor_name.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "common/arm_processors.hpp"

namespace hydraconf {
namespace {

struct Field {
  std::string name;
  std::string value;
};

/// `CPU part	: 0xd4f`: names are padded with tabs.
std::optional<Field> parse_field(const std::string& line) {
  const auto trimmed = [](const std::string& text) {
    constexpr const char* kBlanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string::npos) return std::string();
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  };
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Field{trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

/// One kind of core, as the lines of one processor tell it.
struct ArmCore {
  std::optional<unsigned long> implementer;
  unsigned long variant = 0;
  unsigned long part = 0;
};

/// `revision` ends the lines of one processor.
std::string arm_name(const ArmCore& core, unsigned long revision) {
  char text[96];
  for (const ArmProcessor& known : kArmProcessors) {
    if (known.implementer != core.implementer || known.part != core.part) continue;
    std::snprintf(text, sizeof(text), "%s r%lup%lu", known.name, core.variant, revision);
    return text;
  }
  std::snprintf(text, sizeof(text), "ARM implementer 0x%02lx part 0x%03lx r%lup%lu",
                *core.implementer, core.part, core.variant, revision);
  return text;
}

}  // namespace

std::string processor_name_in(std::istream& cpuinfo) {
  ArmCore core;
  std::vector<std::string> kinds;
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const std::optional<Field> field = parse_field(line);
    if (!field) continue;
    const std::string& name = field->name;
    const std::string& value = field->value;
    const auto number = [&value] { return std::strtoul(value.c_str(), nullptr, 0); };
    if (name == "model name" && !value.empty()) return value;
    if (name == "CPU implementer") core = ArmCore{number(), 0, 0};
    if (name == "CPU variant") core.variant = number();
    if (name == "CPU part") core.part = number();
    if (name != "CPU revision" || !core.implementer) continue;
    std::string kind = arm_name(core, number());
    bool is_new = true;
    for (const std::string& other : kinds) is_new = is_new && other != kind;
    if (is_new) kinds.push_back(std::move(kind));
  }
  std::string all;
  for (const std::string& kind : kinds) all += (all.empty() ? "" : " + ") + kind;
  return all;
}

std::string processor_name() {
#if defined(__APPLE__)
  char name[256] = {};
  std::size_t length = sizeof(name) - 1;
  if (sysctlbyname("machdep.cpu.brand_string", name, &length, nullptr, 0) == 0 && *name != '\0')
    return name;
  return "unknown";
#else
  std::ifstream cpuinfo("/proc/cpuinfo");
  const std::string name = processor_name_in(cpuinfo);
  return name.empty() ? "unknown" : name;
#endif
}

}  // namespace hydraconf
