#include "process.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu/gpu_recording.hpp"
#include "lock.hpp"
#include "thread.hpp"

namespace region_recorder {
namespace {

enum class State { kFresh, kRecording, kRefused };

State state = State::kFresh;
RecordingFile file;
char directory[PATH_MAX];  // absolute: the program may change its own
std::atomic<std::uint64_t> last_range_id{0};
// Id of the thread that took the lock for its fork; 0: none. Two threads can be in fork() at once, and
// the one that did not get the lock must not be taken for the one that did.
std::atomic<std::uint32_t> forking_thread{0};

// A bit for each error that was told. Once there is a recording, in memory that all forks share: a program that
// forks a thousand times does not say a thousand times that the disk is full.
using ToldErrors = std::atomic<std::uint64_t>[4];
ToldErrors told_here{};
ToldErrors* told = &told_here;

void share_told_errors() {
  void* const page =
      mmap(nullptr, sizeof(ToldErrors), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) told = static_cast<ToldErrors*>(page);  // zeros
}

bool is_told(int error) {
  const auto bit = static_cast<unsigned>(error) % 256;
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  return ((*told)[bit / 64].fetch_or(mask, std::memory_order_relaxed) & mask) != 0;
}

void complain(const char* path, int error) {
  if (is_told(error)) return;
  char line[PATH_MAX + 128];
  const int length = snprintf(line, sizeof(line), "region_recorder: cannot record into %s: %s\n",
                              path, strerror(error));
  if (length <= 0) return;
  const ssize_t ignored = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  (void)ignored;
}

bool open_file() {
  if (file.open(directory)) return true;
  complain(directory, errno);
  state = State::kRefused;
  return false;
}

void before_fork() {
  if (lock_patiently()) forking_thread.store(current_thread_id(), std::memory_order_relaxed);
}

void after_fork_in_parent() {
  if (forking_thread.load(std::memory_order_relaxed) != current_thread_id()) return;
  forking_thread.store(0, std::memory_order_relaxed);
  pthread_mutex_unlock(&global_mutex);
}

void after_fork_in_child() {
  file.forget();
  forget_threads();
  gpu::forget();
  forking_thread.store(0, std::memory_order_relaxed);
  pthread_mutex_init(&global_mutex, nullptr);
}

// Runs when the process calls exit() or returns from main, after its own exit handlers.
__attribute__((destructor)) void finish_recording() {
  const NoCancellation all_the_while;
  const bool locked = lock_patiently();
  file.finish(locked);
  if (locked) pthread_mutex_unlock(&global_mutex);
}

State start() {
  const char* const wanted = getenv(kDirectoryVariable);
  if (wanted == nullptr || *wanted == '\0') return State::kRefused;
  mkdir(wanted, 0777);  // what matters is whether files can be created in it
  if (realpath(wanted, directory) == nullptr) {
    complain(wanted, errno);
    return State::kRefused;
  }
  share_told_errors();
  if (!open_file()) return State::kRefused;
  if (!prepare_threads() ||
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
    complain(directory, EAGAIN);
    return State::kRefused;
  }
  return State::kRecording;
}

}  // namespace

bool begin_recording() noexcept {
  const Lock lock;
  if (state == State::kFresh) state = start();
  return state == State::kRecording;
}

format::ChunkHeader* claim_chunk(std::size_t record_bytes, std::uint32_t stream,
                                 std::uint32_t sequence, std::uint64_t base_ns) noexcept {
  const Lock lock;
  if (state != State::kRecording || (!file.is_open() && !open_file())) return nullptr;
  return file.claim(record_bytes, stream, sequence, base_ns);
}

void count_dropped() noexcept { file.count_dropped(); }

void count_unwritten_work(std::uint64_t records) noexcept { file.count_unwritten_work(records); }

std::uint64_t next_range_id() noexcept {
  return last_range_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace region_recorder
