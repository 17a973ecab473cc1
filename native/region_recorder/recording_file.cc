#include "recording_file.hpp"

#include <errno.h>
#include <fcntl.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>  // _NSGetExecutablePath
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "boot_id.hpp"
#include "clock.hpp"
#include "process.hpp"
#include "rank.hpp"

namespace region_recorder {
namespace {

constexpr std::uint64_t kSmallestGrowth = 256 * 1024;
constexpr std::uint64_t kLargestGrowth = 8 * 1024 * 1024;

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }
  bool valid() const noexcept { return value_ >= 0; }

 private:
  int value_;
};

// As open(2), but never interrupted (network file systems are), and never 0, 1 or 2: a program without
// standard streams must not print into the recording.
int open_descriptor(const char* path, int flags) {
  int file = ::open(path, flags | O_CLOEXEC, 0666);
  while (file < 0 && errno == EINTR) {
    // It may have made the file all the same: no other process's file has our number and our time in its name.
    flags = (flags & ~O_EXCL) | O_NOFOLLOW;
    file = ::open(path, flags | O_CLOEXEC, 0666);
  }
  if (file < 0 || file > STDERR_FILENO) return file;
  const Descriptor low(file);
  return fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Space that is really there: a write into a mapping for which the disk has no room is a SIGBUS.
int allocate_space(int descriptor, std::uint64_t from, std::uint64_t to) {
#if defined(__APPLE__)
  (void)from;
  return ftruncate(descriptor, static_cast<off_t>(to)) == 0 ? 0 : errno;
#else
  int result;
  do {
    result = posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(to - from));
  } while (result == EINTR);
  return result;
#endif
}

// Growing beyond this limit would not fail but kill the process with SIGXFSZ.
bool exceeds_size_limit(std::uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

void* map_shared(int descriptor, std::uint64_t offset, std::size_t bytes) {
#if defined(MAP_POPULATE)
  constexpr int kFlags = MAP_SHARED | MAP_POPULATE;  // all page faults now, none inside a range
#else
  constexpr int kFlags = MAP_SHARED;
#endif
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, descriptor,
                            static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

// Bytes of the program's path that fit into `out`; none where the system does not tell.
std::size_t read_executable(char* out, std::size_t capacity) {
#if defined(__APPLE__)
  char path[PATH_MAX];
  std::uint32_t bytes = sizeof(path);
  if (_NSGetExecutablePath(path, &bytes) != 0) return 0;
  // As it was called: links and dots are in it, which Linux has resolved.
  char resolved[PATH_MAX];
  const char* const real = realpath(path, resolved) == nullptr ? path : resolved;
  const std::size_t length = std::min(std::strlen(real), capacity);
  std::memcpy(out, real, length);
  return length;
#else
  const ssize_t length = readlink("/proc/self/exe", out, capacity);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
#endif
}

}  // namespace

std::size_t page_bytes() noexcept {
  const long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 4096 ? static_cast<std::size_t>(bytes) : 4096;
}

bool RecordingFile::open(const char* directory) noexcept {
  // The name is taken where a signal handler forked in the middle of this, and the child came first.
  for (int tries = 3; tries > 0; --tries) {
    if (create(directory)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

// One try with the name of this moment. False with errno set.
bool RecordingFile::create(const char* directory) noexcept {
  const std::uint64_t start = now_ns();
  const int length = snprintf(path_, sizeof(path_), "%s/events-%ld-%llu.nvtxrec", directory,
                              static_cast<long>(getpid()), static_cast<unsigned long long>(start));
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof(path_)) {
    errno = ENAMETOOLONG;
    return false;
  }
  const Descriptor file(open_descriptor(path_, O_RDWR | O_CREAT | O_EXCL));
  if (!file.valid()) return false;
  if (begin(file.get(), start)) return true;
  const int error = errno;
  unlink(path_);
  errno = error;
  return false;
}

// Writes the header of a file that was just created. False with errno set.
bool RecordingFile::begin(int descriptor, std::uint64_t start_ns) noexcept {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;

  unit_ = page_bytes();
  reserved_ = 0;
  stopped_ = false;
  if (!reserve(descriptor, unit_)) return false;
  void* const page = map_shared(descriptor, 0, unit_);
  if (page == nullptr) return false;

  auto* const header = new (page) format::FileHeader{};
  header->major = format::kMajor;
  header->minor = format::kMinor;
  header->byte_order = format::kByteOrder;
  header->header_bytes = static_cast<std::uint32_t>(unit_);
  header->unit_bytes = static_cast<std::uint32_t>(unit_);
  header->pid = static_cast<std::uint32_t>(getpid());
  header->parent_pid = static_cast<std::uint32_t>(getppid());
  header->start_ns = start_ns;
  header->start_realtime_ns = nanoseconds(CLOCK_REALTIME);
  read_boot_id(header->boot_id);
  char* const after = reinterpret_cast<char*>(header + 1);
  const std::size_t path_bytes =
      read_executable(after, unit_ - sizeof(*header) - round_up(kMaxRankBytes, 8));
  header->executable_bytes = static_cast<std::uint32_t>(path_bytes);
  write_rank(after + round_up(path_bytes, 8));
  header->claimed_bytes.store(unit_, std::memory_order_relaxed);
  claimed_ = unit_;
  // Last, so that a reader never takes a half-written header for a whole one.
  std::uint64_t magic;
  std::memcpy(&magic, format::kMagic, sizeof(magic));
  header->magic.store(magic, std::memory_order_release);
  header_.store(header, std::memory_order_release);
  const std::uint64_t dropped = dropped_before_header_.exchange(0, std::memory_order_relaxed);
  header->dropped_events.fetch_add(dropped, std::memory_order_relaxed);
  return true;
}

format::ChunkHeader* RecordingFile::claim(std::size_t record_bytes, std::uint32_t stream,
                                          std::uint32_t sequence, std::uint64_t base_ns) noexcept {
  if (!is_open() || stopped_) return nullptr;
  // A handler that a trapped system call runs may fork, and record in the child: there the rest of this call is about a
  // file that is no longer its own.
  const std::uint32_t generation = process_generation();
  const auto is_forked = [generation] { return process_generation() != generation; };
  const std::uint64_t bytes = round_up(sizeof(format::ChunkHeader) + record_bytes, unit_);
  const Descriptor file(reopen());
  if (is_forked()) return nullptr;
  const bool has_room = file.valid() && reserve(file.get(), claimed_ + bytes);
  if (is_forked()) return nullptr;
  void* const mapped = has_room ? map_shared(file.get(), claimed_, bytes) : nullptr;
  if (is_forked()) {
    if (mapped != nullptr) munmap(mapped, bytes);
    return nullptr;
  }
  if (mapped == nullptr) {
    stop(errno);
    return nullptr;
  }
  auto* const chunk = new (mapped) format::ChunkHeader{};
  chunk->magic = format::kChunkMagic;
  chunk->bytes = static_cast<std::uint32_t>(bytes);
  chunk->stream = stream;
  chunk->sequence = sequence;
  chunk->base_ns = base_ns;
  claimed_ += bytes;
  header_.load(std::memory_order_relaxed)->claimed_bytes.store(claimed_, std::memory_order_release);
  return chunk;
}

void RecordingFile::finish(bool may_trim) noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  if (header == nullptr) return;
  header->finished_ns.store(now_ns(), std::memory_order_release);
  if (!may_trim || reserved_ == claimed_) return;
  const Descriptor file(reopen());
  if (file.valid() && ftruncate(file.get(), static_cast<off_t>(claimed_)) == 0) {
    reserved_ = claimed_;  // whatever is still claimed after this reserves anew
  }
}

void RecordingFile::forget() noexcept {
  format::FileHeader* const header = header_.exchange(nullptr, std::memory_order_relaxed);
  if (header != nullptr) parents_ = header;
  dropped_before_header_.store(0, std::memory_order_relaxed);
  stopped_ = false;
}

void RecordingFile::tell_parent(int error) noexcept {
  if (parents_ == nullptr) return;
  parents_->unrecorded_errno.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  parents_->unrecorded_children.fetch_add(1, std::memory_order_relaxed);
}

void RecordingFile::count_dropped() noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  auto& count = header != nullptr ? header->dropped_events : dropped_before_header_;
  count.fetch_add(1, std::memory_order_relaxed);
}

void RecordingFile::count_unwritten_work(std::uint64_t records) noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  if (header != nullptr) header->unwritten_work.fetch_add(records, std::memory_order_relaxed);
}

// The file again by its name, if it still is the same one; else -1 with errno set.
int RecordingFile::reopen() const noexcept {
  const int file = open_descriptor(path_, O_RDWR | O_NOFOLLOW);
  if (file < 0) return -1;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) return file;
  close(file);
  errno = ESTALE;
  return -1;
}

// Makes the file at least `up_to` long, in steps that grow with it. False with errno set.
bool RecordingFile::reserve(int descriptor, std::uint64_t up_to) noexcept {
  if (up_to <= reserved_) return true;
  const std::uint32_t generation = process_generation();
  const std::uint64_t step = std::clamp(reserved_ / 2, kSmallestGrowth, kLargestGrowth);
  const std::uint64_t wished = std::max(up_to, round_up(reserved_ + step, unit_));
  for (const std::uint64_t end : {wished, up_to}) {
    if (exceeds_size_limit(end)) {
      errno = EFBIG;
      continue;
    }
    errno = allocate_space(descriptor, reserved_, end);
    if (process_generation() != generation) return false;
    if (errno == 0) {
      reserved_ = end;
      return true;
    }
  }
  return false;
}

void RecordingFile::stop(int error) noexcept {
  stopped_ = true;
  format::FileHeader* const header = header_.load(std::memory_order_relaxed);
  if (header == nullptr) return;
  header->stop_errno.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  header->stopped_ns.store(now_ns(), std::memory_order_release);
}

void release_chunk(format::ChunkHeader* chunk) noexcept { munmap(chunk, chunk->bytes); }

}  // namespace region_recorder
