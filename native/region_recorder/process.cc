#include "process.hpp"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "caller_state.hpp"
#include "clock.hpp"
#include "generation.hpp"
#include "gpu/counters.hpp"
#include "gpu/gpu_recording.hpp"
#include "instructions.hpp"
#include "lock.hpp"
#include "recording_file.hpp"
#include "thread.hpp"
#include "thread_usage.hpp"

namespace region_recorder {
namespace {

enum class State { kFresh, kRecording, kRefused };

Mutex mutex;
std::atomic<State> state{State::kFresh};
RecordingFile file;
char directory[PATH_MAX];  // absolute: the program may change its own
std::atomic<std::uint64_t> last_range_id{0};

std::atomic<pthread_t> entering_thread{};

// Writes to standard error at the beginning of a process's recording. Of a broken pipe, or a file that may not grow, the
// system tells by a signal that would end the program; signals wait here (InitializeInjectionNvtx2), and what was not
// there before is taken away.
void complain(const char* path, int error) {
  char line[PATH_MAX + 128];
  const int length = snprintf(line, sizeof(line), "region_recorder: cannot record into %s: %s\n",
                              path, strerror(error));
  if (length <= 0) return;
  sigset_t before;
  sigset_t after;
  sigpending(&before);
  const ssize_t ignored = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  (void)ignored;
  sigpending(&after);
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&before, number) == 1 || sigismember(&after, number) != 1) continue;
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, number);
    int taken = 0;
    sigwait(&own, &taken);
  }
}

// Runs when the process calls exit() or returns from main, after its own exit handlers.
__attribute__((destructor)) void finish_recording() {
  if (!in_recorded_process()) return;
  const KeptErrno kept;
  const Lock lock(mutex, Lock::WaitLimit::kAtExit);
  file.finish(static_cast<bool>(lock));
}

State start() {
  const char* const wanted = getenv(kDirectoryVariable);
  if (wanted == nullptr || *wanted == '\0') return State::kRefused;
  choose_usage(getenv(kUsageVariable));
  choose_instructions(getenv(kInstructionsVariable));
  file.choose_writing(getenv(kWritingVariable));
  choose_clock(getenv(kClockVariable));
  check_counter();
  const int made = mkdir(wanted, 0777) == 0 ? 0 : errno;  // what matters is whether files can be created in it
  if (realpath(wanted, directory) == nullptr) {
    // Where it is not there, the reason is why it could not be made.
    complain(wanted, errno == ENOENT && made != 0 ? made : errno);
    return State::kRefused;
  }
  gpu::prepare_counters();
  if (!generations::prepare()) {
    complain(directory, errno);
    return State::kRefused;
  }
  if (!prepare_threads()) {
    complain(directory, EAGAIN);
    return State::kRefused;
  }
  if (!file.open(directory)) {
    // In a child that was forked out of this very call it is the parent's to say.
    if (in_recorded_process()) complain(directory, errno);
    return State::kRefused;
  }
  return State::kRecording;
}

// Where the system refuses a lock.
void refuse_without_lock() {
  const char* const wanted = getenv(kDirectoryVariable);
  State fresh = State::kFresh;
  if (!state.compare_exchange_strong(fresh, State::kRefused)) return;
  if (wanted != nullptr && *wanted != '\0') complain(wanted, EAGAIN);
}

// A forked child gets its file with its first event: one that only execs leaves none behind.
bool open_file_of_child() {
  if (file.open(directory)) return true;
  if (in_recorded_process()) file.tell_parent(errno);
  state.store(State::kRefused);
  return false;
}

}  // namespace

bool begin_recording() noexcept {
  // A copy of NVTX that is first used in a forked child: the parent's lock may be held by a thread that is not here.
  if (!in_recorded_process() && !enter_forked_child()) return false;
  const Lock lock(mutex);
  if (lock && state.load() == State::kFresh) state.store(start());
  if (!lock && !mutex.is_mine()) refuse_without_lock();
  return state.load() == State::kRecording;
}

bool enter_forked_child() noexcept {
  const Undisturbed until_all_is_forgotten;
  if (!generations::begin_entering()) {
    while (process_generation() == generations::kEntering) {
      if (pthread_equal(entering_thread.load(), pthread_self()) != 0) return false;
      sched_yield();
    }
    return in_recorded_process();
  }
  entering_thread.store(pthread_self());
  mutex.forget_owner();
  file.forget();
  const std::uint32_t generation = generations::next();
  forget_threads(generation);
  gpu::forget();
  state.store(State::kRecording);  // its parent may have been refused a file
  generations::leave_entering(generation);
  return true;
}

bool may_claim() noexcept {
  return state.load(std::memory_order_relaxed) == State::kRecording && !file.is_stopped();
}

format::ChunkHeader* claim_chunk(std::size_t record_bytes, std::uint32_t stream,
                                 std::uint32_t sequence, std::uint64_t base_ns) noexcept {
  const Lock lock(mutex);
  // A handler may have forked meanwhile: in the child the file is still the parent's.
  if (!lock || !in_recorded_process()) return nullptr;
  if (!file.is_open() && !open_file_of_child()) return nullptr;
  return file.claim(record_bytes, stream, sequence, base_ns);
}

bool copies_chunks() noexcept { return file.publishing() != Publishing::kNothing; }

void leave_chunk(const ChunkMapping& chunk) noexcept {
  if (!copies_chunks()) return chunk.unmap();
  const Lock lock(mutex);
  if (lock) file.leave(chunk.chunk());  // else it stays until the end
}

void publish_copied(format::ChunkHeader* chunk, BufferedRecords& buffered) noexcept {
  // Between the record's length and the question whether the process has ended: see RecordingFile::finish.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Publishing publishing = file.publishing();
  if (publishing == Publishing::kNowAndThen) {
    if (!buffered.is_due(now_ns())) return;
  } else if (publishing != Publishing::kWriteThrough) {
    return;
  }
  const Lock lock(mutex);
  if (!lock || file.write(chunk) || publishing != Publishing::kWriteThrough) return;
  file.count_dropped();
}

void count_dropped() noexcept {
  // In a child that a handler forked, of an event that its parent goes on with.
  if (!in_recorded_process()) return;
  file.count_dropped();
  if (file.publishing() != Publishing::kWriteThrough) return;
  const Lock lock(mutex);
  if (lock) file.write_counters();
}

void count_unwritten_work(std::uint64_t records) noexcept { file.count_unwritten_work(records); }

std::uint64_t next_range_id() noexcept {
  return last_range_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace region_recorder
