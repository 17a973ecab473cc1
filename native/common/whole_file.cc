#include "common/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "common/errors.hpp"
#include "common/memory_limit.hpp"

namespace hydraconf {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
/// Those that a redirection names by a digit, as POSIX shells do.
constexpr int kDescriptors = 10;

using File = std::unique_ptr<std::FILE, FileCloser>;

[[noreturn]] void fail(const char* doing, const std::string& path, int code) {
  throw InputError(std::string("cannot ") + doing + " " + path + ": " +
                   std::generic_category().message(code));
}

/// Bytes in a regular file. Anything else may have no end (/dev/zero) or no writer (a pipe).
std::size_t regular_file_size(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) fail("read", path, errno);
  if (!S_ISREG(status.st_mode)) throw InputError("cannot read " + path + ": not a regular file");
  return static_cast<std::size_t>(status.st_size);
}

/// What a path leads to through links, if that is a regular file or, without any link, is yet to be; none where
/// something else is there.
std::optional<std::string> replaceable(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return path;
  if (S_ISREG(status.st_mode)) return path;
  const std::unique_ptr<char, void (*)(void*)> target(realpath(path.c_str(), nullptr), std::free);
  if (target == nullptr || stat(target.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return target.get();
}

/// A descriptor of this process that is open on a file, to write to: /dev/stdout leads to the file that the output
/// goes into. -1 for none.
int open_on(const std::string& path) {
  struct stat wanted = {};
  if (stat(path.c_str(), &wanted) != 0) return -1;
  for (int descriptor = 0; descriptor < kDescriptors; descriptor++) {
    struct stat status = {};
    if (fstat(descriptor, &status) != 0) continue;
    if (status.st_dev != wanted.st_dev || status.st_ino != wanted.st_ino) continue;
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return descriptor;
  }
  return -1;
}

/// 0, or the errno of what failed.
int write_and_close(File file, const std::string& bytes) {
  if (file == nullptr) return errno;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const int code = errno;
  if (std::fclose(file.release()) != 0) return written ? errno : code;
  return written ? 0 : code;
}

int replace(const std::string& path, const std::string& bytes) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  // Left by a process of this number that was killed, or somebody's link: neither is written through.
  static_cast<void>(std::remove(temporary.c_str()));
  File file(std::fopen(temporary.c_str(), "wbx"));
  if (file == nullptr) return errno;
  int code = write_and_close(std::move(file), bytes);
  if (code == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) static_cast<void>(std::remove(temporary.c_str()));
  return code;
}

}  // namespace

std::string read_whole_file(const std::string& path) {
  const std::size_t size = regular_file_size(path);
  const std::size_t present = memory_limit();
  if (present != 0 && size > present)
    throw InputError(path + ": reading it needs " + std::to_string(size >> 20u) +
                     " MiB of memory; there are " + std::to_string(present >> 20u) + " MiB here");
  std::string bytes;
  bytes.reserve(size);
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) fail("read", path, errno);
  std::vector<char> chunk(1 << 20);
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get());
    bytes.append(chunk.data(), got);
    if (got < chunk.size()) {
      if (std::ferror(file.get()) != 0) fail("read", path, errno);
      return bytes;
    }
  }
}

void write_whole_file(const std::string& path, const std::string& bytes) {
  const std::optional<std::string> target = replaceable(path);
  const int descriptor = target ? open_on(*target) : -1;
  // Replaced, it would be another file than the one that the rest of the output goes into.
  const int code = descriptor >= 0 ? write_and_close(File(fdopen(dup(descriptor), "wb")), bytes)
                   : target        ? replace(*target, bytes)
                                   : write_and_close(File(std::fopen(path.c_str(), "wb")), bytes);
  if (code != 0) fail("write", path, code);
}

}  // namespace hydraconf
