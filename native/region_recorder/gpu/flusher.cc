#include "flusher.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "clock_samples.hpp"
#include "launches.hpp"

namespace region_recorder::gpu {
namespace {

constexpr long kPeriodNs = 500'000'000;
constexpr time_t kPatienceSeconds = 2;

const Cupti* cupti_in_use = nullptr;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
bool running = false;
bool stopping = false;

timespec from_now(time_t seconds, long nanoseconds) {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);  // what a condition waits by
  time.tv_sec += seconds;
  time.tv_nsec += nanoseconds;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  return time;
}

// False when it is time to stop.
bool wait_a_period() {
  pthread_mutex_lock(&mutex);
  const timespec until = from_now(0, kPeriodNs);
  while (!stopping && pthread_cond_timedwait(&changed, &mutex, &until) == 0) {
  }
  const bool go_on = !stopping;
  pthread_mutex_unlock(&mutex);
  return go_on;
}

void* run(void*) {
  bool any = false;
  while (wait_a_period()) {
    if (launched_since_last_asked()) {
      any = true;
      sample_clocks();
    }
    // Also where nothing was launched since: a kernel may run for long.
    if (!any) continue;
    // Only complete buffers come: what the GPU still works on stays for the next time. So does what
    // a failure kept back; the flush at the end tells whether it ever came.
    static_cast<void>(cupti_in_use->call.ActivityFlushAll(cupti::kFlushCompleted));
  }
  pthread_mutex_lock(&mutex);
  running = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

}  // namespace

bool start_flusher(const Cupti& cupti) noexcept {
  cupti_in_use = &cupti;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The program's signals are not for this thread, which inherits the mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  running = true;
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, nullptr) == 0;
  if (!started) running = false;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

void stop_flusher() noexcept {
  pthread_mutex_lock(&mutex);
  stopping = true;
  pthread_cond_broadcast(&changed);
  const timespec until = from_now(kPatienceSeconds, 0);
  while (running && pthread_cond_timedwait(&changed, &mutex, &until) == 0) {
  }
  pthread_mutex_unlock(&mutex);
}

}  // namespace region_recorder::gpu
