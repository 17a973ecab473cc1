// Which process this is, counted through its forks.
#pragma once

#include <atomic>
#include <cstdint>

namespace region_recorder {

// The word lies in a page that the kernel clears in every forked child: also in one made by _Fork(), fork() in a signal
// handler or a clone system call, where no handler of pthread_atfork runs. Streams of the parent are known by it, at the
// cost of a load.
namespace generations {
constexpr std::uint32_t kNewChild = 0;
constexpr std::uint32_t kEntering = 1;
constexpr std::uint32_t kFirst = 2;
extern std::atomic<std::atomic<std::uint32_t>*> current;

// From here on forks are counted. False with errno set.
bool prepare() noexcept;

// In a forked child: true for the one caller that is to make it a recorded process, and to call leave_entering().
bool begin_entering() noexcept;

// The number that the child gets.
std::uint32_t next() noexcept;

void leave_entering(std::uint32_t generation) noexcept;
}  // namespace generations

inline std::uint32_t process_generation() noexcept {
  return generations::current.load(std::memory_order_acquire)->load(std::memory_order_acquire);
}

inline bool in_recorded_process() noexcept {
  return process_generation() >= generations::kFirst;
}

}  // namespace region_recorder
