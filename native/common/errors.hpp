// The two ways a program of ours refuses to work; main() turns them into exit codes.
#pragma once

#include <stdexcept>

namespace hydraconf {

/// The command line itself is wrong: exit code 2, and the text points at --help.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line is fine, but a file, a device or a size it names cannot be used: exit code 1.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace hydraconf
