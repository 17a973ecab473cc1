// The recorder's one lock. It guards what happens rarely: opening and growing the file, taking and
// leaving a thread's recorder, making handles. Recording an event takes no lock.
#pragma once

#include <pthread.h>
#include <unistd.h>

namespace region_recorder {

inline pthread_mutex_t global_mutex = PTHREAD_MUTEX_INITIALIZER;

// No NVTX call is a cancellation point, nor is anything else of ours: pthread_cancel must not end a thread in
// an open() of ours, with the lock in its hands, or in the middle of exit(). What was asked for meanwhile comes
// at the program's own next one.
class [[nodiscard]] NoCancellation {
 public:
  NoCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

class [[nodiscard]] Lock {
 public:
  Lock() noexcept { pthread_mutex_lock(&global_mutex); }
  ~Lock() { pthread_mutex_unlock(&global_mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  NoCancellation all_the_while_;
};

// For where waiting forever is no choice: at exit and at fork, which a signal handler may call that
// interrupted the very thread that holds the lock. False after a tenth of a second.
inline bool lock_patiently(pthread_mutex_t& mutex = global_mutex) noexcept {
  const NoCancellation all_the_while;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (pthread_mutex_trylock(&mutex) == 0) return true;
    usleep(100);
  }
  return false;
}

}  // namespace region_recorder
