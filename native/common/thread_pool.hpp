// A fixed set of threads that share out the items of one loop at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hydraconf {

class ThreadPool {
 public:
  /// `threads` counts the caller, which works too: 1 starts no thread at all.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  /// Calls `body(begin, end)` until [0, count) is covered, each index exactly once, and returns
  /// when all calls have. Which thread takes which part is left open: results must not depend on
  /// it. The first exception of a body is rethrown here.
  void for_each(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  void work();
  void take_parts();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::uint64_t generation_ = 0;
  /// Whether workers that wake up may still join the loop of this generation.
  bool open_ = false;
  /// Workers that have joined it and not left yet.
  std::size_t running_ = 0;
  bool stopping_ = false;

  const std::function<void(std::size_t, std::size_t)>* body_ = nullptr;
  std::size_t count_ = 0;
  std::size_t grain_ = 1;
  std::atomic<std::size_t> next_{0};
  std::exception_ptr failure_;
};

/// Processors this process may run on (the affinity mask where the system has one), at least 1.
std::size_t available_processors();

}  // namespace hydraconf
