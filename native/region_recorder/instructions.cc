#include "instructions.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(__x86_64__) && __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#define COUNTS_INSTRUCTIONS 1
#endif

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "caller_state.hpp"
#include "descriptor.hpp"
#include "generation.hpp"
#include "memory.hpp"
#include "thread_usage.hpp"

namespace region_recorder {
namespace {

std::atomic<bool> is_wanted{false};
// The process, counted through its forks, in which no thread can count: it is asked and told once.
std::atomic<std::uint32_t> refused_generation{generations::kNewChild};

constexpr InstructionsRefusal kCounts{NoInstructions::kNone, 0, InstructionsRefusal::kUnknownLevel};

#if defined(COUNTS_INSTRUCTIONS)

std::int32_t paranoid_level() noexcept {
  const Descriptor file(open_descriptor("/proc/sys/kernel/perf_event_paranoid", O_RDONLY));
  char text[16] = {};
  if (!file.valid() || ::read(file.get(), text, sizeof(text) - 1) <= 0) return InstructionsRefusal::kUnknownLevel;
  return static_cast<std::int32_t>(std::strtol(text, nullptr, 10));
}

// -1 with errno set.
int open_counter() noexcept {
  perf_event_attr wanted;
  std::memset(&wanted, 0, sizeof(wanted));
  wanted.size = sizeof(wanted);
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_INSTRUCTIONS;
  // What every user may count, and what does not depend on interrupts. Neither pinned nor inherited: counters of the
  // program keep their turn.
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return above_standard_streams(static_cast<int>(file));
}

// Whether other threads would be told the same.
bool holds_for_all(NoInstructions reason, int error) noexcept {
  if (reason == NoInstructions::kNotMapped) return false;
  return error != EMFILE && error != ENFILE && error != ENOMEM && error != EINTR;
}

std::int64_t read_register(std::uint32_t counter, unsigned width) noexcept {
  std::uint32_t low;
  std::uint32_t high;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  const std::uint64_t bits = std::uint64_t{high} << 32 | low;
  // A register is narrower than 64 bits, and goes below zero.
  return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
}

struct Reading {
  bool is_counting;
  std::uint64_t count;
  std::uint64_t lost_ns;
};

// As linux/perf_event.h describes it. The kernel changes the page as the thread is switched, so between two instructions
// of it.
Reading read_page(const perf_event_mmap_page& page) noexcept {
  const auto* const shared = const_cast<const volatile perf_event_mmap_page*>(&page);
  constexpr int kMostTries = 1000;
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::uint32_t before = shared->lock;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint32_t index = shared->index;
    const unsigned width = shared->pmc_width;
    const bool is_counting = shared->cap_user_rdpmc != 0 && index != 0 && width > 0 && width <= 64;
    const std::uint64_t lost_ns = shared->time_enabled - shared->time_running;
    const std::uint64_t offset = static_cast<std::uint64_t>(shared->offset);
    const std::uint64_t counted =
        is_counting ? static_cast<std::uint64_t>(read_register(index - 1, width)) : 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (shared->lock == before && (before & 1) == 0) return {is_counting, offset + counted, lost_ns};
  }
  return {false, 0, 0};
}

#endif

}  // namespace

void choose_instructions(const char* wanted) noexcept {
  is_wanted.store(wanted != nullptr && std::strcmp(wanted, "on") == 0, std::memory_order_relaxed);
}

#if defined(COUNTS_INSTRUCTIONS)

InstructionsRefusal InstructionCounter::open() noexcept {
  close();
  if (!is_wanted.load(std::memory_order_relaxed)) return kCounts;
  const std::uint32_t generation = process_generation();
  if (!in_recorded_process() || refused_generation.load(std::memory_order_relaxed) == generation) return kCounts;
  const auto refuse = [generation](NoInstructions reason, int error) {
    if (holds_for_all(reason, error)) refused_generation.store(generation, std::memory_order_relaxed);
    return InstructionsRefusal{reason, error, paranoid_level()};
  };
  const Descriptor file(open_counter());
  if (!file.valid()) return refuse(NoInstructions::kNotOpened, errno);
  void* const mapped = mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return refuse(NoInstructions::kNotMapped, errno);
  if (process_generation() != generation) return kCounts;
  if (static_cast<const perf_event_mmap_page*>(mapped)->cap_user_rdpmc == 0) {
    munmap(mapped, page_bytes());
    return refuse(NoInstructions::kNotReadable, 0);
  }
  page_ = mapped;
  interruptions_ = 0;
  lost_ns_ = 0;
  generation_ = generation;
  return kCounts;
}

void InstructionCounter::close() noexcept {
  void* const page = page_;
  page_ = nullptr;
  if (page == nullptr) return;
  // In a forked child something else may be there.
  if (in_recorded_process() && generation_ == process_generation()) munmap(page, page_bytes());
}

void InstructionCounter::read(ThreadUsage& usage) noexcept {
  if (page_ == nullptr) return;
  // A handler that forks right here would leave the child without the page.
  const NoSignals until_it_is_read;
  if (!in_recorded_process() || generation_ != process_generation()) return;
  const Reading now = read_page(*static_cast<const perf_event_mmap_page*>(page_));
  if (!now.is_counting || now.lost_ns != lost_ns_) ++interruptions_;
  lost_ns_ = now.lost_ns;
  usage.has_instructions = true;
  usage.instructions = now.count;
  usage.interruptions = interruptions_;
}

#else

InstructionsRefusal InstructionCounter::open() noexcept {
  const std::uint32_t generation = process_generation();
  if (!is_wanted.load(std::memory_order_relaxed)) return kCounts;
  if (refused_generation.exchange(generation, std::memory_order_relaxed) == generation) return kCounts;
  return {NoInstructions::kUnsupported, 0, InstructionsRefusal::kUnknownLevel};
}

void InstructionCounter::close() noexcept {
  page_ = nullptr;
  generation_ = interruptions_ = 0;
  lost_ns_ = 0;
}

void InstructionCounter::read(ThreadUsage&) noexcept {}

#endif

}  // namespace region_recorder
