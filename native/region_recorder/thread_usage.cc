#include "thread_usage.hpp"

#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <cstring>

namespace region_recorder {
namespace {

std::atomic<bool> wants_processor_time{true};
std::atomic<bool> wants_counts{false};

}  // namespace

void choose_usage(const char* wanted) noexcept {
  const char* const choice = wanted == nullptr ? "" : wanted;
  wants_processor_time.store(std::strcmp(choice, "off") != 0, std::memory_order_relaxed);
  wants_counts.store(std::strcmp(choice, "counts") == 0, std::memory_order_relaxed);
}

void add_processor_use(ThreadUsage& usage) noexcept {
  if (wants_processor_time.load(std::memory_order_relaxed)) {
    timespec now{};
    usage.has_processor_time = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0;
    usage.processor_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                         static_cast<std::uint64_t>(now.tv_nsec);
  }
#if defined(RUSAGE_THREAD)
  // Not perf events: they count the same, but need a permission and a descriptor for each thread that stays open.
  if (wants_counts.load(std::memory_order_relaxed)) {
    rusage used{};
    usage.has_counts = getrusage(RUSAGE_THREAD, &used) == 0;
    usage.counts[0] = static_cast<std::uint32_t>(used.ru_minflt);
    usage.counts[1] = static_cast<std::uint32_t>(used.ru_majflt);
    usage.counts[2] = static_cast<std::uint32_t>(used.ru_nvcsw);
    usage.counts[3] = static_cast<std::uint32_t>(used.ru_nivcsw);
    usage.blocks[0] = static_cast<std::uint32_t>(used.ru_inblock);
    usage.blocks[1] = static_cast<std::uint32_t>(used.ru_oublock);
  }
#endif
}

}  // namespace region_recorder
