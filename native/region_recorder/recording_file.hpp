// One process's recording: a file that grows by chunks, each in a memory of the stream that claimed it.
//
// Where the file system keeps what it has allocated, that memory is a shared mapping of the file. Elsewhere (copy on
// write, network, unknown) a store into such a mapping may find no room and kill the program with SIGBUS. There records
// go through the kernel: into a *stage*, which is a file in /dev/shm with the same offsets, and from there by pwrite, chunk
// by chunk. What is in the stage belongs to the kernel, so a crash loses nothing, and readers take it from there. Without a
// stage, chunks are buffered in memory that ends with the process.
//
// No descriptor stays open: a program that closes all descriptors must not make the recorder write into a file that
// later got the same number.
#pragma once

#include <limits.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format.hpp"
#include "memory.hpp"

namespace region_recorder {

// Overrides what the file system decides: mapped, staged or buffered.
constexpr const char* kWritingVariable = "HYDRACONF_RECORDER_WRITING";

// What a stream has to do once a record is in its chunk.
enum class Publishing : std::uint32_t {
  kNothing,       // the chunk is the file, or there is none
  kStaged,        // nothing, as long as that lasts: see RecordingFile::finish
  kNowAndThen,    // see BufferedRecords
  kWriteThrough,  // after the orderly end of the process, each record is written
};

// When a stream's buffered chunk is written before it is full: with each of the first records, for processes that end
// without a word soon, and then with one that comes so much later than the last that was written.
struct BufferedRecords {
  static constexpr std::uint32_t kWrittenAtOnce = 32;
  static constexpr std::uint64_t kLongestNs = 100'000'000;

  bool is_due(std::uint64_t now) noexcept {
    if (count >= kWrittenAtOnce && now - written_ns < kLongestNs) return false;
    if (count < kWrittenAtOnce) ++count;
    written_ns = now;
    return true;
  }

  std::uint64_t written_ns;
  std::uint32_t count;
};

// A file that is opened anew each time, by its name.
class NamedFile {
 public:
  constexpr NamedFile() = default;

  // False with errno set: another file has the name by now, or it does not fit.
  bool set_path(const char* directory, long pid, std::uint64_t start_ns) noexcept;
  bool identify(int descriptor) noexcept;
  // Never 0, 1 or 2. -1 with errno set, ESTALE where it is another file by now.
  int create(unsigned mode) const noexcept;
  int reopen() const noexcept;
  void remove() const noexcept;
  void forget() noexcept { path_[0] = '\0'; }
  bool is_set() const noexcept { return path_[0] != '\0'; }

 private:
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[PATH_MAX] = {};
};

// All members but those that count want the lock of their owner.
class RecordingFile {
 public:
  constexpr RecordingFile() = default;
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  bool is_open() const noexcept { return header_.load(std::memory_order_relaxed) != nullptr; }

  // Whether the recording had to end. May be asked without the lock.
  bool is_stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  // May be asked without the lock.
  Publishing publishing() const noexcept { return publishing_.load(std::memory_order_relaxed); }

  // The value of kWritingVariable, or null.
  void choose_writing(const char* name) noexcept;

  // Creates events-<pid>-<start>.nvtxrec in `directory`. False, with errno set and no file left, when
  // it cannot.
  bool open(const char* directory) noexcept;

  // A new chunk with room for at least `record_bytes` of records, or null: not open, disk full,
  // file size limit. The first failure is noted in the file and ends the recording.
  format::ChunkHeader* claim(std::size_t record_bytes, std::uint32_t stream, std::uint32_t sequence,
                             std::uint64_t base_ns) noexcept;

  // Its stream goes on in another chunk: brings this one, a copied one, into the file and unmaps it. One that cannot be
  // written stays until finish().
  void leave(format::ChunkHeader* chunk) noexcept;

  // Brings what a copied chunk holds so far into the file. False: not written.
  bool write(format::ChunkHeader* chunk) noexcept;

  // The process ends in an orderly way: says so, brings everything into the file and gives back the space that no chunk
  // uses. Recording may go on: the destructors of other libraries are still to come.
  void finish(bool has_lock) noexcept;

  // The counters as they are now, after finish().
  void write_counters() noexcept;

  // In a forked child: the file is the parent's.
  void forget() noexcept;

  // In a forked child that cannot make a file: its parent's says so. Not the child's standard error: by now that may be
  // a file or a socket of the program's.
  void tell_parent(int error) noexcept;

  void count_dropped(std::uint64_t events = 1) noexcept;
  void count_unwritten_work(std::uint64_t records) noexcept;

 private:
  // A chunk that is not the file itself.
  struct CopiedChunk {
    format::ChunkHeader* chunk;  // null: free
    std::uint64_t offset;
    std::size_t bytes;
    std::uint32_t written;  // bytes of records that are in the file
    bool is_staged;
    CopiedChunk* next;
  };

  bool create(const char* directory) noexcept;
  bool begin(int descriptor, std::uint64_t start_ns) noexcept;
  void* create_stage(std::uint64_t start_ns) noexcept;
  void fill_header(void* page, std::uint64_t start_ns) noexcept;
  bool reserve(int descriptor, std::uint64_t up_to) noexcept;
  void* map_in_file(std::size_t bytes) noexcept;
  void* map_copy(std::size_t bytes) noexcept;
  void* map_in_stage(std::size_t bytes) noexcept;
  CopiedChunk* new_copied() noexcept;
  CopiedChunk* find(const format::ChunkHeader* chunk) noexcept;
  bool write_copied(CopiedChunk& copied) noexcept;
  bool write_rest(int descriptor, CopiedChunk& copied) const noexcept;
  bool write_header(int descriptor) const noexcept;
  void finish_copied() noexcept;
  void count_unwritten(const CopiedChunk& copied) noexcept;
  void become_buffered() noexcept;
  void stop(int error) noexcept;
  static format::WritingHeader& writing_header_of(format::FileHeader* header) noexcept;

  std::atomic<format::FileHeader*> header_{nullptr};
  std::atomic<std::uint64_t> dropped_before_header_{0};
  format::FileHeader* parents_ = nullptr;  // of the nearest ancestor with a file
  std::size_t unit_ = 0;
  std::uint64_t claimed_ = 0;   // end of the last chunk
  std::uint64_t reserved_ = 0;  // end of the space the file system has granted; of a mapped file
  std::atomic<bool> stopped_{false};
  bool is_writing_chosen_ = false;
  format::Writing chosen_writing_ = format::Writing::kMapped;
  format::Writing writing_ = format::Writing::kMapped;
  std::atomic<Publishing> publishing_{Publishing::kNothing};
  CopiedChunk* copied_ = nullptr;
  Arena arena_;  // of CopiedChunk
  NamedFile file_;
  NamedFile stage_;  // set as long as there is one
};

// A chunk's place in memory and its size, in one word: a fork may come at any moment, and the chunk itself need not say
// its size any more (RecordingFile::leave in the parent).
class ChunkMapping {
 public:
  ChunkMapping() = default;  // none, in zeroed memory
  ChunkMapping(format::ChunkHeader* chunk, std::size_t bytes) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(chunk) | bytes / kSmallestUnit) {}

  // Leaves the file as it is.
  void unmap() const noexcept;

  bool is_empty() const noexcept { return word_ == 0; }
  format::ChunkHeader* chunk() const noexcept {
    return reinterpret_cast<format::ChunkHeader*>(word_ & ~(kSmallestUnit - 1));
  }

 private:
  // Pages are at least that large.
  static constexpr std::uintptr_t kSmallestUnit = 4096;

  std::uintptr_t word_ = 0;
};
static_assert(sizeof(ChunkMapping) == sizeof(void*));

}  // namespace region_recorder
