// What an answer cannot be given for, as data: the caller shows it.
#pragma once

#include <stdexcept>
#include <string>

namespace chip_metrics {

/// `kind` is one of `library`, `library_version`, `library_answer`, `chip`, `metric`, `file`, `device`.
struct Failure : std::runtime_error {
  Failure(const char* kind_of_failure, const std::string& message)
      : std::runtime_error(message), kind(kind_of_failure) {}
  const char* kind;
};

}  // namespace chip_metrics
