#include "other_injection.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>

namespace region_recorder {

const char* other_library_in(const char* variable) noexcept {
  const char* const path = getenv(variable);
  if (path == nullptr || *path == '\0') return nullptr;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&other_library_in), &own) == 0 ||
      own.dli_fname == nullptr) {
    return nullptr;
  }
  // A bare name is for the linker to find.
  if (std::strchr(path, '/') == nullptr) {
    const char* const slash = std::strrchr(own.dli_fname, '/');
    const char* const name = slash == nullptr ? own.dli_fname : slash + 1;
    return std::strcmp(path, name) == 0 ? nullptr : path;
  }
  struct stat theirs {};
  struct stat ours {};
  if (stat(path, &theirs) != 0) return nullptr;
  const bool is_this = stat(own.dli_fname, &ours) == 0 && theirs.st_dev == ours.st_dev &&
                       theirs.st_ino == ours.st_ino;
  return is_this ? nullptr : path;
}

}  // namespace region_recorder
