#include "thread.hpp"

#include <limits.h>
#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include <cstring>
#include <new>

#include "caller_state.hpp"
#include "clock.hpp"
#include "memory.hpp"
#include "process.hpp"

namespace region_recorder {
namespace {

// A thread key instead of thread_local: the latter may call malloc at a thread's first event, or
// (as initial-exec) fail to load in programs that have used up the space for it.
pthread_key_t key;
// The C library has room for a thread's first keys; for later ones it calls calloc, which may be the program's own. A
// thread then finds its recorder by the table alone, which takes a system call, and leaves it to the next thread on the
// same stack.
bool key_needs_memory = false;
#if defined(__GLIBC__)
constexpr pthread_key_t kKeysWithoutMemory = 32;
#else
constexpr pthread_key_t kKeysWithoutMemory = PTHREAD_KEYS_MAX;
#endif

// Values of the key that are no recorder. Only their addresses are used. An event of a thread that has one is dropped:
// it comes from a signal handler, or after everything else that the thread ever runs.
char taking_recorder;
char thread_is_over;

bool is_recorder(const void* value) {
  return value != nullptr && value != &taking_recorder && value != &thread_is_over;
}

// Who uses which recorder. Taken and left by one atomic exchange, so that neither a signal handler nor a fork can come at
// a wrong moment. Blocks of places are added and never removed. The key only finds a thread's own place sooner.
struct Place {
  std::atomic<std::uintptr_t> owner;  // own_token() of a thread, or one of those below
  std::atomic<ThreadRecorder*> recorder;
};

struct Places {
  static constexpr std::size_t kCount = 1024;
  Place each[kCount];
  std::atomic<Places*> next;
};

constexpr std::uintptr_t kFree = 0;
constexpr std::uintptr_t kNeverAgain = UINTPTR_MAX;
constexpr std::uint32_t kNoThread = 0;

Places first_places;
std::atomic<std::uint32_t> last_stream{0};

// Unlike the thread's id it is had without a system call.
std::uintptr_t own_token() { return reinterpret_cast<std::uintptr_t>(pthread_self()); }

// The first place that will do, beginning where a thread of this token most likely has its own.
template <typename Visit>
Place* find_place(std::uintptr_t token, Visit visit) {
  const std::size_t first = (token >> 6) * 0x9E3779B97F4A7C15u >> 54;
  static_assert(Places::kCount == std::size_t{1} << (64 - 54));
  for (Places* block = &first_places; block != nullptr;
       block = block->next.load(std::memory_order_acquire)) {
    for (std::size_t i = 0; i < Places::kCount; ++i) {
      Place& place = block->each[(first + i) % Places::kCount];
      if (visit(place)) return &place;
    }
  }
  return nullptr;
}

bool add_places() {
  void* const pages = allocate_pages(sizeof(Places));
  if (pages == nullptr) return false;
  auto* const added = new (pages) Places;
  std::atomic<Places*>* end = &first_places.next;
  for (Places* after = nullptr; !end->compare_exchange_weak(after, added); after = nullptr) {
    if (after != nullptr) end = &after->next;
  }
  return true;
}

// One with a recorder before one without: there are never more recorders than threads at once.
Place* take_place(std::uintptr_t owner) {
  for (;;) {
    Place* with_recorder = nullptr;
    Place* empty = nullptr;
    // A thread has one already where a signal handler runs while the thread's end has cleared the key; one of a thread
    // that ended without its destructors is taken over by the next thread on the same stack.
    Place* const mine = find_place(owner, [&](Place& place) {
      const std::uintptr_t found = place.owner.load(std::memory_order_relaxed);
      if (found != kFree) return found == owner;
      const bool is_empty = place.recorder.load(std::memory_order_relaxed) == nullptr;
      Place*& first = is_empty ? empty : with_recorder;
      if (first == nullptr) first = &place;
      return false;
    });
    if (mine != nullptr) return mine;
    Place* const best = with_recorder != nullptr ? with_recorder : empty;
    std::uintptr_t free = kFree;
    if (best == nullptr && !add_places()) return nullptr;
    // Another thread may have been first.
    if (best != nullptr && best->owner.compare_exchange_strong(free, owner, std::memory_order_acquire)) return best;
  }
}

// Where there is no memory a thread asks for it again and again, but not at every event: that is a system call.
constexpr std::uint32_t kEventsBetweenTries = 1024;
std::atomic<std::uint32_t> events_without_memory{0};

ThreadRecorder* create_recorder(std::atomic<std::uintptr_t>& owner) {
  const std::uint32_t waited = events_without_memory.load(std::memory_order_relaxed);
  if (waited != 0 && waited < kEventsBetweenTries) {
    events_without_memory.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto* const recorder = static_cast<ThreadRecorder*>(allocate_pages(sizeof(ThreadRecorder)));
  events_without_memory.store(recorder == nullptr ? 1 : 0, std::memory_order_relaxed);
  if (recorder == nullptr) return nullptr;
  recorder->owner = &owner;
  recorder->stream.begin(last_stream.fetch_add(1), process_generation());
  return recorder;
}

void begin_thread(ThreadRecorder& recorder, std::uint32_t thread_id) {
  // Pages that were never touched stay so.
  std::memset(recorder.depths, 0, recorder.used_depths * sizeof(*recorder.depths));
  recorder.used_depths = 0;
  recorder.thread_id = thread_id;
  recorder.rounds_of_destructors = 0;
  recorder.runtime_call = 0;
  recorder.open_ranges.clear();
  std::uint32_t record[] = {format::record_head(format::kThread, 0, 3), 0, thread_id};
  recorder.stream.append_at(now_ns(), record);
  const InstructionsRefusal refusal = recorder.instructions.open();
  if (refusal.reason == NoInstructions::kNone) return;
  const std::uint32_t refused[] = {format::record_head(format::kNoInstructions, 0, 4),
                                   static_cast<std::uint32_t>(refusal.reason),
                                   static_cast<std::uint32_t>(refusal.error),
                                   static_cast<std::uint32_t>(refusal.paranoid)};
  recorder.stream.append(refused);
}

// Busy, for the event that wants it. Null when there is no memory, and inside another event of this thread.
ThreadRecorder* take_recorder() {
  Place* const place = take_place(own_token());
  if (place == nullptr) return nullptr;
  ThreadRecorder* recorder = place->recorder.load(std::memory_order_relaxed);
  if (recorder == nullptr) {
    recorder = create_recorder(place->owner);
    place->recorder.store(recorder, std::memory_order_release);
  }
  if (recorder == nullptr) {
    place->owner.store(kFree, std::memory_order_release);
    return nullptr;
  }
  const std::uint32_t thread_id = current_thread_id();
  const bool has_begun = recorder->thread_id == thread_id;
  if (has_begun && recorder->busy.load(std::memory_order_relaxed)) return nullptr;
  // It may be so already: the last thread here was cancelled in the middle of an event.
  recorder->busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_acq_rel);
  if (!has_begun) {
    const Undisturbed until_it_is_told;
    check_counter();
    begin_thread(*recorder, thread_id);
  }
  return recorder;
}

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer's own state of a thread ends in its last round of destructors, before this one's.
constexpr int kRoundsOfDestructors = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#define NOT_SEEN_BY_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
constexpr int kRoundsOfDestructors = PTHREAD_DESTRUCTOR_ITERATIONS;
#define NOT_SEEN_BY_THREAD_SANITIZER
#endif

void end_round(ThreadRecorder& recorder) {
  const KeptErrno kept;
  if (++recorder.rounds_of_destructors < kRoundsOfDestructors) {
    // An event that was cancelled does not go on.
    recorder.busy.store(false, std::memory_order_relaxed);
    pthread_setspecific(key, &recorder);
    return;
  }
  // First the key, so that a signal handler takes no other recorder: that one would never be released.
  pthread_setspecific(key, &thread_is_over);
  recorder.instructions.close();
  recorder.thread_id = kNoThread;
  std::uintptr_t mine = own_token();
  recorder.owner->compare_exchange_strong(mine, kFree, std::memory_order_release);
}

// The key's destructor. Those of other keys may record, and run before or after this one in each round: the thread
// keeps its recorder until the last one.
NOT_SEEN_BY_THREAD_SANITIZER void end_thread(void* value) {
  if (value == &thread_is_over || value == &taking_recorder) return;
  end_round(*static_cast<ThreadRecorder*>(value));
}

// The calling thread's recorder, busy from now on, or null.
ThreadRecorder* begin_event() {
  if (key_needs_memory) return take_recorder();
  void* const value = pthread_getspecific(key);
  if (value == nullptr) {
    const Undisturbed until_it_can_be_left;
    pthread_setspecific(key, &taking_recorder);
    ThreadRecorder* const taken = take_recorder();
    pthread_setspecific(key, taken);
    return taken;
  }
  if (!is_recorder(value)) return nullptr;
  auto* const recorder = static_cast<ThreadRecorder*>(value);
  if (recorder->busy.load(std::memory_order_relaxed)) return nullptr;
  recorder->busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_acq_rel);
  return recorder;
}

}  // namespace

CurrentThread::CurrentThread() noexcept : recorder_(nullptr) {
  if (!in_recorded_process() && !enter_forked_child()) return;
  recorder_ = begin_event();
  if (recorder_ == nullptr) count_dropped();
}

CurrentThread::~CurrentThread() {
  if (recorder_ == nullptr) return;
  std::atomic_signal_fence(std::memory_order_acq_rel);
  recorder_->busy.store(false, std::memory_order_relaxed);
}

bool prepare_threads() noexcept {
  if (pthread_key_create(&key, end_thread) != 0) return false;
  key_needs_memory = key >= kKeysWithoutMemory;
  return true;
}

void forget_threads(std::uint32_t generation) noexcept {
  const std::uintptr_t mine = own_token();
  last_stream.store(0);
  find_place(mine, [mine, generation](Place& place) {
    ThreadRecorder* const recorder = place.recorder.load(std::memory_order_relaxed);
    std::uintptr_t next_owner = kFree;
    if (recorder != nullptr && recorder->busy.load(std::memory_order_relaxed) &&
        place.owner.load(std::memory_order_relaxed) == mine) {
      // A signal handler forked in the middle of an event, which writes nothing when it goes on (Stream::is_abandoned).
      next_owner = kNeverAgain;
    } else if (recorder != nullptr) {
      recorder->stream.abandon();
      recorder->stream.begin(last_stream.fetch_add(1), generation);
      recorder->busy.store(false, std::memory_order_relaxed);
      recorder->thread_id = kNoThread;
    }
    place.owner.store(next_owner, std::memory_order_relaxed);
    return false;
  });
  if (!key_needs_memory) pthread_setspecific(key, nullptr);
}

std::uint64_t event_time() noexcept {
  if (key_needs_memory || pthread_getspecific(key) == nullptr) check_counter();
  return now_ns();
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
