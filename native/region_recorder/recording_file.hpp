// One process's recording: a file that grows by chunks, each mapped by the stream that claimed it.
//
// What is written into a shared mapping belongs to the kernel at once, so nothing that was recorded
// is lost when the process crashes or is killed. No descriptor stays open: a program that closes
// all descriptors must not make the recorder write into a file that later got the same number.
#pragma once

#include <limits.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format.hpp"

namespace region_recorder {

// All members but those that count want the lock of their owner.
class RecordingFile {
 public:
  constexpr RecordingFile() = default;
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  bool is_open() const noexcept { return header_.load(std::memory_order_relaxed) != nullptr; }

  // Whether the recording had to end. May be asked without the lock.
  bool is_stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  // Creates events-<pid>-<start>.nvtxrec in `directory`. False, with errno set and no file left, when
  // it cannot.
  bool open(const char* directory) noexcept;

  // A new chunk with room for at least `record_bytes` of records, or null: not open, disk full,
  // file size limit. The first failure is noted in the file and ends the recording.
  format::ChunkHeader* claim(std::size_t record_bytes, std::uint32_t stream, std::uint32_t sequence,
                             std::uint64_t base_ns) noexcept;

  // The process ends in an orderly way: says so and gives back the space that no chunk uses.
  // Recording may go on: the destructors of other libraries are still to come.
  void finish(bool may_trim) noexcept;

  // In a forked child: the file is the parent's.
  void forget() noexcept;

  // In a forked child that cannot make a file: its parent's says so. Not the child's standard error: by now that may be
  // a file or a socket of the program's.
  void tell_parent(int error) noexcept;

  void count_dropped() noexcept;
  void count_unwritten_work(std::uint64_t records) noexcept;

 private:
  bool create(const char* directory) noexcept;
  bool begin(int descriptor, std::uint64_t start_ns) noexcept;
  int reopen() const noexcept;
  bool reserve(int descriptor, std::uint64_t up_to) noexcept;
  void stop(int error) noexcept;

  std::atomic<format::FileHeader*> header_{nullptr};
  std::atomic<std::uint64_t> dropped_before_header_{0};
  format::FileHeader* parents_ = nullptr;  // of the nearest ancestor with a file
  std::size_t unit_ = 0;
  std::uint64_t claimed_ = 0;   // end of the last chunk
  std::uint64_t reserved_ = 0;  // end of the space the file system has granted
  std::atomic<bool> stopped_{false};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[PATH_MAX] = {};
};

// What chunks are multiples of.
std::size_t page_bytes() noexcept;

// Unmaps a chunk that its stream has left.
void release_chunk(format::ChunkHeader* chunk) noexcept;

}  // namespace region_recorder
