#include "thread.hpp"

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <cstring>

#include "clock.hpp"
#include "lock.hpp"
#include "memory.hpp"
#include "process.hpp"

namespace region_recorder {
namespace {

// A thread key instead of thread_local: the latter may call malloc at a thread's first event, or
// (as initial-exec) fail to load in programs that have used up the space for it.
pthread_key_t key;

ThreadRecorder* all_recorders = nullptr;
std::uint32_t last_stream = 0;

// The key's value while a thread takes its recorder. Only its address is used.
char taking_recorder;

ThreadRecorder* find_free() {
  for (ThreadRecorder* recorder = all_recorders; recorder != nullptr; recorder = recorder->next) {
    if (!recorder->in_use) return recorder;
  }
  return nullptr;
}

ThreadRecorder* create_recorder() {
  auto* const recorder = static_cast<ThreadRecorder*>(allocate_pages(sizeof(ThreadRecorder)));
  if (recorder == nullptr) return nullptr;
  recorder->next = all_recorders;
  recorder->stream.begin(last_stream++);
  all_recorders = recorder;
  return recorder;
}

ThreadRecorder* take_recorder() {
  ThreadRecorder* recorder;
  {
    const Lock lock;
    recorder = find_free();
    if (recorder == nullptr) recorder = create_recorder();
    if (recorder == nullptr) return nullptr;
    recorder->in_use = true;
  }
  std::memset(recorder->depths, 0, sizeof(recorder->depths));
  recorder->runtime_call = 0;
  std::uint32_t record[] = {format::record_head(format::kThread, 0, 3), 0, current_thread_id()};
  recorder->stream.append_at(now_ns(), record);
  return recorder;
}

void leave_recorder(void* value) {
  if (value == &taking_recorder) return;
  const Lock lock;
  static_cast<ThreadRecorder*>(value)->in_use = false;
}

}  // namespace

CurrentThread::CurrentThread() noexcept : recorder_(nullptr) {
  void* const value = pthread_getspecific(key);
  ThreadRecorder* recorder;
  if (value == nullptr) {
    pthread_setspecific(key, &taking_recorder);
    recorder = take_recorder();
    pthread_setspecific(key, recorder);
    if (recorder == nullptr) {
      count_dropped();
      return;
    }
  } else {
    recorder = static_cast<ThreadRecorder*>(value);
    if (value == &taking_recorder || recorder->busy.load(std::memory_order_relaxed)) {
      count_dropped();
      return;
    }
  }
  recorder->busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_acq_rel);
  recorder_ = recorder;
}

CurrentThread::~CurrentThread() {
  if (recorder_ == nullptr) return;
  std::atomic_signal_fence(std::memory_order_acq_rel);
  recorder_->busy.store(false, std::memory_order_relaxed);
}

bool prepare_threads() noexcept { return pthread_key_create(&key, leave_recorder) == 0; }

void forget_threads() noexcept {
  void* const mine = pthread_getspecific(key);
  last_stream = 0;
  for (ThreadRecorder* recorder = all_recorders; recorder != nullptr; recorder = recorder->next) {
    // A signal handler forked in the middle of an event: that event still ends where it began, with
    // the same words that the parent writes there, and this recorder is never used again.
    if (recorder == mine && recorder->busy.load(std::memory_order_relaxed)) continue;
    recorder->stream.abandon();
    recorder->stream.begin(last_stream++);
    recorder->busy.store(false, std::memory_order_relaxed);
    recorder->in_use = false;
  }
  pthread_setspecific(key, nullptr);
}

std::uint32_t current_thread_id() noexcept {
#if defined(__linux__)
  return static_cast<std::uint32_t>(syscall(SYS_gettid));
#else
  std::uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return static_cast<std::uint32_t>(id);
#endif
}

}  // namespace region_recorder
