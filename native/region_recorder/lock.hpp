// Locks of the recorder: one for opening and growing the file, one for CUPTI's buffers. Recording an event, taking a
// thread's recorder and making handles take none, and none is held across a fork.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "caller_state.hpp"

namespace region_recorder {

// Its methods want a caller that is undisturbed: see Lock.
class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // False where the calling thread has it already (a handler of SIGSYS or SIGSEGV inside the recorder), which would wait
  // for itself, and where the system refuses.
  bool lock() noexcept {
    if (is_mine() || pthread_mutex_lock(&mutex_) != 0) return false;
    owner_.store(pthread_self(), std::memory_order_relaxed);
    return true;
  }

  // For the program's end, which must come whatever another thread does. False after a tenth of a second.
  bool lock_for_exit() noexcept {
    if (is_mine()) return false;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      if (pthread_mutex_trylock(&mutex_) == 0) {
        owner_.store(pthread_self(), std::memory_order_relaxed);
        return true;
      }
      usleep(100);
    }
    return false;
  }

  void unlock() noexcept {
    pthread_mutex_unlock(&mutex_);
    // Last, so that a handler that comes in between does not wait for this thread; unless another one has it by now.
    pthread_t mine = pthread_self();
    owner_.compare_exchange_strong(mine, nobody(), std::memory_order_relaxed);
  }

  // In a forked child: whoever held it is not here.
  void forget_owner() noexcept {
    owner_.store(nobody(), std::memory_order_relaxed);
    pthread_mutex_init(&mutex_, nullptr);
  }

  bool is_mine() const noexcept {
    return pthread_equal(owner_.load(std::memory_order_relaxed), pthread_self()) != 0;
  }

  // For a condition to wait with.
  pthread_mutex_t& native() noexcept { return mutex_; }

 private:
  static pthread_t nobody() noexcept { return pthread_t{}; }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<pthread_t> owner_{};
};

class [[nodiscard]] Lock {
 public:
  enum class WaitLimit { kUnlimited, kAtExit };

  explicit Lock(Mutex& mutex, WaitLimit limit = WaitLimit::kUnlimited) noexcept
      : mutex_(mutex),
        locked_(limit == WaitLimit::kAtExit ? mutex.lock_for_exit() : mutex.lock()) {}
  ~Lock() {
    if (locked_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  explicit operator bool() const noexcept { return locked_; }

 private:
  Undisturbed meanwhile_;
  Mutex& mutex_;
  bool locked_;
};

}  // namespace region_recorder
