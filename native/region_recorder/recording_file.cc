#include "recording_file.hpp"

#include <errno.h>
#include <fcntl.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>  // _NSGetExecutablePath
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/vfs.h>  // fstatfs
#endif
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "boot_id.hpp"
#include "clock.hpp"
#include "descriptor.hpp"
#include "generation.hpp"
#include "rank.hpp"

namespace region_recorder {
namespace {

constexpr std::uint64_t kLargestGrowth = 8 * 1024 * 1024;
// The only file system that every Linux has in memory, with a life of its own.
constexpr const char* kStageDirectory = "/dev/shm";

// A handler that a trapped system call runs may fork, and record in the child. There the rest of the interrupted call is
// about a file that is no longer its own.
class Process {
 public:
  bool has_forked() const noexcept { return !in_recorded_process() || process_generation() != generation_; }

 private:
  std::uint32_t generation_ = process_generation();
};

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

#if defined(MAP_POPULATE)
constexpr int kMapShared = MAP_SHARED | MAP_POPULATE;  // all page faults now, none inside a range
#else
constexpr int kMapShared = MAP_SHARED;
#endif

void* map_shared(int descriptor, std::uint64_t offset, std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kMapShared, descriptor,
                            static_cast<off_t>(offset));
  return mapped == MAP_FAILED ? nullptr : mapped;
}

// Memory that forked children share, as they share a file: a child's failures are counted in its parent's header.
void* map_buffer(std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kMapShared | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

// Whether a store into a mapping of allocated space never needs more of it. A list of what is known to: copy-on-write
// file systems (btrfs, bcachefs, ZFS, XFS after a `cp`), layers over others and network file systems do not.
bool keeps_allocated_space(int descriptor) {
#if defined(__linux__)
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return false;
  constexpr auto kExt = 0xEF53;  // ext2, ext3 and ext4
  constexpr auto kTmpfs = 0x01021994;
  return status.f_type == kExt || status.f_type == kTmpfs;
#else
  static_cast<void>(descriptor);
  return true;
#endif
}

bool write_at(int descriptor, const void* from, std::size_t bytes, std::uint64_t offset) {
  const char* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor, next, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    next += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

// 0 where the system does not tell.
std::uint32_t own_pid_namespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
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

bool NamedFile::set_path(const char* directory, long pid, std::uint64_t start_ns) noexcept {
  const int length = snprintf(path_, sizeof(path_), "%s/events-%ld-%llu.nvtxrec", directory, pid,
                              static_cast<unsigned long long>(start_ns));
  if (length >= 0 && static_cast<std::size_t>(length) < sizeof(path_)) return true;
  forget();
  errno = ENAMETOOLONG;
  return false;
}

bool NamedFile::identify(int descriptor) noexcept {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

int NamedFile::create(unsigned mode) const noexcept {
  return open_descriptor(path_, O_RDWR | O_CREAT | O_EXCL, mode);
}

int NamedFile::reopen() const noexcept {
  const int file = open_descriptor(path_, O_RDWR | O_NOFOLLOW);
  if (file < 0) return -1;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) return file;
  close(file);
  errno = ESTALE;
  return -1;
}

void NamedFile::remove() const noexcept {
  const int error = errno;
  unlink(path_);
  errno = error;
}

void RecordingFile::choose_writing(const char* name) noexcept {
  const std::pair<const char*, format::Writing> names[] = {
      {"mapped", format::Writing::kMapped},
      {"staged", format::Writing::kStaged},
      {"buffered", format::Writing::kBuffered},
  };
  for (const auto& [known, writing] : names) {
    if (name == nullptr || std::strcmp(name, known) != 0) continue;
    is_writing_chosen_ = true;
    chosen_writing_ = writing;
  }
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
  if (!file_.set_path(directory, getpid(), start)) return false;
  Descriptor file(file_.create(0666));
  if (!file.valid()) return false;
  if (begin(file.get(), start)) return true;
  file_.remove();
  if (stage_.is_set()) stage_.remove();
  stage_.forget();
  return false;
}

// Writes the header of a file that was just created. False with errno set.
bool RecordingFile::begin(int descriptor, std::uint64_t start_ns) noexcept {
  if (!file_.identify(descriptor)) return false;
  unit_ = page_bytes();
  reserved_ = 0;
  claimed_ = unit_;
  stopped_ = false;
  copied_ = nullptr;
  stage_.forget();
  writing_ = is_writing_chosen_                 ? chosen_writing_
             : keeps_allocated_space(descriptor) ? format::Writing::kMapped
                                                 : format::Writing::kStaged;
  void* page = nullptr;
  if (writing_ == format::Writing::kMapped) {
    if (!reserve(descriptor, unit_)) return false;
    page = map_shared(descriptor, 0, unit_);
  } else {
    if (exceeds_size_limit(unit_)) {
      errno = EFBIG;
      return false;
    }
    if (writing_ == format::Writing::kStaged) page = create_stage(start_ns);
    if (page == nullptr) {
      writing_ = format::Writing::kBuffered;
      page = map_buffer(unit_);
    }
  }
  if (page == nullptr) return false;
  publishing_ = writing_ == format::Writing::kMapped   ? Publishing::kNothing
                : writing_ == format::Writing::kStaged ? Publishing::kStaged
                                                       : Publishing::kNowAndThen;

  fill_header(page, start_ns);
  auto* const header = static_cast<format::FileHeader*>(page);
  if (writing_ != format::Writing::kMapped && !write_at(descriptor, page, unit_, 0)) {
    munmap(page, unit_);
    return false;
  }
  // Last, so that a reader never takes a half-written header for a whole one.
  std::uint64_t magic;
  std::memcpy(&magic, format::kMagic, sizeof(magic));
  header->magic.store(magic, std::memory_order_release);
  if (writing_ != format::Writing::kMapped && !write_at(descriptor, page, sizeof(magic), 0)) {
    munmap(page, unit_);
    return false;
  }
  header_.store(header, std::memory_order_release);
  count_dropped(dropped_before_header_.exchange(0, std::memory_order_relaxed));
  return true;
}

// The first page of a stage, or null without one.
void* RecordingFile::create_stage(std::uint64_t start_ns) noexcept {
#if defined(__linux__)
  // A child that is forked in here makes a stage of its own once it records: this one would stay for ever.
  const Process process;
  if (process.has_forked() || !stage_.set_path(kStageDirectory, getpid(), start_ns)) return nullptr;
  const Descriptor stage(stage_.create(0600));
  if (!stage.valid()) {
    stage_.forget();
    return nullptr;
  }
  const bool is_usable = !process.has_forked() && stage_.identify(stage.get()) && keeps_allocated_space(stage.get()) &&
                         allocate_space(stage.get(), 0, unit_) == 0;
  void* const page = is_usable ? map_shared(stage.get(), 0, unit_) : nullptr;
  if (page != nullptr) return page;
  stage_.remove();
  stage_.forget();
#else
  static_cast<void>(start_ns);
#endif
  return nullptr;
}

// All but the magic bytes.
void RecordingFile::fill_header(void* page, std::uint64_t start_ns) noexcept {
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
  const std::size_t path_bytes = read_executable(
      after, unit_ - sizeof(*header) - round_up(kMaxRankBytes, 8) - sizeof(format::WritingHeader));
  header->executable_bytes = static_cast<std::uint32_t>(path_bytes);
  write_rank(after + round_up(path_bytes, 8));
  auto* const writing = new (&writing_header_of(header)) format::WritingHeader{};
  writing->writing = static_cast<std::uint32_t>(writing_);
  if (writing_ != format::Writing::kMapped) writing->pid_namespace = own_pid_namespace();
  header->claimed_bytes.store(unit_, std::memory_order_relaxed);
}

format::WritingHeader& RecordingFile::writing_header_of(format::FileHeader* header) noexcept {
  char* const after = reinterpret_cast<char*>(header + 1);
  return *reinterpret_cast<format::WritingHeader*>(after + round_up(header->executable_bytes, 8) +
                                                   round_up(kMaxRankBytes, 8));
}

format::ChunkHeader* RecordingFile::claim(std::size_t record_bytes, std::uint32_t stream,
                                          std::uint32_t sequence, std::uint64_t base_ns) noexcept {
  if (!is_open() || stopped_) return nullptr;
  const Process process;
  const std::uint64_t bytes = round_up(sizeof(format::ChunkHeader) + record_bytes, unit_);
  void* const mapped = writing_ == format::Writing::kMapped ? map_in_file(bytes) : map_copy(bytes);
  if (process.has_forked()) {
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

// The next part of the file, or null with errno set.
void* RecordingFile::map_in_file(std::size_t bytes) noexcept {
  const Process process;
  const Descriptor file(file_.reopen());
  if (process.has_forked()) return nullptr;
  const bool has_room = file.valid() && reserve(file.get(), claimed_ + bytes);
  if (process.has_forked()) return nullptr;
  return has_room ? map_shared(file.get(), claimed_, bytes) : nullptr;
}

// Memory for the next part of the file, which is to be copied into it: in the stage, else in a buffer. Null with errno
// set.
void* RecordingFile::map_copy(std::size_t bytes) noexcept {
  if (exceeds_size_limit(claimed_ + bytes)) {
    errno = EFBIG;
    return nullptr;
  }
  const Process process;
  CopiedChunk* const copied = new_copied();
  if (copied == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const bool wants_stage = writing_ == format::Writing::kStaged && stage_.is_set();
  void* mapped = wants_stage ? map_in_stage(bytes) : nullptr;
  if (process.has_forked()) return mapped;
  const bool is_staged = mapped != nullptr;
  if (wants_stage && !is_staged) become_buffered();
  if (!is_staged) mapped = map_buffer(bytes);
  if (mapped == nullptr || process.has_forked()) return mapped;
  copied->offset = claimed_;
  copied->bytes = bytes;
  copied->written = 0;
  copied->is_staged = is_staged;
  copied->chunk = static_cast<format::ChunkHeader*>(mapped);
  return mapped;
}

void* RecordingFile::map_in_stage(std::size_t bytes) noexcept {
  const Process process;
  const Descriptor stage(stage_.reopen());
  if (!stage.valid() || process.has_forked()) return nullptr;
  if (allocate_space(stage.get(), claimed_, claimed_ + bytes) != 0 || process.has_forked()) return nullptr;
  return map_shared(stage.get(), claimed_, bytes);
}

// No room in the stage: from here on chunks are buffered, and what stands in the stage stays there.
void RecordingFile::become_buffered() noexcept {
  writing_ = format::Writing::kBuffered;
  if (publishing_ == Publishing::kStaged) publishing_ = Publishing::kNowAndThen;
  writing_header_of(header_.load(std::memory_order_relaxed))
      .writing.store(static_cast<std::uint32_t>(writing_), std::memory_order_relaxed);
}

RecordingFile::CopiedChunk* RecordingFile::new_copied() noexcept {
  for (CopiedChunk* each = copied_; each != nullptr; each = each->next) {
    if (each->chunk == nullptr) return each;
  }
  void* const memory = arena_.allocate(sizeof(CopiedChunk));
  if (memory == nullptr) return nullptr;
  copied_ = new (memory) CopiedChunk{nullptr, 0, 0, 0, false, copied_};
  return copied_;
}

RecordingFile::CopiedChunk* RecordingFile::find(const format::ChunkHeader* chunk) noexcept {
  for (CopiedChunk* each = copied_; each != nullptr; each = each->next) {
    if (each->chunk == chunk) return each;
  }
  return nullptr;
}

void RecordingFile::leave(format::ChunkHeader* chunk) noexcept {
  const Process process;
  CopiedChunk* const copied = find(chunk);
  if (copied == nullptr || !write_copied(*copied) || process.has_forked()) return;
#if defined(MADV_REMOVE)
  // Gives the stage's memory back. Readers have the chunk from the file now.
  if (copied->is_staged) madvise(chunk, chunk->bytes, MADV_REMOVE);
  if (process.has_forked()) return;
#endif
  copied->chunk = nullptr;
  munmap(chunk, copied->bytes);
}

bool RecordingFile::write(format::ChunkHeader* chunk) noexcept {
  CopiedChunk* const copied = find(chunk);
  return copied != nullptr && write_copied(*copied);
}

// False: not everything is in the file. The first failure ends the recording, and what the chunk holds is tried once more
// at the end.
bool RecordingFile::write_copied(CopiedChunk& copied) noexcept {
  if (stopped_) return false;
  const Process process;
  Descriptor file(file_.reopen());
  if (process.has_forked()) return false;
  bool is_written = file.valid() && write_rest(file.get(), copied);
  // Its header is another one then.
  if (process.has_forked()) return false;
  is_written = is_written && write_header(file.get()) && file.close();
  if (process.has_forked()) return false;
  if (is_written) return true;
  stop(errno);
  if (file.valid()) write_header(file.get());
  return false;
}

// The records that are not in the file yet, and then the chunk's header, which counts them.
bool RecordingFile::write_rest(int descriptor, CopiedChunk& copied) const noexcept {
  const std::uint32_t used = copied.chunk->used_bytes.load(std::memory_order_acquire);
  const std::uint64_t records = copied.offset + sizeof(format::ChunkHeader);
  const char* const first = reinterpret_cast<const char*>(copied.chunk + 1);
  // It may have grown since: the header must not count what is not in the file. And before any system call: in a child
  // that is forked there, the chunk may be gone.
  alignas(format::ChunkHeader) char header[sizeof(format::ChunkHeader)];
  std::memcpy(header, copied.chunk, sizeof(header));
  std::memcpy(header + offsetof(format::ChunkHeader, used_bytes), &used, sizeof(used));
  if (exceeds_size_limit(records + used)) {
    errno = EFBIG;
    return false;
  }
  if (!write_at(descriptor, first + copied.written, used - copied.written, records + copied.written) ||
      !write_at(descriptor, header, sizeof(header), copied.offset)) {
    return false;
  }
  copied.written = used;
  return true;
}

bool RecordingFile::write_header(int descriptor) const noexcept {
  return write_at(descriptor, header_.load(std::memory_order_relaxed), unit_, 0);
}

void RecordingFile::finish(bool has_lock) noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  if (header == nullptr) return;
  header->finished_ns.store(now_ns(), std::memory_order_release);
  if (!has_lock) return;  // what is in a stage stays there
  if (writing_ != format::Writing::kMapped) return finish_copied();
  if (reserved_ == claimed_) return;
  const Descriptor file(file_.reopen());
  if (file.valid() && ftruncate(file.get(), static_cast<off_t>(claimed_)) == 0) {
    reserved_ = claimed_;  // whatever is still claimed after this reserves anew
  }
}

void RecordingFile::finish_copied() noexcept {
  const Process process;
  // First, so that of a record that another thread publishes meanwhile either this or that thread knows.
  publishing_.store(Publishing::kWriteThrough, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Descriptor file(file_.reopen());
  int error = file.valid() ? 0 : errno;
  bool is_all_there = stage_.is_set();  // for readers, who take what is not in the file from the stage
  for (CopiedChunk* each = copied_; each != nullptr; each = each->next) {
    if (process.has_forked()) return;
    if (each->chunk == nullptr || (file.valid() && write_rest(file.get(), *each))) continue;
    if (process.has_forked()) return;
    if (error == 0) error = errno;
    if (each->is_staged) continue;
    is_all_there = false;
    count_unwritten(*each);
  }
  if (process.has_forked()) return;
  // The last chunk may not be full, and readers take a file that is shorter than its chunks for one that was cut.
  if (error == 0 && ftruncate(file.get(), static_cast<off_t>(claimed_)) != 0) error = errno;
  if (process.has_forked()) return;
  if (file.valid() && (!write_header(file.get()) || !file.close()) && error == 0) error = errno;
  if (process.has_forked()) return;
  if (error != 0) {
    if (!is_all_there && !stopped_) stop(error);
    if (stage_.is_set()) publishing_ = writing_ == format::Writing::kStaged ? Publishing::kStaged : Publishing::kNowAndThen;
    return;
  }
  if (stage_.is_set()) stage_.remove();
  if (process.has_forked()) return;
  stage_.forget();
  for (CopiedChunk* each = copied_; each != nullptr; each = each->next) each->is_staged = false;
}

void RecordingFile::write_counters() noexcept {
  if (!is_open() || publishing_ != Publishing::kWriteThrough) return;
  const Process process;
  const Descriptor file(file_.reopen());
  if (file.valid() && !process.has_forked()) write_header(file.get());
}

// Of a buffered chunk that cannot be brought into the file.
void RecordingFile::count_unwritten(const CopiedChunk& copied) noexcept {
  const auto* const records = reinterpret_cast<const std::uint32_t*>(copied.chunk + 1);
  const std::uint32_t used = copied.chunk->used_bytes.load(std::memory_order_acquire) / 4;
  std::uint64_t events = 0;
  std::uint64_t work = 0;
  for (std::uint32_t at = copied.written / 4; at < used && records[at] >> 16 != 0; at += records[at] >> 16) {
    const std::uint32_t type = records[at] & 0xff;
    const bool is_event = (type >= format::kPush && type <= format::kMark) || type == format::kSample ||
                          type == format::kBatchSample || type == format::kDeferred ||
                          type == format::kLaunch;
    if (is_event) ++events;
    if (type >= format::kKernel && type <= format::kSynchronization) ++work;
  }
  count_dropped(events);
  count_unwritten_work(work);
}

void RecordingFile::forget() noexcept {
  format::FileHeader* const header = header_.exchange(nullptr, std::memory_order_relaxed);
  if (header != nullptr) parents_ = header;
  dropped_before_header_.store(0, std::memory_order_relaxed);
  stopped_ = false;
  publishing_ = Publishing::kNothing;
  writing_ = format::Writing::kMapped;
  copied_ = nullptr;
  stage_.forget();
}

void RecordingFile::tell_parent(int error) noexcept {
  if (parents_ == nullptr) return;
  parents_->unrecorded_errno.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  parents_->unrecorded_children.fetch_add(1, std::memory_order_relaxed);
}

void RecordingFile::count_dropped(std::uint64_t events) noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  auto& count = header != nullptr ? header->dropped_events : dropped_before_header_;
  count.fetch_add(events, std::memory_order_relaxed);
}

void RecordingFile::count_unwritten_work(std::uint64_t records) noexcept {
  format::FileHeader* const header = header_.load(std::memory_order_acquire);
  if (header != nullptr) header->unwritten_work.fetch_add(records, std::memory_order_relaxed);
}

// Makes the file at least `up_to` long, in steps that grow with it: a process with few events, which may end without a
// word, leaves no more than it has used. False with errno set.
bool RecordingFile::reserve(int descriptor, std::uint64_t up_to) noexcept {
  if (up_to <= reserved_) return true;
  const Process process;
  const std::uint64_t step = std::min(reserved_ / 2, kLargestGrowth);
  const std::uint64_t wished = std::max(up_to, round_up(reserved_ + step, unit_));
  for (const std::uint64_t end : {wished, up_to}) {
    if (exceeds_size_limit(end)) {
      errno = EFBIG;
      continue;
    }
    errno = allocate_space(descriptor, reserved_, end);
    if (process.has_forked()) return false;
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

void ChunkMapping::unmap() const noexcept {
  munmap(chunk(), (word_ & (kSmallestUnit - 1)) * kSmallestUnit);
}

}  // namespace region_recorder
