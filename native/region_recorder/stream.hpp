// What one thread records: its place in the file and the texts it has written there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format.hpp"
#include "generation.hpp"
#include "record.hpp"
#include "recording_file.hpp"
#include "string_cache.hpp"
#include "thread_usage.hpp"

namespace region_recorder {

struct Definition;

// Chunks of a stream grow up to this; only one record may need a larger one.
constexpr std::size_t kLargestUsualChunk = 64 * 1024;

// Used by one thread at a time. Zeroed memory is a valid stream that has not begun.
class Stream {
 public:
  // Starts afresh as stream `number` of the process's file; for `generation` see generation.hpp.
  void begin(std::uint32_t number, std::uint32_t generation) noexcept;

  // Leaves the chunk, which belongs to another file after a fork.
  void abandon() noexcept;

  // Id of `text` in this stream, written first where it is new.
  std::uint32_t intern(const Text& text) noexcept;

  // Whether intern() would have to write it.
  bool is_new(const Text& text) const noexcept { return strings_.find(text) == 0; }

  // Writes the domain's name before its first use in this stream.
  void introduce_domain(std::uint32_t id, const Text& name) noexcept;

  // Writes what the program has described so far and is not in this stream yet.
  void introduce_definitions() noexcept;

  // Appends a record whose first word says its size. False: not recorded.
  bool append(const std::uint32_t* words) noexcept { return append(words, nullptr, 0); }

  // The same of one that ends with `size` bytes, padded to whole words, which its size includes.
  bool append(const std::uint32_t* words, const void* bytes, std::size_t size) noexcept;

  // The same for a timed record: fills in its second word.
  bool append_at(std::uint64_t time_ns, std::uint32_t* words, const void* bytes = nullptr,
                 std::size_t size = 0) noexcept;

  // The same with what the thread had used by then, where that is known, and how many payloads were written before.
  bool append_at(std::uint64_t time_ns, Record& record, const ThreadUsage& usage,
                 std::uint32_t payloads = 0) noexcept;

 private:
  static constexpr std::uint32_t kTrackedDomains = 4096;

  // Whether the stream is one of the parent of this forked child. An event that a forking signal handler interrupted goes
  // on here, too; the chunk that it was writing into is shared with the parent.
  bool is_abandoned() const noexcept { return generation_ != process_generation(); }

  std::uint32_t* room(std::size_t words, std::uint64_t time_ns) noexcept;
  void publish(std::size_t words) noexcept;
  std::uint32_t write_string(const Text& text) noexcept;

  format::ChunkHeader* chunk_;
  ChunkMapping mapping_;
  bool is_copied_;  // the chunk is not the file itself
  BufferedRecords buffered_;
  std::uint32_t* next_;  // where the next record goes
  std::uint32_t* end_;
  std::uint64_t base_ns_;  // what record times count from
  std::uint64_t processor_base_ns_;  // what processor times count from
  std::uint32_t number_;
  std::uint32_t sequence_;
  std::uint32_t last_string_;
  std::uint32_t generation_;  // of the process that this stream records
  const Definition* last_definition_;  // what is older is in the stream
  std::uint64_t introduced_domains_[kTrackedDomains / 64];  // a bit per domain id
  StringCache strings_;
};

}  // namespace region_recorder
