// Files that are open for a moment.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

namespace region_recorder {

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }
  bool valid() const noexcept { return value_ >= 0; }

  // False with errno set: network file systems tell here that something could not be written.
  bool close() noexcept {
    const int value = value_;
    value_ = -1;
    return ::close(value) == 0 || errno == EINTR;
  }

 private:
  int value_;
};

// As it is, or one with a higher number in its place.
inline int above_standard_streams(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  const Descriptor low(file);
  return fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

// As open(2), but never interrupted (network file systems are), and never 0, 1 or 2: a program without
// standard streams must not print into the recording.
inline int open_descriptor(const char* path, int flags, mode_t mode = 0) {
  int file = ::open(path, flags | O_CLOEXEC, mode);
  while (file < 0 && errno == EINTR) {
    // It may have made the file all the same: no other process's file has our number and our time in its name.
    flags = (flags & ~O_EXCL) | O_NOFOLLOW;
    file = ::open(path, flags | O_CLOEXEC, mode);
  }
  return above_standard_streams(file);
}

// Writing beyond this limit would not fail but kill the process with SIGXFSZ.
inline bool exceeds_size_limit(std::uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace region_recorder
