#include "common/thread_pool.hpp"

#include <algorithm>

#if defined(__linux__)
#include <sched.h>
#endif

namespace hydraconf {

ThreadPool::ThreadPool(std::size_t threads) {
  workers_.reserve(threads);
  try {
    for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // The system refused another thread: the ones that did start are enough for the same result.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::for_each(std::size_t count,
                          const std::function<void(std::size_t, std::size_t)>& body) {
  if (workers_.empty() || count < 2) {
    if (count > 0) body(0, count);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    body_ = &body;
    count_ = count;
    // A few parts per thread even out a slow core without an atomic operation per index.
    grain_ = std::max<std::size_t>(1, count / (4 * size()));
    next_.store(0, std::memory_order_relaxed);
    failure_ = nullptr;
    open_ = true;
    ++generation_;
  }
  start_.notify_all();
  take_parts();
  // Every part is taken by now. A worker that has not woken up yet has nothing to do: to wait for it
  // takes tens of microseconds, which is many times what a small loop takes itself.
  std::unique_lock<std::mutex> lock(mutex_);
  open_ = false;
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stopping_ || (open_ && generation_ != seen); });
    if (stopping_) return;
    seen = generation_;
    ++running_;
    lock.unlock();
    take_parts();
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

void ThreadPool::take_parts() {
  try {
    for (;;) {
      const std::size_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= count_) return;
      (*body_)(begin, std::min(begin + grain_, count_));
    }
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

std::size_t available_processors() {
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    const int count = CPU_COUNT(&allowed);
    if (count > 0) return static_cast<std::size_t>(count);
  }
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace hydraconf
