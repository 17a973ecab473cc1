// How much memory a process may use.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace hydraconf {

/// Bytes of physical memory, or of the control group (container, job of Slurm or systemd) where that is
/// less; 0 if unknown.
std::size_t memory_limit();

/// The strictest limit of the control groups that this process is in, by the lines of /proc/self/cgroup,
/// and of those above them, in the file system at `root`; 0 for none. Of either version of control groups.
std::size_t group_memory_limit(std::istream& groups, const std::string& root);

}  // namespace hydraconf
