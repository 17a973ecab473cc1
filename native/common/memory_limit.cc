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

/// A limit file of the control group as a container sees it: a number, or "max" for none.
std::size_t group_limit(const char* path) {
  std::size_t bytes = 0;
  std::ifstream file(path);
  return file >> bytes ? bytes : 0;
}

}  // namespace

std::size_t memory_limit() {
  std::size_t limit = physical_memory();
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::size_t group = group_limit(path);
    if (group > 0) limit = limit == 0 ? group : std::min(limit, group);
  }
  return limit;
}

}  // namespace hydraconf
