#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "caller_state.hpp"
#include "clock.hpp"
#include "definitions.hpp"
#include "process.hpp"
#include "recording_file.hpp"

namespace region_recorder {
namespace {

constexpr std::uint64_t kLargestDelta = UINT32_MAX;
constexpr std::uint64_t kUntimed = 0;

// The first chunk is small, so that a thread with few events costs one page of the file.
std::size_t chunk_bytes(std::uint32_t sequence) {
  const std::size_t bytes = std::size_t{4096} << std::min<std::uint32_t>(2 * sequence, 16);
  return std::min(bytes, kLargestUsualChunk);
}

std::size_t words_of(const std::uint32_t* record) { return record[0] >> 16; }

// The words, and behind them the bytes, whose last word is padded.
void copy_record(std::uint32_t* at, const std::uint32_t* words, const void* bytes, std::size_t size) {
  const std::size_t count = words_of(words);
  const std::size_t fixed = count - (size + 3) / 4;
  std::memcpy(at, words, fixed * sizeof(*words));
  if (size == 0) return;
  at[count - 1] = 0;
  std::memcpy(at + fixed, bytes, size);
}

}  // namespace

void Stream::begin(std::uint32_t number, std::uint32_t generation) noexcept {
  chunk_ = nullptr;
  mapping_ = {};
  is_copied_ = false;
  buffered_ = {};
  next_ = nullptr;
  end_ = nullptr;
  base_ns_ = 0;
  processor_base_ns_ = 0;
  number_ = number;
  sequence_ = 0;
  last_string_ = 0;
  last_definition_ = nullptr;
  generation_ = generation;
  std::memset(introduced_domains_, 0, sizeof(introduced_domains_));
  strings_.clear();
}

void Stream::abandon() noexcept {
  const ChunkMapping left = mapping_;
  // Before it is gone: a signal handler may fork right here, and its child abandons once more.
  mapping_ = {};
  chunk_ = nullptr;
  next_ = nullptr;
  end_ = nullptr;
  if (!left.is_empty()) left.unmap();
}

std::uint32_t Stream::intern(const Text& text) noexcept {
  if (const std::uint32_t known = strings_.find(text)) return known;
  const std::uint32_t id = write_string(text);
  strings_.insert(text, id);
  return id;
}

void Stream::introduce_domain(std::uint32_t id, const Text& name) noexcept {
  if (id < kTrackedDomains) {
    std::uint64_t& bits = introduced_domains_[id / 64];
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    if ((bits & bit) != 0) return;
    bits |= bit;
  }
  const std::uint32_t record[] = {format::record_head(format::kDomain, 0, 3), id, intern(name)};
  append(record);
}

void Stream::introduce_definitions() noexcept {
  const Definition* const newest = newest_definition();
  for (const Definition* each = newest; each != last_definition_ && each != nullptr; each = each->older) {
    if (each->domain != nullptr) introduce_domain(each->domain->id, each->domain->name);
    append(each->words);
  }
  last_definition_ = newest;
}

bool Stream::append(const std::uint32_t* words, const void* bytes, std::size_t size) noexcept {
  const std::size_t count = words_of(words);
  std::uint32_t* const at = room(count, kUntimed);
  if (at == nullptr) return false;
  copy_record(at, words, bytes, size);
  publish(count);
  return true;
}

bool Stream::append_at(std::uint64_t time_ns, std::uint32_t* words, const void* bytes,
                       std::size_t size) noexcept {
  const std::size_t count = words_of(words);
  std::uint32_t* at = room(count, time_ns);
  if (at == nullptr) return false;
  // Too long after the base, or (by wrapping around) before it.
  if (time_ns - base_ns_ > kLargestDelta) {
    const std::uint32_t base[] = {format::record_head(format::kTime, 0, 3),
                                  format::low_half(time_ns), format::high_half(time_ns)};
    if (!append(base)) return false;
    base_ns_ = time_ns;
    at = room(count, time_ns);
    if (at == nullptr) return false;
  }
  words[1] = static_cast<std::uint32_t>(time_ns - base_ns_);
  copy_record(at, words, bytes, size);
  publish(count);
  return true;
}

bool Stream::append_at(std::uint64_t time_ns, Record& record, const ThreadUsage& usage,
                       std::uint32_t payloads) noexcept {
  if (usage.has_processor_time) {
    const std::uint64_t used = usage.processor_ns;
    if (used < processor_base_ns_ || used - processor_base_ns_ > kLargestDelta) {
      const std::uint32_t base[] = {format::record_head(format::kProcessorTime, 0, 3),
                                    format::low_half(used), format::high_half(used)};
      if (!append(base)) return false;
      processor_base_ns_ = used;
    }
    record.add_flag(format::kHasProcessorTime);
    record.add(format::low_half(used - processor_base_ns_));
  }
  if (usage.has_counts) {
    record.add_flag(format::kHasCounts);
    for (const std::uint32_t count : usage.counts) record.add(count);
  }
  if (payloads != 0) {
    record.add_flag(format::kHasPayloads);
    record.add(payloads);
  }
  // Behind what readers of version 1.8 read.
  if (usage.has_counts) {
    record.add_flag(format::kHasBlocks);
    for (const std::uint32_t count : usage.blocks) record.add(count);
  }
  // Behind what readers of version 1.9 read, without a flag: none is left.
  if (usage.has_instructions) {
    record.add64(usage.instructions);
    record.add(usage.interruptions);
  }
  return append_at(time_ns, record.words());
}

// Where `words` more words fit, in a new chunk if need be.
std::uint32_t* Stream::room(std::size_t words, std::uint64_t time_ns) noexcept {
  if (is_abandoned()) return nullptr;
  if (static_cast<std::size_t>(end_ - next_) >= words) return next_;
  // Shorter records that come later must not follow where one is missing.
  if (!may_claim()) {
    next_ = end_;
    return nullptr;
  }
  // Neither a handler that jumps out nor a cancellation may come between chunks, one of which is gone.
  const Undisturbed until_the_next_chunk;
  const std::size_t wanted = std::max(words * sizeof(std::uint32_t),
                                      chunk_bytes(sequence_) - sizeof(format::ChunkHeader));
  const std::uint64_t base = time_ns != kUntimed ? time_ns : now_ns();
  format::ChunkHeader* const chunk = claim_chunk(wanted, number_, sequence_, base);
  next_ = end_;
  if (chunk == nullptr) return nullptr;
  // Another thread may fork at any moment, and a system call that is trapped may end in a jump: the old chunk goes last.
  const ChunkMapping full = mapping_;
  mapping_ = {chunk, chunk->bytes};
  chunk_ = chunk;
  is_copied_ = copies_chunks();
  base_ns_ = base;
  ++sequence_;
  end_ = reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(chunk) + chunk->bytes);
  next_ = reinterpret_cast<std::uint32_t*>(chunk + 1);
  std::atomic_signal_fence(std::memory_order_acq_rel);
  if (!full.is_empty()) leave_chunk(full);
  return next_;
}

// A reader that sees the new length also sees what was written before it.
void Stream::publish(std::size_t words) noexcept {
  if (is_abandoned()) return;
  next_ += words;
  const auto used = reinterpret_cast<char*>(next_) - reinterpret_cast<char*>(chunk_ + 1);
  chunk_->used_bytes.store(static_cast<std::uint32_t>(used), std::memory_order_release);
  if (is_copied_) publish_copied(chunk_, buffered_);
}

std::uint32_t Stream::write_string(const Text& text) noexcept {
  constexpr std::size_t kFixedWords = 3;
  const std::size_t words = kFixedWords + (text.length + 3) / 4;
  std::uint32_t* const at = room(words, kUntimed);
  const std::uint32_t id = ++last_string_;
  if (at == nullptr) return id;
  at[words - 1] = 0;  // the padding behind the text
  at[0] = format::record_head(format::kString, text.truncated ? format::kTruncated : 0, words);
  at[1] = id;
  at[2] = text.length;
  std::memcpy(at + kFixedWords, text.bytes, text.length);
  publish(words);
  return id;
}

}  // namespace region_recorder
