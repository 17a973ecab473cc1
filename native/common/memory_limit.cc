#include "common/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace hydraconf {
namespace {

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_size <= 0) return 0;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size);
}

/// The smaller of two limits, of which 0 is none.
std::size_t stricter(std::size_t a, std::size_t b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

/// A limit file: a number, or "max" for none.
std::size_t limit_in(const std::string& path) {
  std::size_t bytes = 0;
  std::ifstream file(path);
  return file >> bytes ? bytes : 0;
}

/// A control group's and those above it: any of them may be the one with a limit. `group` begins with a slash.
std::size_t limit_along(const std::string& root, std::string group, const std::string& name) {
  std::size_t limit = 0;
  for (;;) {
    limit = stricter(limit, limit_in(root + group + "/" + name));
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return limit;
    group.erase(slash);
  }
}

/// Whether a list with commas has the word.
bool lists(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

std::size_t group_memory_limit(std::istream& groups, const std::string& root) {
  // What a container sees as its root may be a group with a limit that no line names.
  std::size_t limit = stricter(limit_in(root + "/memory.max"),
                               limit_in(root + "/memory/memory.limit_in_bytes"));
  std::string line;
  while (std::getline(groups, line)) {
    // `hierarchy:controllers:group`; version 2 has number 0 and names no controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) limit = stricter(limit, limit_along(root, group, "memory.max"));
    if (lists(controllers, "memory"))
      limit = stricter(limit, limit_along(root + "/memory", group, "memory.limit_in_bytes"));
  }
  return limit;
}

std::size_t memory_limit() {
  std::ifstream groups("/proc/self/cgroup");
  return stricter(physical_memory(), group_memory_limit(groups, "/sys/fs/cgroup"));
}

}  // namespace hydraconf
