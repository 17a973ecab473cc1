#include "flusher.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstdint>

#include "../steady_wait.hpp"

namespace region_recorder::gpu {
namespace {

constexpr std::uint64_t kLongestWaitNs = 2'000'000'000;

void (*flush_in_use)() noexcept = nullptr;
std::uint64_t period_in_use = 0;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
bool running = false;
bool stopping = false;

// False when it is time to stop.
bool wait_a_period() {
  pthread_mutex_lock(&mutex);
  const SteadyDeadline deadline(period_in_use);
  while (!stopping && deadline.wait(changed, mutex)) {
  }
  const bool go_on = !stopping;
  pthread_mutex_unlock(&mutex);
  return go_on;
}

void* run(void*) {
  while (wait_a_period()) flush_in_use();
  pthread_mutex_lock(&mutex);
  running = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

}  // namespace

bool start_flusher(void (*flush)() noexcept, std::uint64_t period_ns) noexcept {
  flush_in_use = flush;
  period_in_use = period_ns;
  prepare_steady_waits(changed);
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
  const SteadyDeadline deadline(kLongestWaitNs);
  while (running && deadline.wait(changed, mutex)) {
  }
  pthread_mutex_unlock(&mutex);
}

}  // namespace region_recorder::gpu
